/** The table of notices that people have dismissed. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface Dismissal {
  readonly workspace_id: WorkspaceId;
  readonly notice_id: string;
  readonly dismissed_at: Date;
  /** Name of the API key or person. */
  readonly dismissed_by: string;
}

/** Rows older than this are deleted with the next dismissal: a cause that lasts longer is shown again. */
const KEPT_DAYS = 365;

/** The dismissals of these notices. */
export function listDismissals(
  db: Queryable,
  notices: readonly { readonly workspaceId: WorkspaceId; readonly id: string }[],
): Promise<Dismissal[]> {
  return db.rows(
    sql`
    select workspace_id, notice_id, dismissed_at, dismissed_by
    from unnest(${notices.map((one) => one.workspaceId)}::uuid[], ${notices.map((one) => one.id)}::uuid[])
      as n (workspace_id, notice_id)
    join notice_dismissals using (workspace_id, notice_id)`,
    "notices dismissals",
  );
}

/** Dismisses a notice. @returns the first dismissal, if it is dismissed already */
export async function insertDismissal(
  tx: Queryable,
  workspaceId: WorkspaceId,
  noticeId: string,
  { by, now }: { readonly by: string; readonly now: Date },
): Promise<Pick<Dismissal, "dismissed_at" | "dismissed_by">> {
  await tx.run(sql`
    delete from notice_dismissals
    where workspace_id = ${workspaceId} and dismissed_at < ${now}::timestamptz - make_interval(days => ${KEPT_DAYS})`);
  const row = await tx.row<Pick<Dismissal, "dismissed_at" | "dismissed_by">>(sql`
    insert into notice_dismissals (workspace_id, notice_id, dismissed_at, dismissed_by)
    values (${workspaceId}, ${noticeId}, ${now}, ${by})
    on conflict (workspace_id, notice_id) do update set notice_id = excluded.notice_id
    returning dismissed_at, dismissed_by`);
  return row ?? { dismissed_at: now, dismissed_by: by };
}

export async function removeDismissal(
  tx: Queryable,
  workspaceId: WorkspaceId,
  noticeId: string,
): Promise<void> {
  await tx.run(sql`
    delete from notice_dismissals where workspace_id = ${workspaceId} and notice_id = ${noticeId}`);
}
