/** Which workspaces have mail that is due and not taken, for the notice that no process delivers. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface DueMail {
  readonly workspace_id: WorkspaceId;
  /** When the longest waiting message became due. */
  readonly since: Date;
}

/**
 * Of the given workspaces, those with a message that has been due for at least `minutes`. Suspended workspaces and messages of
 * the `paused` campaigns and autoresponders do not count. A loose index scan with one step for each line of a workspace
 * (open-lines-store.ts), however many messages wait.
 */
export function listDueMail(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  { paused, minutes }: { readonly paused: readonly string[]; readonly minutes: number },
): Promise<DueMail[]> {
  return db.rows(
    sql`
    with recursive line as (
      select w.id as workspace_id, p.priority, next.campaign_id
      from workspaces w
      cross join (values (0::smallint), (1::smallint)) p (priority)
      cross join lateral (
        select q.campaign_id from delivery_queue q
        where q.priority = p.priority and q.workspace_id = w.id
        order by q.campaign_id limit 1) next
      where w.id = any (${[...workspaceIds]}::uuid[]) and not w.is_suspended
      union all
      select line.workspace_id, line.priority, next.campaign_id
      from line cross join lateral (
        select q.campaign_id from delivery_queue q
        where q.priority = line.priority and q.workspace_id = line.workspace_id and q.campaign_id > line.campaign_id
        order by q.campaign_id limit 1) next
    )
    select line.workspace_id, min(first.due_at) as since
    from line cross join lateral (
      select q.due_at from delivery_queue q
      where q.priority = line.priority and q.workspace_id = line.workspace_id and q.campaign_id = line.campaign_id
      order by q.due_at limit 1) first
    where line.campaign_id <> all (${[...paused]}::uuid[])
    group by line.workspace_id
    having min(first.due_at) < now() - make_interval(mins => ${minutes})`,
    "due mail of workspaces",
  );
}
