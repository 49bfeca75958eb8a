/** Which segments have rules on a custom field, a mailing list or a segment, so that none is deleted or changed. */
import sql, { type Sql } from "sql-template-tag";
import { listFirstUsers } from "#audience/uses/first-users-store.ts";
import type { UserRow } from "#audience/uses/used-by.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** A custom field, and the names that rules use for it. */
export interface FieldInRules {
  readonly id: string;
  /** Null for a global field. */
  readonly mailing_list_id: string | null;
  readonly field_name: string;
  readonly spellings: readonly string[];
}

/** The fields as a relation `f`. */
export const fieldsSql = (fields: readonly FieldInRules[]): Sql => sql`(
  select id, mailing_list_id, field_name, string_to_array(spellings, ' ') as spellings
  from unnest(${fields.map(({ id }) => id)}::uuid[], ${fields.map((field) => field.mailing_list_id)}::uuid[],
    ${fields.map((field) => field.field_name)}::text[],
    ${fields.map(({ spellings }) => spellings.join(" "))}::text[]) as f (id, mailing_list_id, field_name, spellings)) f`;

/**
 * A condition on a row `g` with a list and a row `f` of fieldsSql: whether the field's name means this field there. A
 * list's own field takes precedence over a global one.
 */
export const isOnItsList = sql`(f.mailing_list_id = g.mailing_list_id or f.mailing_list_id is null and not exists (
  select from custom_fields own where own.workspace_id = g.workspace_id and own.mailing_list_id = g.mailing_list_id
    and own.field_name = f.field_name))`;

/** A condition on a row `g` with a list and conditions, and a row `f`: whether the conditions have rules on the field. */
export const hasRulesOn = sql`${isOnItsList} and g.named && f.spellings`;

/** The names of fields in conditions, for a column `named` of the row `g`. */
export const namedFields = (conditions: Sql): Sql => sql`array(
  select name #>> '{}' from jsonb_path_query(${conditions}, '$.**.field') name)`;

/** The segments with rules on custom fields. */
export function listSegmentsWithFields(
  db: Queryable,
  workspaceId: WorkspaceId,
  fields: readonly FieldInRules[],
): Promise<UserRow[]> {
  return listFirstUsers(
    db,
    sql`
    select f.id as used_id, g.id, g.name, g.mailing_list_id, true as prevents_deletion
    from (
      select workspace_id, id, name, mailing_list_id, ${namedFields(sql`conditions`)} as named
      from segments where workspace_id = ${workspaceId} offset 0
    ) g join ${fieldsSql(fields)} on ${hasRulesOn}`,
  );
}

/** The segments that refer to these segments. */
export function listSegmentsWithSegments(
  db: Queryable,
  workspaceId: WorkspaceId,
  segmentIds: readonly string[],
): Promise<UserRow[]> {
  return listFirstUsers(
    db,
    sql`
    select used.id as used_id, g.id, g.name, g.mailing_list_id, true as prevents_deletion
    from segments g join unnest(${[...segmentIds]}::uuid[]) used (id) on used.id = any (g.referenced_segments)
    where g.workspace_id = ${workspaceId}`,
  );
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
