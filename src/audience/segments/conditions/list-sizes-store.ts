/** How many members lists have, and which lists have few. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** What a row of subscribers takes. */
const ROW_BYTES = 400;
/** To look one person up takes as long (3 µs) as to read so many rows of the table, */
const READ_PER_LOOKUP = 25;
/** and so many of a workspace by an index. */
const WALKED_PER_LOOKUP = 6;
/** These are looked up even so: statistics that are not of today may have the table read for a small workspace. */
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
 * Those of these lists whose members are found sooner one by one than among all people. How many people the installation
 * has is told by the size of the table: there need not be statistics yet.
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
