/** SQL that deletes received mail, and takes its octets off the storage of its workspace. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Deletes the mails of a condition. @returns how many */
async function removeWhere(db: Queryable, condition: Sql): Promise<number> {
  const row = await db.row<{ removed: number }>(sql`
    with removed as (delete from received_emails where ${condition} returning workspace_id, bytes),
    freed as (
      update received_storage s set bytes = greatest(s.bytes - r.bytes, 0)
      from (select workspace_id, sum(bytes) as bytes from removed group by workspace_id) r
      where s.workspace_id = r.workspace_id)
    select count(*) as removed from removed`);
  return row?.removed ?? 0;
}

/** False when there is no such mail. */
export async function removeReceivedEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  return (await removeWhere(db, sql`workspace_id = ${workspaceId} and id = ${id}`)) > 0;
}

/** Removes up to `most` mails that arrived before this time. @returns how many */
export function removeOldReceived(db: Queryable, before: Date, most: number): Promise<number> {
  return removeWhere(
    db,
    sql`ctid = any(array(
      select ctid from received_emails where received_at < ${before} order by received_at limit ${most}))`,
  );
}

/** Removes up to `most` mails that a person has sent, by their From field or envelope. @returns how many */
export function removeReceivedFrom(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string,
  most: number,
): Promise<number> {
  return removeWhere(
    db,
    sql`workspace_id = ${workspaceId} and id = any(array(
      select id from received_emails
      where workspace_id = ${workspaceId} and (from_email = lower(${email}) or lower(mail_from) = lower(${email}))
      limit ${most}))`,
  );
}
