import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { resultOfSmtp } from "./decide-result.ts";
import { PLANNER_SETTINGS } from "./queue-store.ts";
import { settleLeases } from "./settle-leases-store.ts";

const db = await testDatabase();
const delivery = createDatabase(db.url, {
  size: 1,
  name: "test",
  onError: () => {},
  settings: PLANNER_SETTINGS,
});
afterAll(() => delivery.close());

const MAILS = 2_000;
const workspaceId = asWorkspaceId(newId());
const order = leaseOrder();
const accepted = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;

/** Leases and delivers a batch; resolves to the number of messages and of rows read by sequential scans. */
const deliverBatch = () =>
  delivery.transaction(async (tx) => {
    const messages = await leaseMessages(tx, order);
    const conclusions = messages.map((message) =>
      resultOfSmtp(message, { result: accepted, mxHost: "mx.example.test" }, new Date(), 0),
    );
    await settleLeases(
      tx,
      conclusions.map(({ settlement }) => settlement),
    );
    await recordOutcomes(
      tx,
      conclusions.flatMap(({ outcome }) => outcome ?? []),
      nobodyElse,
    );
    const read = await tx.row<{ rows: number }>(sql`
      select sum(seq_tup_read)::integer as rows from pg_stat_xact_user_tables
      where relname like 'message%' or relname = 'delivery_queue'`);
    return { messages: messages.length, rows: read?.rows };
  });

test("a delivery process started with an empty queue scans no whole table when the queue has filled", async () => {
  await db.run(sql`insert into workspaces (id, name, created_at) values (${workspaceId}, 'Test', now())`);
  const mail = () => Array.from({ length: 10 }, (_, at) => draft(workspaceId, `reader${at}@example.test`));
  await insertDrafts(db, mail());
  expect(await deliverBatch()).toMatchObject({ messages: 10 });
  for (let waiting = 0; waiting < MAILS; waiting += 10) await insertDrafts(db, mail());
  expect(await deliverBatch()).toEqual({ messages: 10, rows: 0 });
});

test("a named statement is planned once per connection", async () => {
  for (let times = 0; times < 6; times++) await deliverBatch();
  expect(
    await delivery.rows(sql`
      select name, custom_plans as "plannedAnew" from pg_prepared_statements order by name`),
  ).toEqual(
    ["lease messages", "list open lines", "record outcomes", "settle leases"].map((name) => ({
      name,
      plannedAnew: 0,
    })),
  );
});
