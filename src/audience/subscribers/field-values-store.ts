/** One custom field across people, for a change of its type. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { withWorkspace } from "./memberships/planner-hints.ts";

export interface HeldValue {
  readonly id: string;
  readonly email: string;
  readonly value: unknown;
}

/**
 * The next people who have a value of the field: members of its list, or, of a global one (null), of any list without a
 * field of its own of that name; locked as everybody does, by address.
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
  // Each person's memberships are looked up by themselves (offset 0): of a list that has just been imported the planner
  // knows nothing, and read all of it for each.
  return tx.rows(sql`
    select h.* from (${withWorkspace(workspaceId, sql`(select ${page.afterEmail}::text as after_email) v`)}) k
    cross join lateral (
      select s.id, s.email, s.custom_fields -> ${name} as value from subscribers s
      where s.workspace_id = k.workspace and s.email > k.after_email and s.custom_fields ? ${name}
        and exists (select from memberships m
          where m.workspace_id = s.workspace_id and m.subscriber_id = s.id and ${isWhereItHolds} offset 0)
      order by s.email limit ${page.limit} for update) h`);
}

/** Writes the values in their new form; null takes one away. */
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
