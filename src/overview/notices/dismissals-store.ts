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
/** A workspace that has dismissed more in the last year sees the oldest again. */
const MOST_READ = 2_000;

export function listDismissals(db: Queryable, workspaceIds: readonly WorkspaceId[]): Promise<Dismissal[]> {
  return db.rows(
    sql`
    select w.workspace_id, d.* from unnest(${[...workspaceIds]}::uuid[]) as w (workspace_id)
    cross join lateral (
      select notice_id, dismissed_at, dismissed_by from notice_dismissals d
      where d.workspace_id = w.workspace_id order by dismissed_at desc limit ${MOST_READ}) d`,
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
