import fc from "fast-check";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { MINUTE_MS } from "#platform/time-units.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { applyDeltas } from "./apply-deltas-store.ts";
import { countedByTimeSql, dayStartsSql } from "./by-time-store.ts";

const db = await testDatabase();
/** Clocks change within the forty days that follow: in New York, and on Lord Howe Island by half an hour. */
const begin = Date.UTC(2026, 9, 1);
const zones = [
  "UTC",
  "America/New_York",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Pacific/Chatham",
  "Australia/Lord_Howe",
  "America/Asuncion",
];
const minute = fc.integer({ min: 0, max: 40 * 1_440 });

test("days of any time zone, of any span, are those of its quarter-hours", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const other = await insertBareWorkspace(db);
  const note = (owner: string, step: number) =>
    db.run(sql`
      insert into report_notes (workspace_id, quarter, source, origin_id, domain, from_domain, delivered, complaints)
      select ${owner}, to_timestamp(${begin / 1_000}) + at * ${step}::int * interval '15 minutes', source, ${workspaceId},
        'a.test', 'b.test', at % 7, at % 2
      from generate_series(0, ${Math.floor(3_840 / step)}::int) at, unnest(array['api', 'smtp']) source`);
  await note(workspaceId, 1);
  await note(other, 5);
  await applyDeltas(db, 6_000);
  await fc.assert(
    fc.asyncProperty(minute, minute, fc.constantFrom(...zones), async (one, two, zone) => {
      const from = new Date(begin + Math.min(one, two) * MINUTE_MS);
      const to = new Date(begin + Math.max(one, two) * MINUTE_MS);
      const byDay = (relation: ReturnType<typeof sql>) =>
        db.rows(sql`
          select (time at time zone ${zone})::date::text as day, source, sum(delivered)::int as delivered,
            sum(complaints)::int as complaints
          from ${relation} group by 1, 2 order by 1, 2`);
      const quarters = sql`(
        select quarter as time, source, delivered, complaints from report_quarters where workspace_id = ${workspaceId}
        union all
        select quarter, source, delivered, complaints from report_notes where workspace_id = ${workspaceId}) every`;
      const inSpan = sql`(
        select * from ${quarters}
        where time > ${from}::timestamptz - interval '15 minutes'
          and time <= ${to}::timestamptz - interval '15 minutes') every`;
      const cuts = dayStartsSql(zone, from, to);
      expect(await byDay(countedByTimeSql(workspaceId, { from, to }, { cuts }))).toEqual(await byDay(inSpan));
    }),
    { numRuns: 60 },
  );
});
