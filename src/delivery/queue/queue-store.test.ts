import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { countQueue } from "./queue-store.ts";

const db = await testDatabase();

beforeEach(() => db.run(sql`truncate delivery_queue`));

async function fill(count: number, leased: number) {
  await db.run(sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, due_at, leased_by)
    select ${newId()}, gen_random_uuid(), 1, 'example.test', 100, now(), now(),
      case when n <= ${leased} then ${newId()}::uuid end
    from generate_series(1, ${count}::integer) n`);
}

test("a queue of some thousands is counted", async () => {
  expect(await countQueue(db)).toEqual({ waiting: 0, leased: 0 });
  await fill(5_000, 1_200);
  expect(await countQueue(db)).toEqual({ waiting: 3_800, leased: 1_200 });
});

test("a long queue is estimated, and at most 10,000 of its rows are read", async () => {
  await fill(40_000, 2_000);
  // Each connection of the pool reports its inserts to the statistics when it is next idle.
  const isEstimated = async () => {
    await db.run(sql`analyze delivery_queue`);
    const { waiting, leased } = await countQueue(db);
    return leased === 2_000 && waiting > 36_000 && waiting < 40_000;
  };
  await eventually("the statistics to follow", isEstimated);
  const read = await db.transaction(async (tx) => {
    const before = await rowsRead(tx);
    await countQueue(tx);
    return (await rowsRead(tx)) - before;
  });
  expect(read).toBeLessThanOrEqual(10_000);
});

/** Rows of the queue that this connection has read and not yet reported to PostgreSQL's statistics. */
async function rowsRead(tx: Queryable): Promise<number> {
  const read = await tx.row<{ rows: number }>(sql`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as rows from pg_stat_xact_user_tables
    where relid = 'delivery_queue'::regclass`);
  return read?.rows ?? 0;
}
