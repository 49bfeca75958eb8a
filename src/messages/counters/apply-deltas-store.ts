/** Applies counter deltas (report_notes) to the report counters. */
import sql, { join, raw, type Sql } from "sql-template-tag";
import { storedStatuses } from "#messages/message/status.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { columnsSql, counters, sumsSql } from "./counters.ts";
import { DAY, EIGHTH, WEEK } from "./deltas-store.ts";

/** Deltas in one statement. It takes a fraction of a second, for which it locks the rows of the counters. */
const BATCH = 10_000;

/** The recurring task. Reports do not wait for it: they add up the counters and the deltas that are left. */
export function applyCounterDeltas(db: Database): Recurring {
  return {
    name: "fold-report-counters",
    seconds: 2,
    async run({ signal }) {
      while (!signal.aborted && (await applyDeltas(db, BATCH)) === BATCH);
    },
  };
}

/**
 * Part of the statement: adds the deltas to one table, summed by its keys. Rows are locked in the order of their keys,
 * so that concurrent calls do not deadlock.
 */
function addTo(
  table: string,
  {
    keys,
    values = keys,
    columns,
    of,
  }: {
    readonly keys: readonly string[];
    /** The expressions of the keys. */
    readonly values?: readonly string[];
    readonly columns: readonly string[];
    readonly of: Sql;
  },
): Sql {
  const positions = columnsSql([...keys.keys()].map((at) => String(at + 1)));
  const added = join(
    columns.map((column) => sql`${raw(column)} = k.${raw(column)} + excluded.${raw(column)}`),
  );
  return sql`
    insert into ${raw(table)} as k (${columnsSql(keys)}, ${columnsSql(columns)})
    select ${columnsSql(values)}, ${sumsSql(columns)} from taken where ${of}
    group by ${positions} order by ${positions}
    on conflict (${columnsSql(keys)}) do update set ${added}`;
}

const ofMessages = sql`source_ip is null`;

const byDay = (table: string, key: string) =>
  addTo(table, {
    keys: ["workspace_id", "day", key],
    values: ["workspace_id", DAY, key],
    columns: counters,
    of: ofMessages,
  });

/**
 * Applies up to `most` deltas in one statement. Concurrent calls never apply the same delta.
 * @returns how many were applied
 */
export async function applyDeltas(db: Queryable, most: number): Promise<number> {
  const [row] = await db.rows<{ applied: number }>(
    sql`
    with taken as materialized (
      delete from report_notes
      where ctid = any (array(select ctid from report_notes limit ${most} for update skip locked))
      returning *, hard_bounces + soft_bounces + block_bounces as bounces
    ), quarters as (${addTo("report_quarters", {
      keys: ["workspace_id", "quarter", "source"],
      columns: counters,
      of: ofMessages,
    })}
    ), eighths as (${addTo("report_eighths", {
      keys: ["workspace_id", "eighth", "source"],
      values: ["workspace_id", EIGHTH, "source"],
      columns: counters,
      of: ofMessages,
    })}
    ), origins as (${addTo("report_origins", {
      keys: ["workspace_id", "source", "origin_id"],
      columns: counters,
      of: ofMessages,
    })}
    ), domains as (${byDay("report_domain_days", "domain")}
    ), weeks as (${addTo("report_domain_weeks", {
      keys: ["workspace_id", "week", "domain"],
      values: ["workspace_id", WEEK, "domain"],
      columns: counters,
      of: ofMessages,
    })}
    ), senders as (${byDay("report_sender_days", "from_domain")}
    ), ips as (${addTo("report_ip_days", {
      keys: ["workspace_id", "day", "source_ip"],
      values: ["workspace_id", DAY, "source_ip"],
      columns: storedStatuses,
      of: sql`source_ip is not null`,
    })}
    ), categories as (${addTo("report_category_days", {
      keys: ["workspace_id", "day", "bounce_type", "category"],
      values: ["workspace_id", DAY, "bounce_type", "category"],
      columns: ["bounces"],
      of: sql`category is not null`,
    })}
    )
    select count(*)::int as applied from taken`,
    "apply counter deltas",
  );
  return row?.applied ?? 0;
}
