/**
 * Kills Posthaste repeatedly while it imports people, and then checks the counts:
 *
 *     npm run import-kill -- --kills 10 --rows 200000 [--seed N]
 *
 * The real program runs with its own PostgreSQL. Each import file has new people, people of the previous import with
 * another name, unsubscribed people, duplicates and invalid rows. At random moments the whole program gets SIGKILL and
 * is started again. The script exits with 1 if
 * - an import does not complete, or a count of a job or a list is wrong,
 * - a person is missing or stored twice,
 * - an unsubscribed person became active.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual, parseArgs } from "node:util";
import sql from "sql-template-tag";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { createLog } from "#platform/log/log.ts";
import { eventually } from "#test/support/eventually.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { platform } from "#test/support/scene.ts";
import { brokenInvariants } from "./invariants.ts";
import { randomFrom } from "./random.ts";

/** At most four kills for one import, because the fifth attempt of a job is the last. */
const MOST_OF_ONE = 4;
/** The first kill may come while the file is read, later ones only after the import has continued. */
const FIRST_MS = 3_000;
const NEXT_MS = 1_000;
const REST_MS = 240_000;
/** One in so many rows is an unsubscribed person. */
const LEFT = 100;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "10" },
    rows: { type: "string", default: "200000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const settings = { kills: Number(values.kills), rows: Number(values.rows), seed: Number(values.seed) };
const people = {
  left: Math.floor(settings.rows / LEFT),
  known: Math.floor(settings.rows / 10),
  duplicates: Math.floor(settings.rows / 50),
  invalid: Math.floor(settings.rows / 100),
};
const created = settings.rows - people.left - people.known - people.duplicates - people.invalid;

const startedAt = performance.now();
function say(text: string): void {
  process.stdout.write(
    `${String(Math.round((performance.now() - startedAt) / 1000)).padStart(4)} s  ${text}\n`,
  );
}

const leaver = (number: number) => `left${number}@gone.test`;
const newcomer = (round: number, number: number) => `person${round}.${number}@people.test`;

/** A file of unsubscribed people, imported first. */
function leaversFile(): string {
  return `Email,First,Status\n${Array.from({ length: people.left }, (_, at) => `${leaver(at)},Old,unsubscribed\n`).join("")}`;
}

function importFile(round: number): string {
  const name = `Round${round}`;
  const rows = [
    ...Array.from({ length: created }, (_, at) => newcomer(round, at)),
    ...Array.from({ length: people.left }, (_, at) => leaver(at).toUpperCase()),
    ...Array.from({ length: people.known }, (_, at) => newcomer(round - 1, at)),
    ...Array.from({ length: people.invalid }, (_, at) => `invalid${at}`),
    ...Array.from({ length: people.duplicates }, (_, at) => newcomer(round, at * 7).toUpperCase()),
  ];
  return `Email,First,Status\n${rows.map((email) => `${email},${name},active\n`).join("")}`;
}

async function startImport(program: Program, list: string, file: string): Promise<string> {
  const form = new FormData();
  form.append("csvFile", new Blob([file]), "people.csv");
  const { status, body } = await program.call(
    "POST",
    `/mailing-lists/${list}/subscribers/import-async`,
    form,
  );
  if (status !== 202) throw new Error(`the import was refused: ${JSON.stringify(body)}`);
  return body.data.job_id;
}

async function endOf(program: Program, job: string) {
  const ended = async () => {
    const { body } = await program.call("GET", `/jobs/${job}`);
    return ["pending", "processing"].includes(body.data.status) ? false : body.data;
  };
  return eventually("the import to end", ended, REST_MS);
}

/** Waits until the import has continued after a kill. */
async function goesOn(program: Program, job: string, from: number): Promise<void> {
  const further = async () => {
    const { body } = await program.call("GET", `/jobs/${job}`);
    return body.data.processed > from || body.data.status === "completed";
  };
  await eventually("the import to continue", further, REST_MS);
}

/** Compares the tables with the contents of the files. */
async function checkTables(dataDir: string, rounds: number): Promise<string[]> {
  const embedded = await startEmbedded({ dataDir, log: createLog("silent") });
  const db = createDatabase(embedded.connection.url, { size: 2, name: "checkTables", onError: () => {} });
  const found = await db.row<Record<string, number>>(sql`
    select count(*)::int as people, count(distinct email)::int as addresses,
      count(*) filter (where status = 'active')::int as active,
      count(*) filter (where status = 'unsubscribed')::int as unsubscribed,
      count(*) filter (where email like 'left%' and status <> 'unsubscribed')::int as resubscribed,
      (select count(*)::int from memberships) as memberships,
      (select active from list_counters) as counted_active,
      (select unsubscribed from list_counters) as counted_unsubscribed,
      (select active from subscriber_counters) as counted_people
    from subscribers`);
  const invariants = await brokenInvariants(db);
  await db.close();
  await embedded.stop();
  // The first import creates the "known" people too, because there is no import before it.
  const active = rounds * created + people.known;
  const total = active + people.left;
  const expected = {
    people: total,
    addresses: total,
    active,
    unsubscribed: people.left,
    resubscribed: 0,
    memberships: total,
    counted_active: active,
    counted_unsubscribed: people.left,
    counted_people: active,
  };
  say(`tables               ${JSON.stringify(found)}`);
  return [
    ...(isDeepStrictEqual({ ...found }, expected) ? [] : [`expected ${JSON.stringify(expected)}`]),
    ...invariants,
  ];
}

say(`seed ${settings.seed}, ${settings.kills} kills, ${settings.rows} rows an import`);
const random = randomFrom(settings.seed);
const folder = await mkdtemp(join(tmpdir(), "posthaste-import-kill-"));
const dataDir = join(folder, "data");
const program = await startProgram({
  ...platform,
  DATA_DIR: dataDir,
  BOOTSTRAP_API_KEY: `efk_${"kill".repeat(10)}`,
  BOOTSTRAP_PLAN: "enterprise",
});
const list = (await program.call("POST", "/mailing-lists", { name: "Everybody" })).body.data.id;
await endOf(program, await startImport(program, list, leaversFile()));

const faults: string[] = [];
let kills = 0;
let rounds = 0;
while (kills < settings.kills) {
  rounds++;
  const job = await startImport(program, list, importFile(rounds));
  for (let killed = 0, seen = 0; killed < MOST_OF_ONE && kills < settings.kills; killed++) {
    if (killed > 0) await goesOn(program, job, seen);
    await delay(random.between(0, killed > 0 ? NEXT_MS : FIRST_MS));
    const { data } = (await program.call("GET", `/jobs/${job}`)).body;
    if (data.status === "completed") break;
    await program.kill("SIGKILL");
    kills++;
    seen = data.processed;
    say(`${kills} of ${settings.kills}: import ${rounds}, ${seen} of ${data.total ?? "?"} rows`);
    await program.start();
  }
  const { status, error, counts } = await endOf(program, job);
  say(`import ${rounds} ${status}   ${JSON.stringify(counts)}`);
  const isFirst = rounds === 1;
  const expected = {
    created: created + (isFirst ? people.known : 0),
    // Unsubscribed people get the new name and stay unsubscribed.
    updated: people.left + (isFirst ? 0 : people.known),
    unchanged: 0,
    duplicates: people.duplicates,
    invalid: people.invalid,
  };
  const isExact =
    status === "completed" && Object.entries(expected).every(([name, count]) => counts[name] === count);
  if (!isExact) faults.push(`import ${rounds}: ${error ?? ""} expected ${JSON.stringify(expected)}`);
}
await program.kill("SIGTERM");
faults.push(...(await checkTables(dataDir, rounds)));
say(faults.length === 0 ? "every promise was kept" : `BROKEN\n${faults.join("\n")}`);
if (faults.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
else say(`the data is kept in ${folder}; repeat with --seed ${settings.seed}`);
process.exit(faults.length === 0 ? 0 : 1);
