/**
 * Kills Posthaste again and again while it accepts and delivers mail, and then counts:
 *
 *     npm run kill-loop -- --kills 50 --messages 20000 [--seed N] [--workers 2]
 *     npm run kill-loop -- --freeze
 *
 * The real program runs in direct mode with its own PostgreSQL; a client sends without pause; a receiver that nobody
 * kills counts every copy. At random moments a random part of the program gets SIGKILL (kills.ts). At the end everything
 * must have come to rest by itself. It exits with 1 when a message that was accepted never came, when one came twice
 * that was not in flight, when an Idempotency-Key got two ids, or when the database is not as it must be.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startEmbedded } from "../../src/platform/database/embedded.ts";
import { createDatabase } from "../../src/platform/database/pool.ts";
import { createLog } from "../../src/platform/log.ts";
import { type CountingMx, type MailCount, startCountingMx } from "../support/counting-mx.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeDns, startFakeDns } from "../support/fake-dns.ts";
import { type Program, startProgram } from "../support/program.ts";
import { mailDomain, platform } from "../support/scene.ts";
import { brokenInvariants, countStates } from "./invariants.ts";
import { findVictims, killAll, survivors, type Victim, victims } from "./kills.ts";
import { type Random, randomFrom } from "./random.ts";
import { type Sender, startSender } from "./sender.ts";

const DOMAINS = 10;
/** The receiver takes its time, so that there is always something in flight. */
const ANSWER_MS = 20;
const DELAY_MS = { least: 50, most: 1_500 };
/** One start in so many is killed before it is complete. */
const KILLED_IN_START = 4;
/** A client may have to wait a minute for a key whose first request died, a message as long for a lost lease. */
const REST_MS = 240_000;
/** A lease is 60 s; this is beyond it. */
const FROZEN_MS = 75_000;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "50" },
    messages: { type: "string", default: "20000" },
    rate: { type: "string", default: "400" },
    workers: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    freeze: { type: "boolean", default: false },
  },
});
const settings = {
  kills: Number(values.kills),
  messages: Number(values.messages),
  rate: Number(values.rate),
  workers: values.freeze ? 2 : Number(values.workers),
  seed: Number(values.seed),
};

interface Scene {
  readonly dataDir: string;
  readonly dns: FakeDns;
  readonly mx: CountingMx;
  readonly program: Program;
  readonly sender: Sender;
}

const startedAt = performance.now();
const seconds = () => Math.round((performance.now() - startedAt) / 1000);

function say(text: string): void {
  process.stdout.write(`${String(seconds()).padStart(4)} s  ${text}\n`);
}

const recipientDomain = (number: number) => `receiver-${number % DOMAINS}.test`;

async function openScene(folder: string): Promise<Scene> {
  const domains = Array.from({ length: DOMAINS }, (_, at) => mailDomain(recipientDomain(at)));
  const dns = await startFakeDns(Object.assign({}, ...domains));
  const mx = await startCountingMx({ answerMs: ANSWER_MS });
  const dataDir = join(folder, "data");
  const apiKey = `efk_${"kill".repeat(10)}`;
  const program = await startProgram({
    ...platform,
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: apiKey,
    BOOTSTRAP_PLAN: "enterprise",
    MAIL_MODE: "direct",
    SMTP_PORT: String(mx.port),
    ALLOW_PRIVATE_MX: "true",
    DNS_SERVERS: dns.address,
    DELIVERY_WORKERS: String(settings.workers),
  });
  const sender = startSender({
    url: () => program.url,
    apiKey,
    rate: settings.rate,
    emailFor: (number) => ({
      to: `user${number}@${recipientDomain(number)}`,
      subject: `Message ${number}`,
      body: `<p>This is message ${number}.</p>\n`.repeat(1 + (number % 50)),
    }),
  });
  return { dataDir, dns, mx, program, sender };
}

/** Kills until there were enough of them and enough messages; leaves the program running. */
async function killAgainAndAgain(
  scene: Scene,
  random: Random,
  groups: Set<number>,
): Promise<Map<Victim, number>> {
  const { program, sender, dataDir } = scene;
  const kills = new Map<Victim, number>();
  let starting: Promise<void> = Promise.resolve();
  const start = () => {
    // A start that is killed half-way is no fault; any other that fails is seen in the end, for nothing runs then.
    starting = program.start().catch((fault: Error) => say(fault.message));
    groups.add(program.pid);
  };
  for (let done = 0; done < settings.kills || sender.accepted.size < settings.messages; ) {
    if (random.between(1, KILLED_IN_START) > 1) await starting;
    await delay(random.between(DELAY_MS.least, DELAY_MS.most));
    if (done >= settings.kills) continue;
    const victim = random.pick(victims);
    const pids = await findVictims(victim, { pid: program.pid, dataDir }, random);
    if (pids.length === 0) continue;
    killAll(pids);
    done += 1;
    kills.set(victim, (kills.get(victim) ?? 0) + 1);
    say(`${done} of ${settings.kills}: ${victim} (${pids.length}), ${sender.accepted.size} accepted`);
    if (!pids.includes(program.pid)) continue;
    await starting;
    start();
  }
  await starting;
  return kills;
}

/** Freezes one of two delivery processes beyond its leases; gives what it had in flight then. */
async function freezeOne(scene: Scene, random: Random): Promise<Pick<MailCount, "unread" | "underWay">> {
  const { program, mx, sender } = scene;
  await delay(3_000);
  const [pid] = await findVictims("delivery", { pid: program.pid, dataDir: scene.dataDir }, random);
  if (pid === undefined) throw new Error("there is no delivery process");
  process.kill(pid, "SIGSTOP");
  const finished = sender.finish();
  say(`${pid} is frozen for ${FROZEN_MS / 1000} s, after ${sender.accepted.size} messages`);
  await finished;
  // The other one runs out of work, so what is under way then is the frozen one's.
  await delay(10_000);
  const { unread, underWay } = await mx.count();
  await delay(FROZEN_MS - 10_000);
  process.kill(pid, "SIGCONT");
  say(`${pid} is awake again; it had ${underWay} messages begun, and at most ${unread.size} answers unread`);
  return { unread, underWay };
}

async function isQueueEmpty(program: Program): Promise<boolean> {
  const metrics = await (await fetch(`${program.url}/metrics`)).text();
  const counts = [...metrics.matchAll(/^posthaste_delivery_queue\{[^}]*\} (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  return counts.length > 0 && counts.every((count) => count === 0);
}

/** What the database and the receiver say, against what the client was told; one sentence for each fault. */
async function judge(scene: Scene, frozen: Pick<MailCount, "unread" | "underWay"> | null): Promise<string[]> {
  const { sender, mx } = scene;
  const { copies, inDoubt, received } = await mx.count();
  const ids = [...sender.accepted.values()];
  const domain = platform.PLATFORM_FROM.split("@")[1];
  const copiesOf = (id: string) => copies.get(`${id}@${domain}`) ?? 0;
  const lost = ids.filter((id) => copiesOf(id) === 0);
  const doubled = ids.filter((id) => copiesOf(id) > 1);
  const excuses = (id: string) =>
    (inDoubt.get(`${id}@${domain}`) ?? 0) + (frozen?.unread.has(`${id}@${domain}`) ? 1 : 0);
  const inexcusable = ids.filter((id) => copiesOf(id) > 1 + excuses(id));

  const embedded = await startEmbedded({ dataDir: scene.dataDir, log: createLog("silent") });
  const db = createDatabase(embedded.connection.url, { size: 2, name: "judge", onError: () => {} });
  const states = await countStates(db);
  const invariants = await brokenInvariants(db);
  await db.close();
  await embedded.stop();

  const inDoubtTimes = [...inDoubt.values()].reduce((sum, times) => sum + times, 0);
  say(`accepted             ${ids.length} (${sender.unanswered} requests without an answer, sent again)`);
  say(`in the database      ${JSON.stringify(states)}`);
  say(`received             ${received}, ${copies.size} different`);
  say(`lost                 ${lost.length}`);
  say(`doubled              ${doubled.length}, of them not in flight ${inexcusable.length}`);
  say(
    `in flight            ${inDoubtTimes} messages whose connection died between final dot and our next word`,
  );
  const stored = Object.values(states).reduce((sum, amount) => sum + amount, 0);
  return [
    ...lost.slice(0, 3).map((id) => `lost: ${id}`),
    ...(inexcusable.length > (frozen?.underWay ?? 0)
      ? inexcusable.slice(0, 3).map((id) => `doubled though not in flight: ${id}`)
      : []),
    ...sender.contradicted.map((key) => `two ids for the Idempotency-Key ${key}`),
    ...sender.refused.slice(0, 3).map((answer) => `an answer that no client should get: ${answer}`),
    ...(stored === ids.length ? [] : [`${stored} messages in the database for ${ids.length} accepted`]),
    ...invariants,
  ];
}

say(`seed ${settings.seed}, ${settings.workers} delivery processes`);
const random = randomFrom(settings.seed);
const folder = await mkdtemp(join(tmpdir(), "posthaste-kill-"));
const scene = await openScene(folder);
const groups = new Set([scene.program.pid]);
const faults: string[] = [];
let frozen: Awaited<ReturnType<typeof freezeOne>> | null = null;
if (values.freeze) frozen = await freezeOne(scene, random);
else {
  const kills = await killAgainAndAgain(scene, random, groups);
  say(`kills                ${JSON.stringify(Object.fromEntries(kills))}`);
}
await scene.sender.finish();
await eventually("the queue to be empty", () => isQueueEmpty(scene.program), REST_MS).catch((fault: Error) =>
  faults.push(fault.message),
);
await scene.program.kill("SIGTERM");
faults.push(...(await judge(scene, frozen)));
faults.push(...(await survivors(groups)).map((process) => `it outlived the service: ${process}`));
say(faults.length === 0 ? "every promise was kept" : `BROKEN\n${faults.join("\n")}`);
await scene.mx.stop();
await scene.dns.close();
if (faults.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
else for (const line of scene.program.logged("request failed").slice(0, 5)) say(JSON.stringify(line));
if (faults.length > 0) say(`the data is kept in ${folder}; repeat with --seed ${settings.seed}`);
process.exit(faults.length === 0 ? 0 : 1);
