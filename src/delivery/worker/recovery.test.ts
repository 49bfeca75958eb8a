import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { resultOfSmtp } from "#delivery/queue/decide-result.ts";
import { holdWorkerLock } from "#delivery/queue/worker-lock.ts";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { eventually } from "#test/support/eventually.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { Journal } from "./journal.ts";
import { Recovery } from "./recovery.ts";

const db = await testDatabase();
const workspaceId = asWorkspaceId(newId());
const spent = spawnSync("true").pid;

let journalFolder: string;
let recover: () => Promise<void>;

function recoveryOn(database: Database, workerId = newId()): () => Promise<void> {
  const recovery = new Recovery({
    db: database,
    journalFolder,
    workerId,
    log: createLog("silent"),
    onMoved: nobodyElse,
  });
  return () => recovery.run();
}

beforeEach(async () => {
  journalFolder = await mkdtemp(join(tmpdir(), "posthaste-journals-"));
  recover = recoveryOn(db);
  await db.run(sql`truncate delivery_queue, messages, message_contents, message_events`);
});

/** A worker with this pid that holds a message, and has been silent since. */
async function holdMessage(pid: number): Promise<string> {
  const workerId = newId();
  await insertDrafts(db, [draft(workspaceId, "ada@example.test")]);
  await leaseMessages(db, { workerId, priority: 0, limit: 1, bytes: 1_000_000, seconds: 60, saturated: [] });
  new Journal(journalFolder, { workerId, pid });
  return workerId;
}

/** The same database with this idle transaction timeout. */
function createDatabaseThatWaits(idleTransactionMs: number): Database & AsyncDisposable {
  const database = createDatabase(db.url, {
    size: 4,
    name: "hasty",
    onError: () => {},
    deadlines: { idleTransactionMs },
  });
  return { ...database, [Symbol.asyncDispose]: () => database.close() };
}

const holders = () => db.rows(sql`select leased_by from delivery_queue where leased_by is not null`);

test("the leases of a dead process are released at once", async () => {
  await holdMessage(spent);
  await recover();
  expect(await holders()).toEqual([]);
  expect(await readdir(journalFolder)).toEqual([]);
});

/** A worker with this pid that has journaled the result of a message, and has been silent since. */
async function learn(pid: number, text = "ok"): Promise<string> {
  const workerId = newId();
  await insertDrafts(db, [draft(workspaceId, "ada@example.test")]);
  const messages = await leaseMessages(db, leaseOrder({ workerId }));
  const journal = new Journal(journalFolder, { workerId, pid });
  for (const message of messages) {
    const result = { outcome: "accepted", code: 250, enhanced: null, text } as const;
    journal.append(resultOfSmtp(message, { result, mxHost: "mx" }, new Date(), 0));
  }
  return workerId;
}

test("the results of a dead worker are written, although the text of some cannot be stored", async () => {
  for (const text of ["a NUL: \0", "ok"]) await learn(spent, text);
  await recover();
  const delivered = { status: "delivered" };
  expect(await db.rows(sql`select status from messages`)).toEqual([delivered, delivered]);
  expect(await holders()).toEqual([]);
  expect(await readdir(journalFolder)).toEqual([]);
});

/** A dead worker that holds a message, and whose journal cannot be read. */
async function holdUnreadable(): Promise<string> {
  const workerId = newId();
  await insertDrafts(db, [draft(workspaceId, "ada@example.test")]);
  await leaseMessages(db, leaseOrder({ workerId }));
  await mkdir(join(journalFolder, `${workerId}.${spent}.jsonl`));
  return workerId;
}
const lapse = (workerId: string) =>
  db.run(sql`update delivery_queue set due_at = now() where leased_by = ${workerId}`);

test("a journal that cannot be read does not block the replay of others, and its worker's leases do not lapse", async () => {
  const unreadable = await holdUnreadable();
  await learn(spent);
  await lapse(unreadable);
  await recover();
  expect(await db.rows(sql`select from messages where status = 'delivered'`)).toHaveLength(1);
  expect(await holders()).toEqual([{ leased_by: unreadable }]);
  expect(await leaseMessages(db, leaseOrder())).toEqual([]);
});

test("a journal that can never be read is given up, and its worker's leases lapse", async () => {
  const unreadable = await holdUnreadable();
  const isFree = async () => {
    await lapse(unreadable);
    await recover();
    return (await leaseMessages(db, leaseOrder())).length === 1;
  };
  expect(await isFree()).toBe(false);
  expect(await eventually("its messages to be free", isFree)).toBe(true);
});

test("a worker that holds its lock keeps its leases", async () => {
  const workerId = await holdMessage(spent);
  const mark = await holdWorkerLock(db, workerId);
  await recover();
  await recover();
  expect(await holders()).toEqual([{ leased_by: workerId }]);
  await mark.end();
});

test("the results of a frozen worker are written, and it keeps its other leases", async () => {
  const workerId = newId();
  await insertDrafts(db, [draft(workspaceId, "ada@example.test"), draft(workspaceId, "bob@example.test")]);
  const lease = { workerId, priority: 0, limit: 2, bytes: 1_000_000, seconds: 60, saturated: [] } as const;
  const [learned] = await leaseMessages(db, lease);
  if (!learned) throw new Error("a lease is wanted");
  const mark = await holdWorkerLock(db, workerId);
  const result = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;
  const journal = new Journal(journalFolder, { workerId, pid: process.pid });
  journal.append(resultOfSmtp(learned, { result, mxHost: "mx" }, new Date(), 0));
  await recover();
  expect(await holders()).toHaveLength(2);

  const [file = ""] = await readdir(journalFolder);
  await utimes(join(journalFolder, file), 0, Date.now() / 1000 - 10);
  await recover();
  await eventually("the result to be settled", async () => (await holders()).length === 1);
  const states = sql`select count(*)::int as amount from messages where status = 'delivered'`;
  expect(await db.row(states)).toEqual({ amount: 1 });
  await mark.end();
});

test("a running process without its lock counts as dead only after its lock was missing for a while", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const workerId = await holdMessage(process.pid);
  const look = async (afterMs: number) => {
    vi.advanceTimersByTime(afterMs);
    await recover();
    return holders();
  };
  const isHeld = [{ leased_by: workerId }];
  expect(await look(0)).toEqual(isHeld);
  const mark = await holdWorkerLock(db, workerId);
  expect(await look(20_000)).toEqual(isHeld);
  await mark.end();
  expect(await look(20_000)).toEqual(isHeld);
  // A check may be late, and the next one follows right after it.
  expect(await look(100)).toEqual(isHeld);
  expect(await look(20_000)).toEqual([]);
});

test("the results of a dead worker are written at once, although another process has its pid by now", async () => {
  const workerId = await learn(process.pid);
  const [file = ""] = await readdir(journalFolder);
  await utimes(join(journalFolder, file), 0, Date.now() / 1000 - 60);
  await lapse(workerId);
  await recover();
  expect(await leaseMessages(db, leaseOrder())).toEqual([]);
  expect(await db.rows(sql`select status from messages`)).toEqual([{ status: "delivered" }]);
});

test("after a failed check, the next check does not count a living worker as dead", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const workerId = await holdMessage(process.pid);
  let isAway = false;
  const unsteady: Database = {
    ...db,
    row: (...call) => (isAway ? Promise.reject(new Error("connection refused")) : db.row(...call)),
  };
  recover = recoveryOn(unsteady);
  await recover();
  vi.advanceTimersByTime(20_000);
  isAway = true;
  await expect(recover()).rejects.toThrow();
  vi.advanceTimersByTime(20_000);
  isAway = false;
  await recover();
  expect(await holders()).toEqual([{ leased_by: workerId }]);
});

/** Locks the row of a message so that its lease cannot be settled; resolves to the function that unlocks it. */
async function obstruct(workerId: string): Promise<() => Promise<void>> {
  const obstacle = await db.openSession();
  await obstacle.query("begin");
  await obstacle.query(sql`
    select from messages where id = (select message_id from delivery_queue where leased_by = ${workerId}) for update`);
  return () => obstacle.end();
}

test("a replay may take longer than the idle transaction timeout, and the leases of other dead workers do not lapse meanwhile", async () => {
  await using hasty = createDatabaseThatWaits(300);
  recover = recoveryOn(hasty);
  const workers = [await learn(spent), await learn(spent)].toSorted();
  const [first = "", second = ""] = workers;
  await Promise.all(workers.map(lapse));
  const [letFirstGo, letSecondGo] = [await obstruct(first), await obstruct(second)];
  const recovered = recover();
  await eventually("a transaction to be idle for longer", () =>
    db.row(sql`
      select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
        and application_name = 'hasty' and state_change < now() - interval '600 ms'`),
  );
  const held = sql`select leased_by from delivery_queue where due_at > now() + interval '1 minute' order by 1`;
  expect(await db.rows(held)).toEqual(workers.map((leased_by) => ({ leased_by })));
  await Promise.all([letFirstGo(), letSecondGo()]);
  await recovered;
  expect(await readdir(journalFolder)).toEqual([]);
});

test("a worker does not recover itself", async () => {
  const workerId = await holdMessage(spent);
  const own = recoveryOn(db, workerId);
  await own();
  expect(await holders()).toEqual([{ leased_by: workerId }]);
});
