/** Counts what insertMembers (add-members.ts) would do with people, and changes nothing: the dry run of an import. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { changesStatus, type MembersToAdd, matchedPeople, mergedValues } from "./merge-people-to-add.ts";
import { withWorkspace } from "./planner-hints.ts";

export interface PreviewedMembers {
  readonly given: number;
  /** People who are not on the list. */
  readonly joining: number;
  /** People who are not on the list and are new to the workspace. */
  readonly created: number;
  /** Members whose names, custom fields or status would change. */
  readonly changed: number;
  /** Examples of people who would join, in the order of their lines. */
  readonly newcomers: readonly PreviewedPerson[];
  /** Examples of people who are on the list already. */
  readonly members: readonly PreviewedPerson[];
}

export interface PreviewedPerson {
  /** As in the staging table. */
  readonly line: number;
  readonly email: string;
}

/** @param members `people` also has the column `line`, as the staging table does */
export async function previewMembers(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { people, ...terms }: MembersToAdd,
  mostExamples: number,
): Promise<PreviewedMembers> {
  const members = { ...terms, people: sql`(${withWorkspace(workspaceId, sql`${people} p`)})` };
  const { isChanged } = mergedValues(members);
  const moves = changesStatus(sql`coalesce(p.status, 'active')`, sql`h.held`, members.resubscribe);
  const examples = (condition: Sql) => sql`
    (select coalesce(json_agg(e), '[]') from (
      select line, email from seen where ${condition} order by line limit ${mostExamples}) e)`;
  const row = await tx.row<PreviewedMembers>(sql`
    with seen as materialized (
      select p.line, p.email, h.id is not null as is_known, m.status is not null as is_member,
        coalesce(m.status is not null and (${isChanged} or ${moves}), false) as is_changed
      from ${matchedPeople(members, sql`left join`)})
    select count(*)::int as given, (count(*) filter (where not is_member))::int as joining,
      (count(*) filter (where not is_known))::int as created, (count(*) filter (where is_changed))::int as changed,
      ${examples(sql`not is_member`)} as newcomers, ${examples(sql`is_member`)} as members
    from seen`);
  if (row === undefined) throw new Error("a count without a row");
  return row;
}
