/**
 * Deterministic simulation of billing, compared with a simple model: sends, refusals, validations, top-ups,
 * subscriptions, changes, cancellations, renewals, plans set by the operator, refunds, jumps over month ends, crashes,
 * and concurrent sessions:
 *
 *     npm run ledger-simulation -- --seeds 10000 [--seed N] [--steps 12]
 *
 * Seeds count up from --seed. A failure is printed with its seed and its operations, and the script exits with 1.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { prepareSchema } from "#platform/jobs/migrate-schema.ts";
import { createLog } from "#platform/log/log.ts";
import { runLedgerSeed } from "./ledger-run.ts";
import { readNumbers } from "./options.ts";

/** Seeds that run concurrently, each with its own workspace. */
const AT_ONCE = 4;
const EVERY = 500;

const { seeds, steps, seed: first } = readNumbers({ seeds: 10_000, steps: 12 });
const folder = await mkdtemp(join(tmpdir(), "posthaste-ledger-"));
const embedded = await startEmbedded({ dataDir: folder, log: createLog("silent") });
const { url } = embedded.connection;
const options = { size: 2 * AT_ONCE, name: "simulation", onError: () => {} };
const admin = createDatabase(url, options);
await prepareSchema(admin, createLog("silent"));
await ensurePartitions(admin, new Date());
// Only transactions crash, not the machine, so commits need not wait for the disk.
await admin.run(sql`alter system set synchronous_commit = off`);
await admin.run(sql`select pg_reload_conf()`);
await admin.close();

const db = createDatabase(url, options);
const from = performance.now();
const failures: string[] = [];
let next = 0;
let done = 0;
const runner = async () => {
  while (next < seeds) {
    const seed = first + next++;
    await runLedgerSeed(db, seed, steps).catch((fault: Error) => {
      failures.push(fault.message);
      process.stdout.write(`${fault.message}\n\n`);
    });
    done += 1;
    if (done % EVERY === 0) say(`${done} seeds`);
  }
};
const say = (text: string) =>
  process.stdout.write(`${((performance.now() - from) / 1000).toFixed(0).padStart(5)} s  ${text}\n`);
await Promise.all(Array.from({ length: AT_ONCE }, runner));
say(`${seeds} seeds from ${first}, ${steps} steps each: ${failures.length} deviations`);
await db.close();
await embedded.stop();
await rm(folder, { recursive: true, force: true, maxRetries: 5 });
process.exitCode = failures.length === 0 ? 0 : 1;
