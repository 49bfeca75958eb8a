/**
 * Who was removed, by address. A person who is added again has a new id, and by ids alone whoever goes through people would
 * take them for somebody who has not had their turn.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** For the statement that removes them. @param gone their rows, with email and id */
export const noteRemovedSql = (workspaceId: WorkspaceId, gone: Sql): Sql => sql`
  insert into removed_people (workspace_id, email, subscriber_id) select ${workspaceId}, email, id from ${gone} g`;

/**
 * The rows of `people` whose address belonged to somebody who was removed, one row for each of these: subscriber_id, and
 * the id that the address had (`former_id`). `people` has workspace_id, subscriber_id and address. Where nobody was removed,
 * which is nearly always, nobody is looked up.
 */
export const cameBackSql = (workspaceId: WorkspaceId, people: Sql): Sql => sql`
  select p.subscriber_id, f.former_id
  from ${people} p cross join lateral (
    select subscriber_id as former_id from removed_people
    where workspace_id = p.workspace_id and email = p.address offset 0) f
  where exists (select from removed_people where workspace_id = ${workspaceId})`;

/**
 * Forgets at most `most`; says how many went. One statement: what it sees of somebody's removal was over before anything
 * began that `kept` does not show it, and whoever begins later does not meet them.
 * @param kept a select of the workspaces where people are gone through
 */
export function forgetRemoved(db: Queryable, kept: Sql, most: number): Promise<number> {
  return db.run(sql`
    delete from removed_people where ctid = any (array(
      select ctid from removed_people where workspace_id <> all (array(${kept})) limit ${most}))`);
}
