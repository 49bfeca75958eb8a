/** Sums of counters and of the deltas that are not applied yet, and pages of them. */
import sql, { empty, raw, type Sql } from "sql-template-tag";
import { type Counts, columnsSql, counters, sumsSql } from "#messages/counters/counters.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** A relation of the counters and deltas of a workspace, by the columns `keys`. */
export function countersAndDeltasSql(
  workspaceId: WorkspaceId,
  table: "report_origins" | "report_sender_days" | "report_ip_days",
  {
    keys,
    columns = counters,
    where = empty,
    whereDeltas = where,
  }: {
    readonly keys: readonly string[];
    readonly columns?: readonly string[];
    /** Begins with `and`. */
    readonly where?: Sql;
    readonly whereDeltas?: Sql;
  },
): Sql {
  const kind = table === "report_ip_days" ? sql`source_ip is not null` : sql`source_ip is null`;
  const read = columnsSql([...keys, ...columns]);
  return sql`(
    select ${read} from ${raw(table)} where workspace_id = ${workspaceId} ${where}
    union all
    select ${read} from report_notes where workspace_id = ${workspaceId} and ${kind} ${whereDeltas}) counted`;
}

/** The sums over a relation of counters. */
export async function totalSums(db: Queryable, counted: Sql): Promise<Counts> {
  const total = await db.row<Counts>(sql`select ${sumsSql(counters)} from ${counted}`);
  if (total === undefined) throw new Error("no row");
  return total;
}

/** A page of a relation of counters, summed by `key`. Beyond the last page only the total is returned. */
export async function pageOfSums<Row extends object>(
  db: Queryable,
  key: string,
  counted: Sql,
  {
    page: { offset, limit },
    order,
    columns = counters,
    having = empty,
  }: {
    readonly page: Page;
    readonly order: Sql;
    readonly columns?: readonly string[];
    readonly having?: Sql;
  },
): Promise<Paged<Row>> {
  const found = await db.rows<{ readonly total: number; readonly row: Row | null }>(sql`
    with grouped as (
      select ${raw(key)}, ${sumsSql(columns)}, row_number() over (order by ${order}) as position
      from ${counted} group by ${raw(key)} ${having}
    ), sized as (select count(*) as total from grouped)
    select total, to_jsonb(grouped) - 'position' as row
    from sized left join grouped on position > ${offset} and position <= ${offset + limit}
    order by position`);
  return {
    total: found[0]?.total ?? 0,
    rows: found.flatMap(({ row }) => row ?? []),
  };
}
