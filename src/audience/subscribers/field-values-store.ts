/** One custom field across people, for a change of its type. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

export interface HeldValue {
  readonly id: string;
  readonly email: string;
  readonly value: unknown;
}

/** The next people who have a value of the field, of a list or (null) of all; locked as everybody does, by address. */
export function lockFieldValues(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string | null,
  name: string,
  page: { readonly afterEmail: string; readonly limit: number },
): Promise<HeldValue[]> {
  const isMember = sql`exists (select from memberships m where m.workspace_id = ${workspaceId}
    and m.mailing_list_id = ${mailingListId} and m.subscriber_id = s.id)`;
  return tx.rows(sql`
    select s.id, s.email, s.custom_fields -> ${name} as value from subscribers s
    where s.workspace_id = ${workspaceId} and s.email > ${page.afterEmail} and s.custom_fields ? ${name}
      and ${mailingListId === null ? everybody : isMember}
    order by s.email limit ${page.limit} for update`);
}

const everybody: Sql = sql`true`;

/** Writes the values in their new form. */
export async function updateFieldValues(
  tx: Queryable,
  workspaceId: WorkspaceId,
  name: string,
  values: readonly HeldValue[],
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update subscribers s
    set custom_fields = jsonb_set(s.custom_fields, array[${name}], v.value), updated_at = ${now}
    from unnest(${values.map(({ id }) => id)}::uuid[], ${values.map(({ value }) => JSON.stringify(value))}::jsonb[])
      as v (id, value)
    where s.workspace_id = ${workspaceId} and s.id = v.id`);
}
