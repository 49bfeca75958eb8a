import sql, { type Sql } from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { webhookLimits } from "#test/support/webhook-limits.ts";
import { waitOfOldestDelivery } from "./backlog-store.ts";
import { type LeasedDelivery, leaseDeliveries } from "./lease-store.ts";
import { settleDeliveries } from "./settle-store.ts";
import { insertDeliveries } from "./store.ts";
import { queueRequestedTurns } from "./turns-store.ts";

const db = await testDatabase();
/** The tests move it; PostgreSQL has no part in it. */
let now = new Date();
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000);

beforeEach(async () => {
  await db.run(
    sql`truncate webhooks, webhook_deliveries, webhook_leases, webhook_turns, webhook_turn_requests`,
  );
  now = new Date();
});

/** Workspaces with the same number of active webhooks, which listen to all events. */
async function newWorkspaces(count: number, webhooks = 1): Promise<WorkspaceId[]> {
  const ids = Array.from({ length: count }, () => newId() as WorkspaceId);
  await db.run(sql`
    insert into workspaces (id, name) select id, 'Test' from unnest(${ids}::uuid[]) as w (id)`);
  await db.run(sql`
    insert into webhooks (workspace_id, id, url, events, is_active, secret, created_at, updated_at)
    select id, gen_random_uuid(), 'https://hooks.test/', '{*}', true, '', now(), now()
    from unnest(${ids}::uuid[]) as w (id), generate_series(1, ${webhooks}::integer)`);
  return ids;
}

/** Events of each workspace, as a transaction announces them. */
const happen = (workspaceIds: readonly WorkspaceId[], times: number, tx: Queryable = db) =>
  insertDeliveries(
    tx,
    workspaceIds.flatMap((workspaceId) =>
      Array.from({ length: times }, () => ({
        workspaceId,
        id: newId(),
        type: "campaign.sent",
        body: "{}",
        time: now,
      })),
    ),
  );

async function lease(most = 100): Promise<LeasedDelivery[]> {
  await queueRequestedTurns(db, now, 10_000);
  return db.transaction((tx) => leaseDeliveries(tx, { now, until: later(60), most, ...webhookLimits }));
}

const settle = (leased: readonly LeasedDelivery[], tx: Queryable = db) =>
  settleDeliveries(
    tx,
    leased.map((one) => ({
      lease: one,
      status: "delivered",
      nextAttemptAt: null,
      statusCode: 204,
      error: null,
      durationMs: 1,
      answer: null,
      time: now,
    })),
  );

const countsOf = (leased: readonly LeasedDelivery[], key: "workspace_id" | "webhook_id") =>
  Object.values(Object.groupBy(leased, (one) => one[key])).map((group = []) => group.length);

/** The rows that a lease of ten and the results of its deliveries read. */
async function rowsRead(): Promise<number> {
  return db.transaction(async (tx) => {
    const before = await rowsReadUntilNow(tx);
    const leased = await leaseDeliveries(tx, { now, until: later(60), most: 10, ...webhookLimits });
    expect(await settle(leased, tx)).toHaveLength(10);
    return (await rowsReadUntilNow(tx)) - before;
  });
}

/** The pages that a lease of ten reads after it has taken its turns. It is undone. */
async function pagesRead(): Promise<number> {
  let pages = 0;
  let hasTurns = false;
  const undone = new Error("undone");
  const leasing = db.transaction(async (tx) => {
    const explaining: Queryable = {
      ...tx,
      async rows<Row>(statement: Sql) {
        if (!hasTurns) {
          hasTurns = true;
          return tx.rows<Row>(statement);
        }
        const [row] = await tx.rows<{ "QUERY PLAN": { Plan: Record<string, number> }[] }>(
          sql`explain (analyze, buffers, format json) ${statement}`,
        );
        const plan = row?.["QUERY PLAN"][0]?.Plan;
        pages += (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
        return [];
      },
    };
    await leaseDeliveries(explaining, { now, until: later(60), most: 10, ...webhookLimits });
    throw undone;
  });
  await expect(leasing).rejects.toBe(undone);
  return pages;
}

async function rowsReadUntilNow(tx: Queryable): Promise<number> {
  const read = await tx.row<{ count: number }>(sql`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_xact_user_tables`);
  return read?.count ?? 0;
}

test("a lease and its results read as many rows when a hundred times as many workspaces and deliveries wait", async () => {
  await happen(await newWorkspaces(20), 10);
  await db.run(sql`analyze webhooks, webhook_deliveries, webhook_turns`);
  await queueRequestedTurns(db, now, 10_000);
  const few = await rowsRead();
  await happen(await newWorkspaces(2_000), 10);
  await db.run(sql`analyze webhooks, webhook_deliveries, webhook_turns, workspaces`);
  await queueRequestedTurns(db, now, 10_000);
  expect(await rowsRead()).toBeLessThanOrEqual(few * 1.5);
});

test("a lease reads as many pages with dead leases of its receiver that an old snapshot keeps", async () => {
  await happen(await newWorkspaces(1), 10);
  await queueRequestedTurns(db, now, 10);
  const few = await pagesRead();
  await db.transaction(async (backup) => {
    await backup.run(sql`set transaction isolation level repeatable read`);
    await backup.row(sql`select from webhook_leases limit 1`);
    await db.run(sql`
      insert into webhook_leases (workspace_id, webhook_id, delivery_id, lease_id, leased_until)
      select workspace_id, id, gen_random_uuid(), gen_random_uuid(), ${now} from webhooks, generate_series(1, 20_000)`);
    await db.run(sql`delete from webhook_leases`);
    // The trees of the indexes have one level more.
    expect((await pagesRead()) / few).toBeLessThan(3);
  });
});

test("senders that lease at once keep the limits together, and lease no delivery twice", async () => {
  const [one] = await newWorkspaces(1, 6);
  const others = await newWorkspaces(20);
  if (one === undefined) throw new Error("no workspace");
  await happen([one, ...others], 30);
  const rounds: LeasedDelivery[] = [];
  for (let found = -1; found !== rounds.length; now = later(1)) {
    found = rounds.length;
    rounds.push(...(await Promise.all([lease(), lease(), lease(), lease()])).flat());
  }
  expect(new Set(rounds.map(({ webhook_id, id }) => `${webhook_id} ${id}`)).size).toBe(rounds.length);
  const ofOne = rounds.filter(({ workspace_id }) => workspace_id === one);
  expect(ofOne).toHaveLength(40);
  expect(Math.max(...countsOf(rounds, "webhook_id"))).toBe(10);
  expect(countsOf(rounds, "workspace_id").filter((count) => count === 10)).toHaveLength(20);
  expect(await lease()).toEqual([]);
});

test("each workspace in the line has the same share of a lease, and a new one is next after those before it", async () => {
  const busy = await newWorkspaces(3);
  await happen(busy, 100);
  expect(countsOf(await lease(6), "workspace_id")).toEqual([2, 2, 2]);
  now = later(1);
  const [late] = await newWorkspaces(1);
  if (late === undefined) throw new Error("no workspace");
  await happen([late], 1);
  expect((await lease(4)).some(({ workspace_id }) => workspace_id === late)).toBe(true);
});

test("a delivery is found that commits while a sender looks at its workspace; neither waits for the other", async () => {
  const [id] = await newWorkspaces(1);
  if (id === undefined) throw new Error("no workspace");
  await happen([id], 1);
  await queueRequestedTurns(db, now, 10);
  await db.transaction(async (tx) => {
    const first = await leaseDeliveries(tx, { now, until: later(60), most: 10, ...webhookLimits });
    expect(first).toHaveLength(1);
    await db.transaction((other) => happen([id], 1, other));
  });
  expect(await lease()).toHaveLength(1);
  await db.transaction(async (tx) => {
    await happen([id], 1, tx);
    expect(await lease()).toEqual([]);
  });
  expect(await lease()).toHaveLength(1);
});

test("a sender that freezes in the middle of a lease holds its turns for five seconds at most", async () => {
  await db.transaction(async (tx) => {
    await leaseDeliveries(tx, { now, until: later(60), most: 10, ...webhookLimits });
    expect(await tx.row(sql`show idle_in_transaction_session_timeout`)).toEqual({
      idle_in_transaction_session_timeout: "5s",
    });
  });
});

test("many slow receivers do not delay the retry of a quick one in the same workspace", async () => {
  const [id] = await newWorkspaces(1, 2);
  if (id === undefined) throw new Error("no workspace");
  await happen([id], 1);
  const [slow, quick] = await lease();
  if (slow === undefined || quick === undefined) throw new Error("nothing was leased");
  await settle([slow]);
  const retry = {
    status: "pending",
    nextAttemptAt: later(5),
    statusCode: 500,
    error: "no",
    durationMs: 1,
  } as const;
  await settleDeliveries(db, [{ lease: quick, ...retry, answer: null, time: now }]);
  const others = Array.from({ length: 1_999 }, () => newId());
  const held = { ...webhookLimits, slow: [slow.webhook_id, ...others], mostOfSlow: 0 };
  await db.run(sql`update webhooks set events = '{message.bounced}' where id = ${quick.webhook_id}`);
  await happen([id], 1);
  await queueRequestedTurns(db, now, 10);
  await db.transaction((tx) => leaseDeliveries(tx, { now, until: later(60), most: 10, ...held }));
  now = later(5);
  const found = await db.transaction((tx) =>
    leaseDeliveries(tx, { now, until: later(60), most: 10, ...held }),
  );
  expect(found.map(({ id: delivery }) => delivery)).toContain(quick.id);
});

test("the results of a batch end only the leases that they belong to", async () => {
  await happen(await newWorkspaces(3), 2);
  const leased = await lease();
  const [old, ...others] = leased;
  if (old === undefined) throw new Error("nothing was leased");
  now = later(60);
  const again = await lease();
  expect(again).toHaveLength(6);
  expect(await settle(leased)).toEqual([]);
  expect(await settle([...again.slice(0, 2), ...others])).toHaveLength(2);
  expect(await db.rows(sql`select from webhook_leases`)).toHaveLength(4);
});

test("deliveries continue within a minute after the end of a suspension", async () => {
  const [id] = await newWorkspaces(1);
  if (id === undefined) throw new Error("no workspace");
  await happen([id], 1);
  await db.run(sql`update workspaces set is_suspended = true where id = ${id}`);
  expect(await lease()).toEqual([]);
  await db.run(sql`update workspaces set is_suspended = false where id = ${id}`);
  now = later(60);
  expect(await lease()).toHaveLength(1);
});

test("a delivery is late from when it was due until its attempt has ended, in the line and under a lease", async () => {
  const [id] = await newWorkspaces(1);
  if (id === undefined) throw new Error("no workspace");
  const wait = () => waitOfOldestDelivery(db, now);
  expect(await wait()).toBe(0);
  await happen([id], 12);
  now = later(5);
  expect(await wait()).toBe(5);
  const leased = await lease();
  expect(leased).toHaveLength(10);
  now = later(5);
  expect(await wait()).toBe(10);
  await settle(leased);
  expect(await wait()).toBe(10);
  const rest = await lease();
  expect(rest).toHaveLength(2);
  // The process that leased them was killed, and no other runs.
  now = later(120);
  expect(await wait()).toBe(130);
  await db.run(sql`update webhooks set is_active = false`);
  expect(await lease()).toEqual([]);
  expect(await wait()).toBe(0);
});
