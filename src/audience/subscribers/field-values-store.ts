/** The values of one custom field over many people, for a change of its type and for bulk actions. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { MOST_OCTETS, MOST_VALUE_KEYS } from "./check-custom-field-values.ts";
import { withWorkspace } from "./memberships/planner-hints.ts";
import type { SubscriberStatus } from "./memberships/status.ts";

export interface HeldValue {
  readonly id: string;
  readonly email: string;
  readonly value: unknown;
}

/**
 * The next people with a value of the field, locked in the order of their addresses: members of its list, or for a
 * global field (null) of any list that has no own field of that name.
 */
export function lockFieldValues(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string | null,
  name: string,
  page: { readonly afterEmail: string; readonly limit: number },
): Promise<HeldValue[]> {
  const isWhereItHolds =
    mailingListId === null
      ? sql`not exists (select from custom_fields f where f.workspace_id = m.workspace_id
          and f.mailing_list_id = m.mailing_list_id and f.field_name = ${name})`
      : sql`m.mailing_list_id = ${mailingListId}`;
  // The memberships of each person are looked up one by one (offset 0): without statistics of a freshly imported list
  // the planner would read the whole list for each person.
  return tx.rows(sql`
    select h.* from (${withWorkspace(workspaceId, sql`(select ${page.afterEmail}::text as after_email) v`)}) k
    cross join lateral (
      select s.id, s.email, s.custom_fields -> ${name} as value from subscribers s
      where s.workspace_id = k.workspace and s.email > k.after_email and s.custom_fields ? ${name}
        and exists (select from memberships m
          where m.workspace_id = s.workspace_id and m.subscriber_id = s.id and ${isWhereItHolds} offset 0)
      order by s.email limit ${page.limit} for update) h`);
}

/** Writes converted values; a value of null removes the key. */
export async function updateFieldValues(
  tx: Queryable,
  workspaceId: WorkspaceId,
  name: string,
  values: readonly HeldValue[],
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update subscribers s
    set custom_fields = case when v.value = 'null' then s.custom_fields - ${name}
        else jsonb_set(s.custom_fields, array[${name}], v.value) end,
      updated_at = ${now}
    from unnest(${values.map(({ id }) => id)}::uuid[], ${values.map(({ value }) => JSON.stringify(value))}::jsonb[])
      as v (id, value)
    where s.workspace_id = ${workspaceId} and s.id = v.id`);
}

/** People for whom the new values are more than one person may have, and more than before; they are not changed. */
export function listTooFull(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
  { field, value }: { readonly field: string; readonly value: unknown },
): Promise<{ readonly id: string }[]> {
  if (value === null) return Promise.resolve([]);
  const size = (values: Sql) => sql`octet_length(${values}::text)`;
  const keys = (values: Sql) => sql`(select count(*) from jsonb_object_keys(${values}))`;
  const [held, after] = [sql`s.custom_fields`, sql`a.after`];
  return tx.rows(sql`
    select s.id from subscribers s
    cross join lateral (select jsonb_set(${held}, array[${field}], ${JSON.stringify(value)}::jsonb) as after) a
    where s.workspace_id = ${workspaceId} and s.id = any(${ids}::uuid[])
      and (${size(after)} > ${MOST_OCTETS} and ${size(after)} > ${size(held)}
        or not ${held} ? ${field} and ${keys(after)} > ${MOST_VALUE_KEYS})`);
}

/** Sets a custom field; null removes it. @returns the people whose value changed */
export function setFieldOfPeople(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
  { field, value }: { readonly field: string; readonly value: unknown },
  now: Date,
): Promise<{ readonly id: string; readonly email: string; readonly status: SubscriberStatus }[]> {
  const json = JSON.stringify(value);
  const after =
    value === null
      ? sql`custom_fields - ${field}::text`
      : sql`jsonb_set(custom_fields, array[${field}], ${json}::jsonb)`;
  return tx.rows(sql`
    update subscribers set custom_fields = ${after}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and custom_fields is distinct from ${after}
    returning id, email, status`);
}
