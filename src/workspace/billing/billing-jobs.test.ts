import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { billingTasks } from "./billing-jobs.ts";
import { plans } from "./plans.ts";

const db = await testDatabase();
const clock = stubClock();
const workspaceId = await insertBareWorkspace(db);

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
      await task?.run({ signal, log: createLog("silent") });
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
