/**
 * Measures the service for a well-behaved tenant while another tenant misbehaves (the "noisy neighbour" problem):
 *
 *     npm run neighbours -- [--seconds 20] [--only json-bombs]
 *
 * The real program serves the well-behaved tenant first undisturbed and then with each misbehaviour in turn, with the
 * rate limit off. The script prints the measurements and exits with 1 if one of these is not true:
 * - the 95th percentile of `POST /emails/send` is at most five times the undisturbed one
 * - mail is delivered within 3 s; an upload and an import of one row take at most 15 s
 * - the API process uses less than 600 MiB
 * - the well-behaved tenant gets no refusal, and each refusal of the misbehaving one has the envelope of the API
 */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { conclude, apiKey as goodKey, say, startFaultRun } from "#test/faults/fault-run.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { eventually } from "#test/support/eventually.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { mailDomain, platform } from "#test/support/scene.ts";
import { type Answers, type MisbehaviourName, misbehaviours, startMisbehaviour } from "./misbehaviours.ts";
import { type Seen, startWellBehavedTenant } from "./well-behaved-tenant.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "20" }, only: { type: "string" } },
});
const SECONDS = Number(values.seconds);
const names = (Object.keys(misbehaviours) as MisbehaviourName[]).filter(
  (name) => values.only === undefined || values.only === name,
);
/** Pause between two phases, so that the work of one does not slow the next. */
const REST_MS = 5_000;
const MOST = { timesUndisturbed: 5, mailMs: 3_000, uploadMs: 15_000, jobMs: 15_000, rssMiB: 600 };
/** Address of the well-behaved tenant's receiver; mail of the misbehaving tenant goes to another one. */
const GOOD_RECEIVER = "127.0.0.9";

const run = await startFaultRun({ workers: 1, env: { INBOUND_PORT: "0" } });
Object.assign(run.dns.zone, mailDomain("good.test", GOOD_RECEIVER), mailDomain("bad.test"));
const { program } = run;
const inboundPort = await eventually(
  "the inbound port",
  async () => program.logged("listening for returned mail").at(-1)?.port,
);
const good = await startWellBehavedTenant({
  url: program.url,
  key: goodKey,
  receiver: { host: GOOD_RECEIVER, port: run.mx.port },
  domain: "good.test",
});

/** Resident memory of the API process, in MiB. */
async function rssMiB(): Promise<number> {
  const status = await readFile(`/proc/${program.pid}/status`, "utf8");
  return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1]) / 1024;
}

const share = (values: readonly number[], part: number) =>
  values.toSorted((one, other) => one - other)[Math.ceil(part * values.length) - 1] ?? 0;
const most = (values: readonly number[]) => Math.max(0, ...values);

interface Phase {
  readonly seen: Seen;
  readonly rss: number;
  readonly answers: Answers;
}

/** Creates a misbehaving tenant on the plan `free` with a verified sending domain; returns its key. */
async function newTenant(name: MisbehaviourName): Promise<string> {
  const printed = await program.command("workspace", "create", "--name", name, "--plan", "free", "--json");
  const { key } = JSON.parse(printed);
  await addVerifiedDomain(
    apiCaller(() => program.url, key),
    run.dns,
    senderDomain(name),
  );
  return key;
}

const senderDomain = (name: string) => `${name}.test`;

async function phase(name?: MisbehaviourName): Promise<Phase> {
  const target = name && {
    port: Number(new URL(program.url).port),
    inboundPort,
    key: await newTenant(name),
    sender: `sender@${senderDomain(name)}`,
    domain: "bad.test",
    bounceDomain: platform.BOUNCE_DOMAIN,
  };
  good.begin();
  const bad = name && target && (await startMisbehaviour(name, target));
  let rss = 0;
  for (const until = performance.now() + SECONDS * 1_000; performance.now() < until; await delay(200)) {
    rss = Math.max(rss, await rssMiB());
  }
  const seen = await good.end();
  const answers = (await bad?.end()) ?? {};
  await delay(REST_MS);
  return { seen, rss, answers };
}

function tell(name: string, { seen, rss, answers }: Phase): void {
  const ms = (value: number) => `${Math.round(value)} ms`;
  const figures = [
    `send p50 ${ms(share(seen.sends, 0.5))}, p95 ${ms(share(seen.sends, 0.95))}, max ${ms(most(seen.sends))}`,
    `mail max ${ms(most(seen.mails))}`,
    `upload max ${ms(most(seen.uploads))}`,
    `import max ${ms(most(seen.jobs))}`,
    `API ${Math.round(rss)} MiB`,
  ];
  say(`${name}: ${figures.join("; ")} (${seen.sends.length} sends, ${seen.jobs.length} imports)`);
  for (const [answer, count] of Object.entries(answers)) say(`    ${String(count).padStart(5)} × ${answer}`);
}

function broken(name: string, { seen, rss, answers }: Phase, undisturbedP95: number): string[] {
  const p95 = share(seen.sends, 0.95);
  const checks: readonly [isBroken: boolean, sentence: string][] = [
    [
      p95 > MOST.timesUndisturbed * undisturbedP95,
      `p95 ${Math.round(p95)} ms is more than ${MOST.timesUndisturbed} × ${Math.round(undisturbedP95)} ms`,
    ],
    [most(seen.mails) > MOST.mailMs, `a mail took ${Math.round(most(seen.mails))} ms`],
    [most(seen.uploads) > MOST.uploadMs, `an upload took ${Math.round(most(seen.uploads))} ms`],
    [most(seen.jobs) > MOST.jobMs, `an import of one row took ${Math.round(most(seen.jobs))} ms`],
    [rss > MOST.rssMiB, `the API process has ${Math.round(rss)} MiB`],
    ...seen.faults.slice(0, 5).map((fault): [boolean, string] => [true, fault]),
    ...Object.keys(answers)
      .filter(
        (answer) =>
          answer.includes("NOT AN ENVELOPE") || answer.startsWith("script failed") || /^5(?!03)/.test(answer),
      )
      .map((answer): [boolean, string] => [true, answer]),
  ];
  return checks.filter(([isBroken]) => isBroken).map(([, sentence]) => `${name}: ${sentence}`);
}

await phase();
const undisturbed = await phase();
tell("undisturbed", undisturbed);
const p95 = share(undisturbed.seen.sends, 0.95);
const faults = broken("undisturbed", undisturbed, p95);
for (const name of names) {
  say(misbehaviours[name].about);
  const found = await phase(name);
  tell(name, found);
  faults.push(...broken(name, found, p95));
}
good.stop();
await program.kill("SIGTERM");
await conclude(run, faults, 0);
