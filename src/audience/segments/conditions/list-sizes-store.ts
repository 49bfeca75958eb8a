/** Sizes of lists, and which lists are small enough to look up their members one by one. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Bytes of a row of subscribers. */
const ROW_BYTES = 380;
/** Rows of the table that can be read in the time of one look-up of a person (3 µs). */
const READ_PER_LOOKUP = 25;
/** People of a workspace that can be read by an index in that time. */
const WALKED_PER_LOOKUP = 6;
/** Lists up to this size are always looked up one by one: with outdated statistics the planner may scan the table. */
const FEW = 200;

/** Members of these lists, of any status. */
export async function listSizes(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.rows<{ id: string; members: number }>(sql`
    select mailing_list_id as id, active + unsubscribed + bounced + complained as members from list_counters
    where workspace_id = ${workspaceId} and mailing_list_id = any(${mailingListIds}::uuid[])`);
  return new Map(rows.map(({ id, members }) => [id, members]));
}

/**
 * The lists whose members are found faster one by one than by scanning all people. The number of people of the
 * installation is estimated from the size of the table, because statistics may be missing.
 */
export async function listSparse(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const sizes = await listSizes(db, workspaceId, mailingListIds);
  const people = await db.row<{ here: number; bytes: number }>(sql`
    select coalesce((
      select active + unsubscribed + bounced + complained from subscriber_counters where workspace_id = ${workspaceId}
    ), 0) as here, pg_relation_size('subscribers') as bytes`);
  if (people === undefined) return new Set();
  const everywhere = people.bytes / ROW_BYTES;
  const most = Math.min(everywhere / READ_PER_LOOKUP, Math.max(people.here / WALKED_PER_LOOKUP, FEW));
  return new Set(mailingListIds.filter((id) => (sizes.get(id) ?? 0) < most));
}
