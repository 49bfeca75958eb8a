/** Which segments have rules on a custom field or a mailing list, so that neither is deleted or changed. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** A custom field, and the names that rules use for it. */
export interface FieldInRules {
  /** Null for a global field. */
  readonly mailing_list_id: string | null;
  readonly field_name: string;
  readonly spellings: readonly string[];
}

/**
 * A condition on a row `g` with a list: whether the field's name means this field there. A list's own field takes
 * precedence over a global one.
 */
export function isOnListOf({ mailing_list_id, field_name }: FieldInRules): Sql {
  return mailing_list_id === null
    ? sql`not exists (select from custom_fields f where f.workspace_id = g.workspace_id
        and f.mailing_list_id = g.mailing_list_id and f.field_name = ${field_name})`
    : sql`g.mailing_list_id = ${mailing_list_id}`;
}

/** A condition on a row `g` with a list and conditions: whether they have rules on the field. */
export function hasRulesOn(field: FieldInRules): Sql {
  return sql`${isOnListOf(field)} and exists (
    select from jsonb_path_query(g.conditions, '$.**.field') f where f #>> '{}' = any(${field.spellings}::text[]))`;
}

/** Names of the segments with rules on a custom field. */
export async function listNamesWithField(
  db: Queryable,
  workspaceId: WorkspaceId,
  field: FieldInRules,
): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from segments g where workspace_id = ${workspaceId} and ${hasRulesOn(field)} order by name`);
  return rows.map((row) => row.name);
}

/** Whether conditions have rules on a mailing list. */
export const namesList = (conditions: Sql, mailingListId: Sql): Sql => sql`exists (
  select from jsonb_path_query(${conditions}, '$.** ? (@.field == "mailing_list").value') v
  where position(${mailingListId}::text in lower(v #>> '{}')) > 0)`;

/** Names of the segments of other lists with rules on a mailing list, or on one of its segments. */
export async function listNamesWithList(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from segments g
    where workspace_id = ${workspaceId} and mailing_list_id <> ${mailingListId} and (
      referenced_segments && array(
        select id from segments where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId})
      or ${namesList(sql`conditions`, sql`${mailingListId}`)})
    order by name`);
  return rows.map((row) => row.name);
}
