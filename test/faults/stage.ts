/**
 * Where the fault scripts play: the real program in direct mode with a PostgreSQL of its own, a DNS, and a receiver
 * that nobody kills and that counts every copy. What a script found is told at the end, and is its exit code.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { createLog } from "#platform/log/log.ts";
import { type CountingMx, startCountingMx } from "#test/support/counting-mx.ts";
import { eventually } from "#test/support/eventually.ts";
import { type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { mailDomain, platform } from "#test/support/scene.ts";
import { survivors } from "./kills.ts";

const METRICS_TOKEN = "the-metrics-token-of-a-stage";

const DOMAINS = 10;
/** The receiver takes its time, so that there is always something in flight. */
const ANSWER_MS = 20;
/** A client may have to wait a minute for a key whose first request died, a message as long for a lost lease. */
const REST_MS = 240_000;

export const apiKey = `efk_${"kill".repeat(10)}`;

export interface Stage {
  /** Everything that is written; it goes when all is well. */
  readonly folder: string;
  readonly dataDir: string;
  readonly dns: FakeDns;
  readonly mx: CountingMx;
  readonly program: Program;
  /** The process groups of all starts. */
  readonly groups: Set<number>;
}

const startedAt = performance.now();

export function say(text: string): void {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${String(seconds).padStart(4)} s  ${text}\n`);
}

/** Recipients are spread over so many domains, each with a lane of its own. */
export const recipientDomain = (number: number) => `receiver-${number % DOMAINS}.test`;

/** @param pace messages a second that all lanes of all workers carry together; by default what they will */
export async function openStage({
  workers,
  pace,
  env = {},
}: {
  workers: number;
  pace?: number;
  env?: Readonly<Record<string, string>>;
}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-faults-"));
  const lanes = join(folder, "lanes.json");
  const limits = pace === undefined ? {} : { messages_per_second: pace / DOMAINS / workers };
  await writeFile(lanes, JSON.stringify({ lanes: [{ name: "default", ...limits }] }));
  const domains = Array.from({ length: DOMAINS }, (_, at) => mailDomain(recipientDomain(at)));
  const dns = await startFakeDns(Object.assign({}, ...domains));
  const mx = await startCountingMx({ answerMs: ANSWER_MS });
  const dataDir = join(folder, "data");
  const program = await startProgram({
    ...platform,
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: apiKey,
    BOOTSTRAP_PLAN: "enterprise",
    MAIL_MODE: "direct",
    SMTP_PORT: String(mx.port),
    ALLOW_PRIVATE_MX: "true",
    DNS_SERVERS: dns.address,
    DELIVERY_WORKERS: String(workers),
    LANES_FILE: lanes,
    PUBLIC_URL: "https://post.posthaste.test",
    METRICS_TOKEN,
    ...env,
  });
  return { folder, dataDir, dns, mx, program, groups: new Set([program.pid]) };
}

/** Waits until nothing is due any more; gives the sentence about it when that does not come to pass. */
export async function waitForRest({ program }: Stage): Promise<string[]> {
  const isQueueEmpty = async () => {
    const metrics = await (
      await fetch(`${program.url}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } })
    ).text();
    const counts = [...metrics.matchAll(/^posthaste_delivery_queue\{[^}]*\} (\d+)$/gm)];
    return counts.length > 0 && counts.every(([, count]) => count === "0");
  };
  return eventually("the queue to be empty", isQueueEmpty, REST_MS).then(
    () => [],
    (fault: Error) => [fault.message],
  );
}

/** The database of a program that has stopped. */
export async function inDatabase<Found>(
  { dataDir }: Stage,
  look: (db: Database) => Promise<Found>,
): Promise<Found> {
  const embedded = await startEmbedded({ dataDir, log: createLog("silent") });
  const db = createDatabase(embedded.connection.url, { size: 2, name: "judge", onError: () => {} });
  try {
    return await look(db);
  } finally {
    await db.close();
    await embedded.stop();
  }
}

/** Tells the faults and ends the process: with 0 where there are none, and then nothing is left of the stage. */
export async function conclude(stage: Stage, found: readonly string[], seed: number): Promise<never> {
  const left = await survivors(stage.groups);
  const faults = [...found, ...left.map((process) => `it outlived the service: ${process}`)];
  say(faults.length === 0 ? "every promise was kept" : `BROKEN\n${faults.join("\n")}`);
  await stage.mx.stop();
  await stage.dns.close();
  if (faults.length === 0) await rm(stage.folder, { recursive: true, force: true, maxRetries: 5 });
  else {
    for (const line of stage.program.logged("request failed").slice(0, 5)) say(JSON.stringify(line));
    say(`the data is kept in ${stage.folder}; repeat with --seed ${seed}`);
  }
  process.exit(faults.length === 0 ? 0 : 1);
}
