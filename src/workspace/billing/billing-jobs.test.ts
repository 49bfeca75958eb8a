import sql, { type Sql } from "sql-template-tag";
import { expect, test } from "vitest";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { lockAccount } from "./account-store.ts";
import { billingTasks } from "./billing-jobs.ts";
import { getMeterReading } from "./meter.ts";
import { addEntriesSql } from "./meter-store.ts";
import { plans } from "./plans.ts";
import { topUp } from "./top-up.ts";

const db = await testDatabase();
const clock = stubClock();
const workspaceId = await insertBareWorkspace(db);
const log = createLog("silent");

/** Workspaces with a growth plan, of which each has used one email more than it has given back. */
async function usingWorkspaces(count: number): Promise<WorkspaceId[]> {
  const ids = Array.from({ length: count }, () => newId() as WorkspaceId);
  await db.run(sql`
    insert into workspaces (id, name, plan) select id, 'Test', 'growth' from unnest(${ids}::uuid[]) as w (id)`);
  await db.run(sql`insert into billing_accounts (workspace_id) select unnest(${ids}::uuid[])`);
  await use(ids, 3);
  await use(ids, -2);
  return ids;
}

const use = (ids: readonly WorkspaceId[], quantity: number) =>
  db.run(
    addEntriesSql(
      "email",
      sql`(select id, ${quantity}::int from unnest(${[...ids]}::uuid[]) as w (id)) u (workspace_id, quantity)`,
      clock.now(),
    ),
  );

const readMeters = (database: Database, signal = new AbortController().signal) =>
  billingTasks({ db: database, clock, plans })
    .find(({ name }) => name === "read-meters")
    ?.run({ signal, log });

const settledEmails = (ids: readonly WorkspaceId[]) =>
  db.rows<{ used: number }>(
    sql`select used from meters where workspace_id = any(${[...ids]}::uuid[]) and kind = 'email'`,
  );

/** The database with its statements counted, those of transactions too. */
function counting(): Database & { count: () => number } {
  let count = 0;
  const counted = <Asked extends Queryable>(asked: Asked): Asked => ({
    ...asked,
    rows: (text: Sql, name?: string) => asked.rows(text, name).finally(() => (count += 1)),
    row: (text: Sql, name?: string) => asked.row(text, name).finally(() => (count += 1)),
    run: (text: Sql) => asked.run(text).finally(() => (count += 1)),
  });
  return {
    ...counted(db),
    transaction: (work, options) => db.transaction((tx) => work(counted(tx)), options),
    count: () => count,
  };
}

test("the meters of a hundred workspaces are read with as many statements as those of one", async () => {
  const counts: number[] = [];
  for (const workspaces of [1, 100]) {
    const ids = await usingWorkspaces(workspaces);
    const database = counting();
    await readMeters(database);
    expect(await settledEmails(ids)).toEqual(ids.map(() => ({ used: 1 })));
    counts.push(database.count());
  }
  expect(counts[1]).toBe(counts[0]);
});

test("a crash between pieces of workspaces loses no usage, and counts none twice", async () => {
  const ids = await usingWorkspaces(450);
  const stopped = new AbortController();
  let pieces = 0;
  const crashing: Database = {
    ...db,
    transaction: (work, options) =>
      db.transaction(async (tx) => {
        const result = await work(tx);
        pieces += 1;
        if (pieces === 1) return result;
        stopped.abort();
        throw new Error("the process was killed");
      }, options),
  };
  await readMeters(crashing, stopped.signal);
  const settled = await settledEmails(ids);
  expect(settled.length).toBeGreaterThan(0);
  expect(settled.length).toBeLessThan(450);
  for (let run = 0; run < 2; run++) await readMeters(db);
  expect(await settledEmails(ids)).toEqual(ids.map(() => ({ used: 1 })));
});

test("charges of many workspaces have balances and gapless receipts as if each were read alone", async () => {
  const ids = await usingWorkspaces(3);
  await readMeters(db);
  for (const id of ids)
    await db.transaction((tx) =>
      topUp(tx, plans, id, { amount: "10.00", gateway: "manual", description: "Test" }, clock.now()),
    );
  await use(ids, 50_000);
  await readMeters(db);
  await use(ids, -5);
  await use(ids, 7);
  await readMeters(db);
  for (const id of ids) {
    const ledger = await db.rows(sql`
      select transaction_type, amount, quantity, receipt_number from billing_transactions
      where workspace_id = ${id} order by receipt_number`);
    expect(ledger).toEqual([
      { transaction_type: "topup", amount: "10.000000", quantity: null, receipt_number: "R-2026-000001" },
      { transaction_type: "usage", amount: "-0.006400", quantity: 8, receipt_number: "R-2026-000002" },
      { transaction_type: "refund", amount: "0.004000", quantity: 5, receipt_number: "R-2026-000003" },
    ]);
    expect(await getMeterReading(db, plans, id, clock.now())).toMatchObject({
      used: { email: 50_003 },
      account: { balance: "9.997600" },
    });
  }
});

test("neither an account with a fault nor one in use stops the others; the latter is read by the next run", async () => {
  const [faulty, busy, ...others] = await usingWorkspaces(4);
  if (faulty === undefined || busy === undefined) throw new Error("no workspaces");
  await db.run(sql`
    insert into meter_hours (workspace_id, kind, hour, used)
    values (${faulty}, 'email', date_trunc('hour', ${clock.now()}::timestamptz, 'UTC'), 9223372036854775807)`);
  await db.transaction(async (tx) => {
    await lockAccount(tx, busy);
    await readMeters(db);
  });
  expect(await settledEmails(others)).toHaveLength(2);
  expect(await settledEmails([faulty, busy])).toEqual([]);
  await readMeters(db);
  expect(await settledEmails([faulty, busy])).toEqual([{ used: 1 }]);
  await db.run(sql`truncate meter_hours, meter_entries`);
});

/** More than one statement takes. */
const MANY = 5_001;

test.each([
  ["forget-metered-hours", sql`meter_hours (workspace_id, kind, used, hour)`, sql`''`, sql`1`],
  [
    "forget-payment-events",
    sql`payment_events (workspace_id, gateway, event_id, received_at)`,
    sql`'stripe'`,
    sql`n`,
  ],
])(
  "%s takes all that is old, and nothing from a process that has to stop",
  async (name, table, kind, value) => {
    await db.run(sql`
    insert into ${table}
    select ${workspaceId}, ${kind}, ${value}, ${clock.now()}::timestamptz - n * interval '1 hour'
    from generate_series(0, ${MANY + 30 * 24}::int) n`);
    const forget = async (signal: AbortSignal) => {
      const task = billingTasks({ db, clock, plans }).find((one) => one.name === name);
      await task?.run({ signal, log });
      const { count } =
        (await db.row<{ count: number }>(sql`
      select (select count(*) from meter_hours) + (select count(*) from payment_events) as count`)) ?? {};
      return count;
    };
    expect(await forget(AbortSignal.abort())).toBeGreaterThan(MANY);
    expect(await forget(new AbortController().signal)).toBeLessThanOrEqual(30 * 24 + 1);
    await db.run(sql`truncate meter_hours, payment_events`);
  },
);
