/** Reads the records of bounces and complaints, which messages/record-outcomes.ts writes. */
import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { Classification } from "#messages/message/outcome.ts";
import type { MessageSource } from "#messages/message/status.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

interface Recorded {
  readonly id: string;
  readonly message_id: string;
  readonly email: string;
  readonly domain: string;
  readonly source: MessageSource;
  readonly campaign_id: string | null;
  readonly origin_name: string;
  readonly created_at: Date;
}

export interface BounceRow extends Recorded {
  readonly bounce_type: Classification["type"];
  readonly category: Classification["category"];
  readonly smtp_code: number | null;
  readonly enhanced_code: string | null;
  readonly error_message: string;
}

export interface ComplaintRow extends Recorded {
  readonly feedback_type: string;
  readonly provider: string | null;
}

/** Columns that rows must have these values in, and when they happened. */
export interface RecordFilter<Column extends string> {
  readonly equal: Readonly<Partial<Record<Column, string | number | undefined>>>;
  /** At this time or later. */
  readonly from: Date | undefined;
  /** Before this time. */
  readonly to: Date | undefined;
}

type OfBoth = "domain" | "campaign_id";
export type BounceFilter = RecordFilter<OfBoth | "bounce_type" | "category" | "smtp_code">;
export type ComplaintFilter = RecordFilter<OfBoth | "feedback_type">;

/** Filtered rows are counted up to this. */
export const MOST_RECORDS_COUNTED = 10_000;

/** Newest first. */
export function listBounces(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: BounceFilter,
  page: Page,
): Promise<BounceRow[]> {
  return db.rows(sql`
    select b.id, b.message_id, b.localpart || '@' || b.domain as email, b.domain, b.bounce_type, b.category, b.smtp_code,
      b.enhanced_code, b.error_message, b.source, b.campaign_id, b.origin_name, b.created_at
    from (${pageSql(sql`bounces`, workspaceId, filter, page)}) page
    join bounces b on b.workspace_id = page.workspace_id and b.id = page.id
    order by b.created_at desc, b.id desc`);
}

/** Newest first. */
export function listComplaints(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: ComplaintFilter,
  page: Page,
): Promise<ComplaintRow[]> {
  return db.rows(sql`
    select c.id, c.message_id, c.localpart || '@' || c.domain as email, c.domain, c.feedback_type, c.provider, c.source,
      c.campaign_id, c.origin_name, c.created_at
    from (${pageSql(sql`complaints`, workspaceId, filter, page)}) page
    join complaints c on c.workspace_id = page.workspace_id and c.id = page.id
    order by c.created_at desc, c.id desc`);
}

/** Counts up to MOST_RECORDS_COUNTED + 1. */
export async function countBounces(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: BounceFilter,
): Promise<number> {
  return countOf(db, sql`from bounces where workspace_id = ${workspaceId} ${matching(filter)}`);
}

/** Counts up to MOST_RECORDS_COUNTED + 1. */
export async function countComplaints(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: ComplaintFilter,
): Promise<number> {
  return countOf(db, sql`from complaints where workspace_id = ${workspaceId} ${matching(filter)}`);
}

async function countOf(db: Queryable, rows: Sql): Promise<number> {
  const counted = await db.row<{ total: number }>(sql`
    select count(*)::int as total from (select ${rows} limit ${MOST_RECORDS_COUNTED + 1}) matching`);
  return counted?.total ?? 0;
}

/** The keys of a page. An offset is skipped in the index, without reading the rows. */
function pageSql(
  table: Sql,
  workspaceId: WorkspaceId,
  filter: RecordFilter<string>,
  { limit, offset, after, afterKey }: Page,
): Sql {
  const behind =
    after === undefined ? empty : sql`and (created_at, id) < (${afterKey}::timestamptz, ${after}::uuid)`;
  return sql`
    select workspace_id, id from ${table} where workspace_id = ${workspaceId} ${matching(filter)} ${behind}
    order by created_at desc, id desc limit ${limit} offset ${offset}`;
}

function matching({ equal, from, to }: RecordFilter<string>): Sql {
  const columns = Object.entries(equal).filter(([, value]) => value !== undefined);
  return [
    // The names are those of the types above.
    ...columns.map(([column, value]) => sql`and ${raw(column)} = ${value}`),
    ...(from === undefined ? [] : [sql`and created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`and created_at < ${to}`]),
  ].reduce((all, condition) => sql`${all} ${condition}`, empty);
}
