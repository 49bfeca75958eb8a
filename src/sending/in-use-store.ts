/** Which campaigns and autoresponders use a custom field or a list, so that it cannot be deleted meanwhile. */
import sql from "sql-template-tag";
import type { FieldUse } from "#audience/segments/refuse-used-field-changes.ts";
import { type FieldInRules, hasRulesOn, isOnListOf } from "#audience/segments/segments-using-field-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Campaigns that are not complete and have conditions on the field. */
async function listCampaignsWithField(
  db: Queryable,
  workspaceId: WorkspaceId,
  field: FieldInRules,
): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from (
      select workspace_id, coalesce(audience_list_id, mailing_list_id) as mailing_list_id, name,
        segment_conditions as conditions
      from campaigns
      where workspace_id = ${workspaceId} and recipient_type = 'custom'
        and status in ('draft', 'scheduled', 'sending', 'paused')
    ) g
    where ${hasRulesOn(field)} order by name`);
  return rows.map(({ name }) => name);
}

/** SMS campaigns that are scheduled, sending or paused and read telephone numbers from the field. */
async function listSmsToField(
  db: Queryable,
  workspaceId: WorkspaceId,
  field: FieldInRules,
): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from (
      select c.workspace_id, c.name, coalesce(c.audience_list_id, s.mailing_list_id, c.mailing_list_id) as mailing_list_id
      from campaigns c
      left join segments s on c.recipient_type = 'segment' and s.workspace_id = c.workspace_id and s.id = c.segment_id
      where c.workspace_id = ${workspaceId} and c.message_type = 'sms' and c.phone_field_name = ${field.field_name}
        and c.status in ('scheduled', 'sending', 'paused')
    ) g
    where ${isOnListOf(field)} order by name`);
  return rows.map(({ name }) => name);
}

/** Active autoresponders with a date trigger on the field. */
async function listAutorespondersWithField(
  db: Queryable,
  workspaceId: WorkspaceId,
  field: FieldInRules,
): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from autoresponders g
    where workspace_id = ${workspaceId} and status = 'active' and date_field = ${field.field_name}
      and ${isOnListOf(field)}
    order by name`);
  return rows.map(({ name }) => name);
}

export const fieldUses: readonly FieldUse[] = [
  {
    what: "Campaigns",
    remedy: "change or cancel them",
    needsType: false,
    listNames: listCampaignsWithField,
  },
  { what: "SMS campaigns", remedy: "cancel them", needsType: false, listNames: listSmsToField },
  {
    what: "Active autoresponders",
    remedy: "deactivate them",
    needsType: true,
    listNames: listAutorespondersWithField,
  },
];

/** The name of an active autoresponder of the list. */
export async function findAutoresponderOfList(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<string | undefined> {
  const row = await db.row<{ name: string }>(sql`
    select name from autoresponders
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId} and status = 'active'
    order by name limit 1`);
  return row?.name;
}
