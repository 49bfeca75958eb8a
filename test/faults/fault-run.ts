/**
 * The set-up of a fault script: the real program in direct mode with an embedded PostgreSQL, a fake DNS, and a receiver
 * that is never killed and counts every copy. At the end it prints the faults and sets the exit code.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { createLog } from "#platform/log/log.ts";
import { type CountingMx, startCountingMx } from "#test/support/counting-mx.ts";
import { eventually } from "#test/support/eventually.ts";
import { type DnsZone, type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { mailDomain, platform } from "#test/support/scene.ts";
import { survivors } from "./kill-targets.ts";

const METRICS_TOKEN = "the-metrics-token-of-a-fault-run";

const DOMAINS = 10;
/** The receiver answers slowly, so that messages are always in flight. */
const ANSWER_MS = 20;
/** Longer than a minute, which an Idempotency-Key of a dead request or a lost lease may take. */
const REST_MS = 240_000;

export const apiKey = `efk_${"kill".repeat(10)}`;

export interface FaultRun {
  /** All files of the run; removed if there are no faults. */
  readonly folder: string;
  readonly dataDir: string;
  readonly dns: FakeDns;
  readonly mx: CountingMx;
  readonly program: Program;
  /** Process groups of all starts. */
  readonly groups: Set<number>;
}

const startedAt = performance.now();

export function say(text: string): void {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${String(seconds).padStart(4)} s  ${text}\n`);
}

/** Recipients are spread over ten domains, each with its own lane. */
export const recipientDomain = (number: number) => `receiver-${number % DOMAINS}.test`;

/** The zone of these domains, with a mail host that has the address. */
export function recipientZone(address?: string): DnsZone {
  const domains = Array.from({ length: DOMAINS }, (_, at) => mailDomain(recipientDomain(at), address));
  return Object.assign({}, ...domains);
}

/** A message to its own recipient. */
export function smallMail(number: number) {
  return {
    to: `user${number}@${recipientDomain(number)}`,
    subject: `Message ${number}`,
    body: `<p>This is message ${number}.</p>`,
  };
}

/** @param pace limit of messages per second over all lanes and workers; default: none */
export async function startFaultRun({
  workers,
  pace,
  env = {},
}: {
  workers: number;
  pace?: number;
  env?: Readonly<Record<string, string>>;
}): Promise<FaultRun> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-faults-"));
  const lanes = join(folder, "lanes.json");
  const limits = pace === undefined ? {} : { messages_per_second: pace / DOMAINS / workers };
  await writeFile(lanes, JSON.stringify({ lanes: [{ name: "default", ...limits }] }));
  const dns = await startFakeDns(recipientZone());
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

/** Waits until the queue is empty. Returns an error text in case of a timeout. */
export async function waitForEmptyQueue({ program }: FaultRun): Promise<string[]> {
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

/** Reads the database of the stopped program. */
export async function inDatabase<Found>(
  { dataDir }: FaultRun,
  look: (db: Database) => Promise<Found>,
): Promise<Found> {
  const embedded = await startEmbedded({ dataDir, log: createLog("silent") });
  const db = createDatabase(embedded.connection.url, { size: 2, name: "fault check", onError: () => {} });
  try {
    return await look(db);
  } finally {
    await db.close();
    await embedded.stop();
  }
}

/** Prints the faults and ends the process: with 0 if there are none, after removing all files of the run. */
export async function conclude(run: FaultRun, found: readonly string[], seed: number): Promise<never> {
  const left = await survivors(run.groups);
  const faults = [...found, ...left.map((process) => `a process outlived the service: ${process}`)];
  say(faults.length === 0 ? "every promise was kept" : `BROKEN\n${faults.join("\n")}`);
  await run.mx.stop();
  await run.dns.close();
  if (faults.length === 0) await rm(run.folder, { recursive: true, force: true, maxRetries: 5 });
  else {
    for (const line of run.program.logged("request failed").slice(0, 5)) say(JSON.stringify(line));
    say(`the data is kept in ${run.folder}; repeat with --seed ${seed}`);
  }
  process.exit(faults.length === 0 ? 0 : 1);
}
