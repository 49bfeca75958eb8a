/** Reads the languages of lists and recipients. */
import sql from "sql-template-tag";
import { type FieldInRules, fieldsSql } from "#audience/segments/segments-using-field-store.ts";
import { listFirstUsers } from "#audience/uses/first-users-store.ts";
import type { UserRow } from "#audience/uses/used-by.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DEFAULT_LANGUAGE, type Language } from "#platform/languages/language.ts";
import { languageFields, languageOf } from "./recipient-language.ts";

interface LanguageSettings {
  readonly language: Language;
  readonly language_field: string | null;
}

/** The language of a list, or of the workspace for no list or a deleted one; and the chosen field of recipients. */
export async function findLanguageSettings(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string | null,
): Promise<LanguageSettings> {
  const found = await db.row<LanguageSettings>(sql`
    select coalesce(l.language, w.language) as language, w.language_field
    from workspaces w
    left join mailing_lists l on l.workspace_id = w.id and l.id = ${mailingListId}
    where w.id = ${workspaceId}`);
  return found ?? { language: DEFAULT_LANGUAGE, language_field: null };
}

/** The language of a subscriber of a list; without a subscriber, that of the list. */
export async function findRecipientLanguage(
  db: Queryable,
  workspaceId: WorkspaceId,
  {
    mailingListId,
    subscriberId,
  }: { readonly mailingListId: string | null; readonly subscriberId: string | null },
): Promise<Language> {
  const { language, language_field } = await findLanguageSettings(db, workspaceId, mailingListId);
  if (subscriberId === null) return language;
  const found = await db.row<{ custom_fields: Readonly<Record<string, unknown>>; defined: string[] }>(sql`
    select s.custom_fields, array(
      select distinct field_name from custom_fields
      where workspace_id = ${workspaceId} and is_active
        and (mailing_list_id is null or ${mailingListId}::uuid is null or mailing_list_id = ${mailingListId})) as defined
    from subscribers s where s.workspace_id = ${workspaceId} and s.id = ${subscriberId}`);
  if (found === undefined) return language;
  const fields = languageFields(language_field, new Set(found.defined));
  return languageOf({ language, fields }, found.custom_fields);
}

/** The types of the active fields of this name, on any list and globally, locked against changes until the transaction ends. */
export async function lockTypesInForce(
  tx: Queryable,
  workspaceId: WorkspaceId,
  name: string,
): Promise<string[]> {
  const rows = await tx.rows<{ field_type: string }>(sql`
    select field_type from custom_fields
    where workspace_id = ${workspaceId} and field_name = ${name} and is_active order by id for share`);
  return rows.map(({ field_type }) => field_type);
}

/** The workspace, for those of the fields that are the last active ones of the name that it has chosen. */
export function listLanguageFieldUses(
  db: Queryable,
  workspaceId: WorkspaceId,
  fields: readonly FieldInRules[],
): Promise<UserRow[]> {
  return listFirstUsers(
    db,
    sql`
    select f.id as used_id, w.id, w.name, null::uuid as mailing_list_id, true as prevents_deletion
    from workspaces w join ${fieldsSql(fields)} on f.field_name = w.language_field
    where w.id = ${workspaceId}
      and exists (select from custom_fields c where c.workspace_id = w.id and c.id = f.id and c.is_active)
      and not exists (
        select from custom_fields other
        where other.workspace_id = w.id and other.field_name = f.field_name and other.id <> f.id and other.is_active)`,
  );
}
