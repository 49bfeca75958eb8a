import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql, { raw, type Sql } from "sql-template-tag";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { subscribers } from "#audience/subscribers/permission.ts";
import { systemClock } from "#platform/clock.ts";
import { need } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { attemptJob } from "#platform/jobs/attempt.ts";
import { INPUT_FILE } from "#platform/jobs/files.ts";
import { findJob, updateJobToCancel } from "#platform/jobs/job-record-store.ts";
import { startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { createLog } from "#platform/log/log.ts";
import { addPeople, findMiscounts, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { writeJobFile } from "#test/support/job-files.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { IMPORT_JOB, importHandler } from "./import-job.ts";
import { claimImportBatch, listDurableBatches } from "./written-batches-store.ts";

/** Five batches. */
const PEOPLE = 80_000;
const BATCHES = 5;
vi.setConfig({ testTimeout: 120_000 });
const db = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-import-"));
afterAll(() => rm(dataDir, { recursive: true, force: true }));
const handler = importHandler({ db, clock: systemClock, plans });
let workspaceId: WorkspaceId;
let list: string;

beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
  list = await newList(db, workspaceId);
  await addPeople(db, workspaceId, list, [
    { email: "p1@job.example" },
    { email: "p2@job.example", first_name: "N2" },
  ]);
});

/** A job that waits, with so many people, one of them twice, and one bad row. */
async function start(people = PEOPLE): Promise<string> {
  const id = newId();
  const rows = Array.from({ length: people }, (_, at) => `p${at}@job.example,N${at}`);
  const text = ["Email,First", ...rows, "nobody,x", "p5@job.example,Last", ""].join("\n");
  const options = { file_name: "people.csv", update_existing: true, resubscribe: false };
  const input = { mailing_list_id: list, ...options };
  await startJob(db, workspaceId, { id, type: IMPORT_JOB, needs: need(subscribers, "write"), input });
  await writeJobFile(db, { workspaceId, jobId: id, name: INPUT_FILE }, text);
  return id;
}

const attempt = (id: string, stopping = new AbortController().signal) =>
  attemptJob({ database: db, dataDir, log: createLog("silent"), stopping, turnMs: 60_000 }, handler, {
    workspace_id: workspaceId,
    id,
  });

const countWhere = async (table: "memberships" | "import_batches", id: string) => {
  const from =
    table === "memberships"
      ? sql`from memberships where mailing_list_id = ${id}`
      : sql`from import_batches where job_id = ${id}`;
  return (await db.row<{ count: number }>(sql`select count(*)::int as count ${from}`))?.count ?? 0;
};
const someBatch = (id: string) =>
  eventually("a batch to be written", async () => (await countWhere("import_batches", id)) > 0);

const whole = {
  status: "completed",
  total: PEOPLE + 2,
  processed: PEOPLE + 2,
  counts: { created: PEOPLE - 2, updated: 1, unchanged: 1, duplicates: 1, invalid: 1 },
};

test("an import interrupted by the end of the service continues", async () => {
  const id = await start();
  const stopping = new AbortController();
  const first = attempt(id, stopping.signal);
  await someBatch(id);
  stopping.abort();
  await first;
  expect(await findJob(db, workspaceId, id)).toMatchObject({ status: "pending" });
  const before = await countWhere("import_batches", id);
  expect(before).toBeLessThan(BATCHES);
  await attempt(id);
  expect(await findJob(db, workspaceId, id)).toMatchObject(whole);
  expect(await countWhere("memberships", list)).toBe(PEOPLE);
  expect(await findMiscounts(db)).toEqual([]);
});

test("two runs of one import, one of them presumed dead, write each person once", async () => {
  const id = await start();
  await Promise.all([attempt(id), attempt(id)]);
  // The run that was overtaken cannot end the job; the other one did, or the next one does.
  await attempt(id);
  expect(await findJob(db, workspaceId, id)).toMatchObject(whole);
  expect(await countWhere("memberships", list)).toBe(PEOPLE);
  expect(await countWhere("import_batches", id)).toBe(BATCHES);
  expect(await findMiscounts(db)).toEqual([]);
});

test("an import fails and is retried when a crash of the database lost batches", async () => {
  const id = await start();
  const running = attempt(id);
  await someBatch(id);
  await db.run(sql`delete from import_batches where job_id = ${id}`);
  await running;
  expect(await findJob(db, workspaceId, id)).toMatchObject({ status: "pending", completed_at: null });
  expect(await db.row(sql`select attempts, due_at > now() as "isLater" from jobs where id = ${id}`)).toEqual({
    attempts: 1,
    isLater: true,
  });
});

test("the final counts of an import are durable, although its batches commit asynchronously", async () => {
  const jobId = await start();
  const commit = await db.transaction(async (tx) => {
    await claimImportBatch(tx, workspaceId, { jobId, batch: 0 });
    return tx.row<{ waits: string }>(sql`select current_setting('synchronous_commit') as waits`);
  });
  expect(commit).toEqual({ waits: "off" });
  const claimed = await db.row<{ end: string }>(sql`select pg_current_wal_insert_lsn()::text as end`);
  await listDurableBatches(db, workspaceId, jobId);
  const settled = sql`select pg_current_wal_flush_lsn() >= ${claimed?.end}::pg_lsn as "isOnDisk"`;
  expect(await db.row(settled)).toEqual({ isOnDisk: true });
});

test("a cancelled import keeps what it has written, and reports how much", async () => {
  const id = await start();
  const running = attempt(id);
  await someBatch(id);
  await updateJobToCancel(db, workspaceId, id);
  await running;
  const job = await findJob(db, workspaceId, id);
  expect(job?.status).toBe("cancelled");
  const written = await countWhere("memberships", list);
  const { created = 0, updated = 0, unchanged = 0 } = job?.counts ?? {};
  expect(created + 2).toBe(written);
  expect(job).toMatchObject({
    succeeded: created + updated + unchanged,
    result: { created, rows: PEOPLE + 2 },
  });
  expect(await findMiscounts(db)).toEqual([]);
});

/** Runs the job up to where it waits for a table, cancels it there, and lets it continue after `meanwhile`. */
async function cancelAt(table: Sql, id: string, meanwhile: () => Promise<unknown> = async () => {}) {
  const waits = sql`
    select from pg_locks where not granted and relation = ${table.sql}::regclass
      and database = (select oid from pg_database where datname = current_database())`;
  const running = await db.transaction(async (tx) => {
    await tx.run(sql`lock table ${table} in exclusive mode`);
    const running = attempt(id);
    await eventually("the import to wait", async () => (await db.row(waits)) !== undefined);
    await updateJobToCancel(db, workspaceId, id);
    await meanwhile();
    return { ended: running };
  });
  await running.ended;
  return findJob(db, workspaceId, id);
}

test("an import that is cancelled while its file is read writes no person", async () => {
  const job = await cancelAt(raw("custom_fields"), await start(10));
  expect(job).toMatchObject({ status: "cancelled", succeeded: 0 });
  expect(await countWhere("memberships", list)).toBe(2);
});

test("an import that is cancelled as it writes its last people is completed", async () => {
  const id = await start(10);
  const version = async () =>
    (await db.row<{ xmin: string }>(sql`select xmin::text from jobs where id = ${id}`))?.xmin;
  const job = await cancelAt(raw("memberships"), id, async () => {
    const cancelled = await version();
    await eventually("the run to hear of it", async () => (await version()) !== cancelled);
  });
  expect(job).toMatchObject({ status: "completed", total: 12, processed: 12, counts: { created: 8 } });
  expect(await countWhere("memberships", list)).toBe(10);
});

test("an import waits while its workspace is suspended, reports its progress, and then continues", async () => {
  const id = await start();
  const suspend = (is_suspended: boolean) =>
    changeWorkspace(db, workspaceId, { is_suspended }, { clock: systemClock, plans });
  const running = attempt(id);
  await someBatch(id);
  await suspend(true);
  await running;
  const before = await countWhere("import_batches", id);
  expect(before).toBeLessThan(BATCHES);
  // Those of both batches that were written at once; two people were members before.
  const { created: told = 0 } = (await findJob(db, workspaceId, id))?.counts ?? {};
  expect(told + 2).toBe(await countWhere("memberships", list));
  await attempt(id);
  expect(await findJob(db, workspaceId, id)).toMatchObject({ status: "processing" });
  expect(await countWhere("import_batches", id)).toBe(before);
  await suspend(false);
  await attempt(id);
  expect(await findJob(db, workspaceId, id)).toMatchObject(whole);
  expect(await countWhere("memberships", list)).toBe(PEOPLE);
  expect(await countWhere("import_batches", id)).toBe(BATCHES);
});

test("an import whose list is deleted fails, and adds no person to it", async () => {
  const id = await start();
  await db.run(sql`delete from memberships where mailing_list_id = ${list}`);
  await db.run(sql`delete from mailing_lists where id = ${list}`);
  await attempt(id);
  expect(await findJob(db, workspaceId, id)).toMatchObject({
    status: "failed",
    error: "Mailing list not found",
  });
  expect(await countWhere("memberships", list)).toBe(0);
});
