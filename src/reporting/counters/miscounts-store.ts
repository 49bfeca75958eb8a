/**
 * Recounts all report counters from the message log and lists the differences, for `posthaste doctor --counters` and
 * tests. It reads the whole log (193 s for ten million messages). Counters outlive the messages they counted: after
 * messages have been removed from the log, what was accepted up to the day of the oldest remaining message is not
 * compared, nor are counters of all time.
 */
import sql, { join, raw, type Sql } from "sql-template-tag";
import {
  columnsSql,
  counters,
  engagementCounters,
  eventCounters,
  sumsSql,
} from "#messages/counters/counters.ts";
import { countedKeysSql, DAY, EIGHTH, quarterOf, WEEK } from "#messages/counters/deltas-store.ts";
import { storedStatuses } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";

export interface ReportMiscount {
  readonly workspace_id: string;
  readonly counter_of: string;
  readonly counter: string;
  readonly kept: number;
  readonly counted: number;
}

/** The counter tables, with their keys and columns. */
const tables: readonly {
  readonly name: string;
  readonly keys: readonly string[];
  /** The keys as expressions over report_notes and facts; default: the keys. */
  readonly keyValues?: readonly string[];
  readonly columns: readonly string[];
  /** Whether its keys contain the time of acceptance. */
  readonly isByTime: boolean;
}[] = [
  { name: "report_quarters", keys: ["quarter", "source"], columns: counters, isByTime: true },
  {
    name: "report_eighths",
    keys: ["eighth", "source"],
    keyValues: [EIGHTH, "source"],
    columns: counters,
    isByTime: true,
  },
  { name: "report_origins", keys: ["source", "origin_id"], columns: counters, isByTime: false },
  {
    name: "report_domain_days",
    keys: ["day", "domain"],
    keyValues: [DAY, "domain"],
    columns: counters,
    isByTime: true,
  },
  {
    name: "report_domain_weeks",
    keys: ["week", "domain"],
    keyValues: [WEEK, "domain"],
    columns: counters,
    isByTime: true,
  },
  {
    name: "report_sender_days",
    keys: ["day", "from_domain"],
    keyValues: [DAY, "from_domain"],
    // Records of bounces and complaints do not contain the sender of a removed message.
    columns: [...storedStatuses, ...engagementCounters],
    isByTime: true,
  },
  {
    name: "report_ip_days",
    keys: ["day", "source_ip"],
    keyValues: [DAY, "source_ip"],
    columns: storedStatuses,
    isByTime: true,
  },
  {
    name: "report_category_days",
    keys: ["day", "bounce_type", "category"],
    keyValues: [DAY, "bounce_type", "category"],
    columns: ["bounces"],
    isByTime: true,
  },
];

const rowFilter: Readonly<Record<string, Sql>> = {
  report_ip_days: sql`source_ip is not null`,
  report_category_days: sql`category is not null`,
};
const isOf = (name: string) => rowFilter[name] ?? sql`source_ip is null`;

const noStatus = join(storedStatuses.map(() => sql`0`));
const noEngagement = join(engagementCounters.map(() => sql`0`));
const noEvent = join(eventCounters.map(() => sql`0`));

const done = (type: string) => sql`case when e.type = ${type} then coalesce(e.times, 1) else 0 end`;
const did = (type: string) =>
  sql`(e.type = ${type} and row_number() over (partition by e.workspace_id, e.message_id, e.type) = 1)::int`;

/** Whether it is the first open or click of its message. */
const isFirstSign = sql`(e.type in ('opened', 'clicked') and row_number() over (
  partition by e.workspace_id, e.message_id, e.type in ('opened', 'clicked')) = 1)::int`;

/** Keys by which facts are summed first, so that each table is recounted from few rows. */
const keys = raw(
  "workspace_id, quarter, source, origin_id, domain, from_domain, source_ip, bounce_type, category",
);

/** One row for each thing in the log, with the deltas that it should have caused. */
const facts = sql`
  select workspace_id, quarter, source, counted_origin_id as origin_id, domain, from_domain, null::inet as source_ip,
    null as bounce_type, null as category,
    ${join(storedStatuses.map((status) => sql`(status = ${status})::int as ${raw(status)}`))},
    ${join(engagementCounters.map((counter) => sql`0 as ${raw(counter)}`))},
    ${join(eventCounters.map((counter) => sql`0 as ${raw(counter)}`))}, 0 as bounces
  from mail
  union all
  select workspace_id, quarter, null, null, null, null, source_ip, null, null,
    ${join(storedStatuses.map((status) => sql`(status = ${status})::int`))}, ${noEngagement}, ${noEvent}, 0
  from mail where source_ip is not null
  union all
  select m.workspace_id, quarter, source, counted_origin_id, domain, from_domain, null, null, null, ${noStatus},
    ${isFirstSign}, ${did("clicked")}, ${done("opened")}, ${done("clicked")}, ${done("machine_opened")},
    ${done("machine_clicked")}, ${done("unsubscribed")}, ${noEvent}, 0
  from message_events e join mail m on m.workspace_id = e.workspace_id and m.id = e.message_id
  where e.type in ('opened', 'clicked', 'machine_opened', 'machine_clicked', 'unsubscribed')
  union all
  select b.workspace_id, ${quarterOf(sql`b.created_at`)}, b.source, m.counted_origin_id, b.domain, m.from_domain, null,
    b.bounce_type, b.category, ${noStatus}, ${noEngagement}, (b.bounce_type = 'hard')::int,
    (b.bounce_type = 'soft')::int, (b.bounce_type = 'block')::int, 0, 1
  from bounces b left join mail m on m.workspace_id = b.workspace_id and m.id = b.message_id
  union all
  select c.workspace_id, ${quarterOf(sql`c.created_at`)}, c.source, m.counted_origin_id, c.domain, m.from_domain, null,
    null, null, ${noStatus}, ${noEngagement}, 0, 0, 0, 1, 0
  from complaints c left join mail m on m.workspace_id = c.workspace_id and m.id = c.message_id`;

const differences = tables.map(({ name, keys, keyValues = keys, columns, isByTime }) => {
  const all = columnsSql(["workspace_id", ...keys]);
  const key = join(keys.map((one) => sql`${raw(one)}::text`));
  const deltaColumns = columns.map((column) =>
    column === "bounces" ? "hard_bounces + soft_bounces + block_bounces" : column,
  );
  const since = isByTime ? sql`${raw(keys[0] ?? "")} >= since` : sql`since = '-infinity'`;
  return sql`
    select workspace_id, ${name} || ' ' || concat_ws(' ', ${key}) as counter_of, v.*
    from (
      select ${all}, ${sumsSql(columns)} from (
        select ${columnsSql(["workspace_id", ...keys, ...columns])} from ${raw(name)}
        union all
        select ${columnsSql(["workspace_id", ...keyValues, ...deltaColumns])} from report_notes where ${isOf(name)}) counters
      group by ${all}) k
    full join (
      select workspace_id, ${join(keyValues.map((value, at) => sql`${raw(value)} as ${raw(keys[at] ?? value)}`))},
        ${sumsSql(columns)}
      from facts where ${isOf(name)} group by workspace_id, ${columnsSql(keyValues)}) c using (${all})
    cross join log
    cross join lateral (values ${join(
      columns.map((column) => sql`(${column}, coalesce(k.${raw(column)}, 0), coalesce(c.${raw(column)}, 0))`),
    )}) v (counter, kept, counted)
    where v.kept <> v.counted and ${since}`;
});

/**
 * The time from which the log is complete, when the oldest message is in this quarter-hour; '-infinity' when no message
 * was removed.
 */
export const logSince = (oldest: Sql): Sql => sql`
  case when exists (
      select from report_quarters q
      where (${oldest} is null or q.quarter < ${oldest}) and ${join(
        storedStatuses.map((status) => raw(status)),
        " + ",
      )} > 0)
    then coalesce(date_trunc('day', ${oldest}, 'UTC') + interval '1 day', 'infinity') else '-infinity' end`;

/** At most 1,000 differences. One statement, so that counters and log are read at the same moment. */
export function findReportMiscounts(db: Queryable): Promise<ReportMiscount[]> {
  return db.rows(sql`
    with mail as materialized (
      ${countedKeysSql(sql`messages`)}
    ), oldest as materialized (
      select min(quarter) as quarter from mail
    ), log as materialized (
      select ${logSince(sql`o.quarter`)} as since from oldest o
    ), facts as materialized (
      select ${keys}, ${sumsSql([...counters, "bounces"])} from (${facts}) f group by ${keys}
    )
    ${join(differences, " union all ")}
    limit 1000`);
}
