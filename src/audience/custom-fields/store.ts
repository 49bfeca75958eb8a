/** The table of custom fields. */
import sql, { empty, type Sql } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { CustomField } from "./custom-field.ts";
import type { FieldSettings } from "./read-definition.ts";

/** The list a field belongs to; null for global fields. */
export type FieldScope = string | null;

const columns = sql`id, mailing_list_id, field_name, field_label, field_type, field_options, placeholder, default_value,
  help_text, validation_rules, is_required, is_active, display_order, created_at, updated_at`;

const isIn = (scope: FieldScope) => sql`mailing_list_id is not distinct from ${scope}::uuid`;
const isOf = (workspaceId: WorkspaceId, scope: FieldScope) =>
  sql`workspace_id = ${workspaceId} and ${isIn(scope)}`;

/** More fields than a form has. */
export const customFieldRoom = (scope: FieldScope): WorkspaceRowLimit => ({
  table: sql`custom_fields`,
  counted: sql`and ${isIn(scope)}`,
  what: "custom fields",
  most: 200,
});

/** In display order. */
export function listFields(
  db: Queryable,
  workspaceId: WorkspaceId,
  scope: FieldScope,
): Promise<CustomField[]> {
  return db.rows(sql`
    select ${columns} from custom_fields where ${isOf(workspaceId, scope)} order by display_order, field_name`);
}

/**
 * The active fields in force on a list: its own and the global ones, in display order. If both have the same name, the
 * list's own.
 */
export function listFieldsInForce(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<CustomField[]> {
  return db.rows(sql`
    select * from (
      select distinct on (field_name) ${columns} from custom_fields
      where workspace_id = ${workspaceId} and (mailing_list_id = ${mailingListId} or mailing_list_id is null)
      order by field_name, mailing_list_id nulls last) f
    where is_active order by display_order, field_name`);
}

/** The names of all active fields of a workspace, global ones and those of every list. */
export async function listFieldNames(db: Queryable, workspaceId: WorkspaceId): Promise<string[]> {
  const rows = await db.rows<{ field_name: string }>(sql`
    select distinct field_name from custom_fields where workspace_id = ${workspaceId} and is_active`);
  return rows.map(({ field_name }) => field_name);
}

/** The types that active and inactive fields of this name have, on any list and globally. */
export async function listTypesOf(db: Queryable, workspaceId: WorkspaceId, name: string): Promise<string[]> {
  const rows = await db.rows<{ field_type: string }>(sql`
    select distinct field_type from custom_fields where workspace_id = ${workspaceId} and field_name = ${name}`);
  return rows.map(({ field_type }) => field_type);
}

/**
 * Keeps the types of all fields of the workspace until the transaction ends. For transactions that store values; taken
 * after the lock of the list and before the locks of people.
 */
export async function shareLockFieldTypes(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock_shared(${fieldTypesOf(workspaceId)})`);
}

/** Keeps all other transactions from storing values until this one ends. */
export async function lockFieldTypes(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${fieldTypesOf(workspaceId)})`);
}

const fieldTypesOf = (workspaceId: WorkspaceId) => lockKey(`types of custom fields of ${workspaceId}`);

/**
 * Keeps the fields in force on a list, or (null) the global fields, from being deleted until the transaction ends: all
 * of them, or those with these names. Waits for changes in progress.
 */
export async function shareLockFields(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: FieldScope,
  names?: readonly string[],
): Promise<void> {
  await tx.run(sql`
    select from custom_fields
    where workspace_id = ${workspaceId} and (mailing_list_id = ${mailingListId} or mailing_list_id is null)
      ${names === undefined ? empty : sql`and field_name = any(${names}::text[])`}
    order by id for key share`);
}

/**
 * The fields in force after changes in progress have ended. For a job that uses them until it ends: its record is
 * committed before, so that a transaction that locks a field afterwards sees the job (segments/refuse-used-field-changes.ts).
 */
export async function listSettledFields(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<CustomField[]> {
  await shareLockFields(db, workspaceId, mailingListId);
  return listFieldsInForce(db, workspaceId, mailingListId);
}

/** The field, locked until the transaction ends. */
export function lockField(
  tx: Queryable,
  workspaceId: WorkspaceId,
  scope: FieldScope,
  id: string,
): Promise<CustomField | undefined> {
  return tx.row(sql`
    select ${columns} from custom_fields where ${isOf(workspaceId, scope)} and id = ${id} for update`);
}

/**
 * Inserts a field, last in display order unless it is given; undefined when the name is taken in its scope. Requires
 * requireBelowRowLimit before, which serializes inserts, so that each gets the next position.
 */
export function insertField(
  db: Queryable,
  workspaceId: WorkspaceId,
  field: FieldSettings & Pick<CustomField, "id" | "mailing_list_id" | "field_name">,
  now: Date,
): Promise<CustomField | undefined> {
  const scope = field.mailing_list_id;
  return db.row(sql`
    insert into custom_fields (workspace_id, ${columns})
    select ${workspaceId}, ${field.id}, ${scope}::uuid, ${field.field_name}, ${field.field_label}, ${field.field_type},
      ${json(field.field_options)}, ${field.placeholder}, ${json(field.default_value)}, ${field.help_text},
      ${json(field.validation_rules)}, ${field.is_required}, ${field.is_active},
      coalesce(${field.display_order}, (
        select max(display_order) + 1 from custom_fields where ${isOf(workspaceId, scope)}), 1),
      ${now}, ${now}
    on conflict (workspace_id, mailing_list_id, field_name) do nothing
    returning ${columns}`);
}

/** The caller has locked the field. */
export function updateField(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  settings: FieldSettings,
  now: Date,
): Promise<CustomField | undefined> {
  return tx.row(sql`
    update custom_fields
    set field_label = ${settings.field_label}, field_type = ${settings.field_type},
      field_options = ${json(settings.field_options)}, placeholder = ${settings.placeholder},
      default_value = ${json(settings.default_value)}, help_text = ${settings.help_text},
      validation_rules = ${json(settings.validation_rules)}, is_required = ${settings.is_required},
      is_active = ${settings.is_active}, display_order = coalesce(${settings.display_order}, display_order),
      updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${columns}`);
}

/**
 * A field of the same name with another type that applies to one of these people, on a list where this field does not
 * apply; with the name of that list.
 */
export function findOtherType(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { mailing_list_id: scope, field_name }: Pick<CustomField, "mailing_list_id" | "field_name">,
  fieldType: string,
  subscriberIds: readonly string[],
): Promise<{ list: string; field_type: string } | undefined> {
  return tx.row(sql`
    select l.name as list, f.field_type
    from (select distinct mailing_list_id from memberships
      where workspace_id = ${workspaceId} and subscriber_id = any (${subscriberIds}::uuid[])) m
    join mailing_lists l on l.workspace_id = ${workspaceId} and l.id = m.mailing_list_id
    cross join lateral (
      select mailing_list_id, field_type, is_active from custom_fields
      where workspace_id = ${workspaceId} and field_name = ${field_name}
        and (mailing_list_id = m.mailing_list_id or mailing_list_id is null)
      order by mailing_list_id nulls last limit 1) f
    where f.mailing_list_id is distinct from ${scope}::uuid and f.is_active and f.field_type <> ${fieldType}
    order by l.name limit 1`);
}

/** The values that people have stay. */
export async function removeField(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from custom_fields where workspace_id = ${workspaceId} and id = ${id}`);
}

const json = (value: unknown): Sql =>
  value === null || value === undefined ? sql`null::jsonb` : sql`${JSON.stringify(value)}::jsonb`;
