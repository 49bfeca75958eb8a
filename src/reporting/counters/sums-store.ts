/** What reads of the counters have in common: sums of counters and notes, and pages of them. */
import sql, { empty, raw, type Sql } from "sql-template-tag";
import { type Counts, columnsSql, counters, sumsSql } from "#messages/counters/counters.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Counters and notes of a workspace, by the columns `keys`. */
export function countersAndDeltasSql(
  workspaceId: WorkspaceId,
  table: "report_origins" | "report_sender_days" | "report_ip_days",
  {
    keys,
    columns = counters,
    where = empty,
    whereNotes = where,
  }: {
    readonly keys: readonly string[];
    readonly columns?: readonly string[];
    /** Begins with `and`. */
    readonly where?: Sql;
    readonly whereNotes?: Sql;
  },
): Sql {
  const kind = table === "report_ip_days" ? sql`source_ip is not null` : sql`source_ip is null`;
  const read = columnsSql([...keys, ...columns]);
  return sql`(
    select ${read} from ${raw(table)} where workspace_id = ${workspaceId} ${where}
    union all
    select ${read} from report_notes where workspace_id = ${workspaceId} and ${kind} ${whereNotes}) counted`;
}

/** All of it added up. */
export async function totalSums(db: Queryable, counted: Sql): Promise<Counts> {
  const total = await db.row<Counts>(sql`select ${sumsSql(counters)} from ${counted}`);
  if (total === undefined) throw new Error("no row");
  return total;
}

/** A page of what is counted, added up by `key`. Behind the last page there is the total alone. */
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
