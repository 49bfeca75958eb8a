/**
 * People who were deleted while a campaign prepares its audience, by address. A person who is added again gets a new id;
 * without these rows the campaign would take them for people it has not reached yet.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** An insert for the statement that deletes people. @param gone the deleted rows, with email and id */
export const noteRemovedSql = (workspaceId: WorkspaceId, gone: Sql): Sql => sql`
  insert into removed_people (workspace_id, email, subscriber_id) select ${workspaceId}, email, id from ${gone} g`;

/**
 * The rows of `people` whose address belonged to a deleted person, one row for each deletion: subscriber_id, and the former
 * id of the address (`former_id`). If no one was deleted, which is nearly always the case, nothing is looked up.
 * @param people a relation with workspace_id, subscriber_id and address
 */
export const cameBackSql = (workspaceId: WorkspaceId, people: Sql): Sql => sql`
  select p.subscriber_id, f.former_id
  from ${people} p cross join lateral (
    select subscriber_id as former_id from removed_people
    where workspace_id = p.workspace_id and email = p.address offset 0) f
  where exists (select from removed_people where workspace_id = ${workspaceId})`;

/**
 * Deletes at most `most` rows of other workspaces than those in `kept`. It is one statement, so that its snapshot is
 * consistent: a preparation that `kept` does not show starts later and does not meet the people whose deletion it sees.
 * @param kept a select of the ids of the workspaces where an audience is being prepared
 * @returns how many rows were deleted
 */
export function forgetRemoved(db: Queryable, kept: Sql, most: number): Promise<number> {
  return db.run(sql`
    delete from removed_people where ctid = any (array(
      select ctid from removed_people where workspace_id <> all (array(${kept})) limit ${most}))`);
}
