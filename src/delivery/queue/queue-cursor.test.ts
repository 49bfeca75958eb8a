import fc from "fast-check";
import sql, { raw, type Sql } from "sql-template-tag";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, newId, nilId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { leaseMessages } from "#test/support/lease-order.ts";
import type { LeaseOrder } from "./lease-order.ts";
import { QueueCursor } from "./queue-cursor.ts";
import { PLANNER_SETTINGS } from "./queue-store.ts";

const { url } = await testDatabase();
/** With the settings of a delivery process. */
const db = createDatabase(url, { size: 4, name: "test", onError: () => {}, settings: PLANNER_SETTINGS });
afterAll(() => db.close());
// The tests count pages, which depend on statistics; autovacuum must not change these during a test.
const tables = await db.rows<{ name: string }>(sql`
  select relid::regclass::text as name from pg_partition_tree('messages') where isleaf
  union all select 'delivery_queue'`);
for (const { name } of tables) await db.run(sql`alter table ${raw(name)} set (autovacuum_enabled = off)`);
const workspaceId = asWorkspaceId(newId());
const KEPT_MS = 10_001;

let time: number;
/** Each call is a millisecond later. */
const clock = () => time++;
/** Every scan counts as slow. */
let cursor: QueueCursor;
beforeEach(async () => {
  await db.run(sql`truncate delivery_queue, messages`);
  time = 0;
  cursor = new QueueCursor(0, clock);
});

/** Due messages for these domains, in this order, a millisecond apart. */
async function wait(domains: readonly string[], { agoSeconds = 3_600, campaignId = nilId } = {}) {
  await db.run(sql`
    with mail as (
      insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), 'api', '', 'shop@sender.test', place, domain, '', now(), now()
      from unnest(${domains}::text[]) with ordinality as d (domain, place)
      returning id, domain, localpart
    )
    insert into delivery_queue (workspace_id, message_id, campaign_id, priority, domain, bytes, expires_at, due_at)
    select ${workspaceId}, id, ${campaignId}, 1, domain, 100, now() + interval '3 days',
      now() - make_interval(secs => ${agoSeconds}::float8 - localpart::integer / 1000.0)
    from mail`);
}
const mails = (count: number, domain: string) => Array<string>(count).fill(domain);

const orderOf = (change: Partial<LeaseOrder> = {}): LeaseOrder => ({
  workerId: newId(),
  priority: 1,
  limit: 10,
  bytes: 1_000_000,
  seconds: 60,
  saturated: ["full.test"],
  ...change,
});
const lease = (change: Partial<LeaseOrder> = {}) => cursor.lease(db, orderOf(change));
const domainsOf = async (messages: ReturnType<typeof lease>) => (await messages).map(({ domain }) => domain);

/** The pages that a scan reads, without those of the reading of positions (the statement without a name). */
async function pagesOf(scan: (explaining: Queryable) => Promise<unknown>): Promise<number> {
  let pages = 0;
  await scan({
    ...db,
    async rows<Row>(statement: Sql, name?: string) {
      if (!name) return db.rows<Row>(statement);
      const [row] = await db.rows<{ "QUERY PLAN": { Plan: Record<string, number> }[] }>(
        sql`explain (analyze, buffers, format json) ${statement}`,
      );
      const plan = row?.["QUERY PLAN"][0]?.Plan;
      pages += (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
      return name === "list open lines" ? db.rows<Row>(statement, name) : [];
    },
  });
  return pages;
}

/** Due messages for many workspaces. */
const waitForEach = (workspaces: number, each: number) =>
  db.run(sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, due_at)
    select md5(n::text)::uuid, gen_random_uuid(), 1, 'open.test', 100, now() + interval '3 days', now() - interval '1 minute'
    from generate_series(1, ${workspaces}::integer) n, generate_series(1, ${each}::integer)`);

test("a lease costs about the same with a hundred times as many workspaces and messages", async () => {
  const pagesOfLease = () =>
    pagesOf((explaining) => new QueueCursor().lease(explaining, orderOf({ limit: 100 })));
  await waitForEach(30, 20);
  const few = await pagesOfLease();
  await waitForEach(3_000, 20);
  expect((await pagesOfLease()) / few).toBeLessThan(1.5);
});

test("a scan costs the same however many messages of a saturated lane come first", async () => {
  await wait([...mails(10, "full.test"), ...mails(100, "open.test")]);
  await lease();
  await lease();
  const few = await pagesOf((explaining) => cursor.lease(explaining, orderOf()));
  await wait(mails(20_000, "full.test"), { agoSeconds: 7_200 });
  expect(await pagesOf((explaining) => leaseMessages(explaining, orderOf()))).toBeGreaterThan(few + 200);
  time += KEPT_MS;
  await lease();
  expect(await pagesOf((explaining) => cursor.lease(explaining, orderOf()))).toBeLessThan(few + 50);
});

test.each([
  ["are outdated", sql`select`],
  ["are current", sql`analyze delivery_queue`],
])(
  "a scan costs the same with dead index entries that an old snapshot keeps, when statistics %s",
  async (_, hear) => {
    await wait(mails(20_000, "open.test"));
    await wait(mails(10, "open.test"), { agoSeconds: 60 });
    await wait(mails(10, "open.test"), { campaignId: newId() });
    await db.transaction(async (backup) => {
      await backup.run(sql`set transaction isolation level repeatable read`);
      await backup.row(sql`select from delivery_queue limit 1`);
      await db.run(
        sql`delete from delivery_queue where due_at < now() - interval '30 minutes' and campaign_id = ${nilId}`,
      );
      await db.run(hear);
      expect(await pagesOf((explaining) => leaseMessages(explaining, orderOf()))).toBeGreaterThan(500);
      await lease({ limit: 1 });
      await lease({ limit: 1 });
      // On a busy machine a scan does not wait for the reading.
      await eventually("a scan that begins after them", async () => {
        const pages = await pagesOf((explaining) => cursor.lease(explaining, orderOf({ limit: 1 })));
        return pages < 200;
      });
    });
  },
);

test("when a lane is no longer saturated, its messages are leased with the next scan, from the first one on", async () => {
  await wait([...mails(30, "full.test"), ...mails(30, "busy.test"), ...mails(30, "open.test")]);
  const saturated = ["full.test", "busy.test"];
  await lease({ saturated });
  expect(await domainsOf(lease({ saturated }))).toEqual(mails(10, "open.test"));
  expect(await domainsOf(lease({ saturated: ["full.test"] }))).toEqual(mails(10, "busy.test"));
  expect(await domainsOf(lease({ saturated: ["busy.test"] }))).toEqual(mails(10, "full.test"));
  expect(await domainsOf(lease({ saturated }))).toEqual(mails(10, "open.test"));
});

test("messages accepted or requeued after a reading are found at once", async () => {
  await wait(mails(30, "full.test"));
  expect([...(await lease()), ...(await lease())]).toEqual([]);
  await wait(["open.test"], { agoSeconds: 1 });
  expect(await domainsOf(lease())).toEqual(["open.test"]);
  await db.run(
    sql`update delivery_queue set due_at = now() - interval '1 second' where domain = 'open.test'`,
  );
  expect(await domainsOf(lease())).toEqual(["open.test"]);
});

test("a message inserted before the position waits for ten seconds and no longer", async () => {
  await wait(mails(30, "full.test"));
  await lease();
  await lease();
  await wait(["open.test"], { agoSeconds: 7_200 });
  await wait(["other.test"], { agoSeconds: 7_200, campaignId: newId() });
  expect(await domainsOf(lease())).toEqual(["other.test"]);
  time += KEPT_MS;
  expect(await domainsOf(lease())).toEqual(["open.test"]);
});

test("positions are read again sooner after another slow scan, if reading was fast", async () => {
  await wait(mails(30, "full.test"));
  await lease();
  await lease();
  await wait(["open.test"], { agoSeconds: 7_200 });
  time += 20;
  expect(await domainsOf(lease())).toEqual(["open.test"]);
});

test("a slow scan that passes over few messages remembers no position", async () => {
  cursor = new QueueCursor(1, clock);
  await wait(mails(30, "full.test"));
  expect([...(await lease()), ...(await lease())]).toEqual([]);
  await wait(["open.test"], { agoSeconds: 7_200 });
  expect(await domainsOf(lease())).toEqual(["open.test"]);
});

test("when positions cannot be read, scans go on without them", async () => {
  await wait([...mails(30, "full.test"), ...mails(30, "open.test")]);
  const failing: Queryable = {
    ...db,
    rows: (statement, name) => (name ? db.rows(statement, name) : Promise.reject(new Error("too slow"))),
  };
  const scan = () => domainsOf(cursor.lease(failing, orderOf()));
  expect([...(await scan()), ...(await scan()), ...(await scan())]).toEqual(mails(30, "open.test"));
});

test("empty lines that are remembered get no share of a batch", async () => {
  for (let line = 0; line < 20; line++) await wait(["full.test"], { campaignId: newId() });
  expect([...(await lease()), ...(await lease())]).toEqual([]);
  await db.run(sql`delete from delivery_queue`);
  const campaigns = [newId(), newId()];
  for (const campaignId of campaigns) await wait(mails(30, "open.test"), { campaignId });
  const batch = (await lease()).map(({ message_id }) => message_id);
  const counts = await db.rows(sql`
    select count(*)::integer from delivery_queue where message_id = any (${batch}) group by campaign_id`);
  expect(counts).toEqual([{ count: 5 }, { count: 5 }]);
});

test("fast scans remember no position", async () => {
  cursor = new QueueCursor(2, clock);
  await wait(mails(30, "full.test"));
  expect([...(await lease()), ...(await lease())]).toEqual([]);
  await wait(["open.test"], { agoSeconds: 7_200 });
  expect(await domainsOf(lease())).toEqual(["open.test"]);
});

test("whatever positions are remembered, a scan leases the oldest messages of lanes that are not saturated", async () => {
  const domain = fc.constantFrom("a.test", "b.test", "c.test");
  const scan = fc.record({
    saturated: fc.subarray(["a.test", "b.test", "c.test"]),
    limit: fc.integer({ min: 1, max: 12 }),
    pauseMs: fc.constantFrom(0, KEPT_MS),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(domain, { maxLength: 40 }),
      fc.array(scan, { minLength: 2, maxLength: 6 }),
      async (domains, scans) => {
        await db.run(sql`truncate delivery_queue, messages`);
        cursor = new QueueCursor(0, clock);
        await wait(domains);
        let waiting = domains.map((domain, at) => ({ domain, place: at + 1 }));
        for (const { saturated, limit, pauseMs } of scans) {
          time += pauseMs;
          const next = waiting.filter((mail) => !saturated.includes(mail.domain)).slice(0, limit);
          const leased = await lease({ saturated, limit });
          const places = leased.map(({ localpart }) => Number(localpart)).toSorted((a, b) => a - b);
          expect(places).toEqual(next.map(({ place }) => place));
          waiting = waiting.filter((mail) => !next.includes(mail));
        }
      },
    ),
    { numRuns: 30 },
  );
});
