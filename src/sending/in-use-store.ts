/** Which campaigns, autoresponders and templates use a custom field, a list or a template. */
import sql, { type Sql } from "sql-template-tag";
import type { FieldUse } from "#audience/segments/refuse-used-field-changes.ts";
import {
  type FieldInRules,
  fieldsSql,
  hasRulesOn,
  isOnItsList,
  namedFields,
} from "#audience/segments/segments-using-field-store.ts";
import { listFirstUsers } from "#audience/uses/first-users-store.ts";
import type { ObjectUse, UserRow } from "#audience/uses/used-by.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";

type ListUsers = (
  db: Queryable,
  workspaceId: WorkspaceId,
  fields: readonly FieldInRules[],
) => Promise<UserRow[]>;

/**
 * @param users a relation `g` with id, name, mailing_list_id and prevents_deletion
 * @param condition whether `g` uses the field `f`
 */
const usersOfFields = (users: (workspaceId: WorkspaceId) => Sql, condition: Sql): ListUsers => {
  return (db, workspaceId, fields) =>
    listFirstUsers(
      db,
      sql`
      select f.id as used_id, g.id, g.name, null::uuid as mailing_list_id, g.prevents_deletion
      from ${users(workspaceId)} g join ${fieldsSql(fields)} on ${condition}`,
    );
};

/** Campaigns that are not complete and have conditions on the field. */
const listCampaignsWithFields = usersOfFields(
  (workspaceId) => sql`(
    select workspace_id, id, name, coalesce(audience_list_id, mailing_list_id) as mailing_list_id,
      ${namedFields(sql`segment_conditions`)} as named, true as prevents_deletion
    from campaigns
    where workspace_id = ${workspaceId} and recipient_type = 'custom'
      and status in ('draft', 'scheduled', 'sending', 'paused') offset 0)`,
  hasRulesOn,
);

/** SMS campaigns that read telephone numbers from the field. Drafts do not keep it. */
const listSmsToFields = usersOfFields(
  (workspaceId) => sql`(
    select c.workspace_id, c.id, c.name, c.phone_field_name, c.status <> 'draft' as prevents_deletion,
      coalesce(c.audience_list_id, s.mailing_list_id, c.mailing_list_id) as mailing_list_id
    from campaigns c
    left join segments s on c.recipient_type = 'segment' and s.workspace_id = c.workspace_id and s.id = c.segment_id
    where c.workspace_id = ${workspaceId} and c.message_type = 'sms'
      and c.status in ('draft', 'scheduled', 'sending', 'paused'))`,
  sql`g.phone_field_name = f.field_name and ${isOnItsList}`,
);

/** Autoresponders with a date trigger on the field. Inactive ones do not keep it. */
const listAutorespondersWithFields = usersOfFields(
  (workspaceId) => sql`(
    select workspace_id, id, name, mailing_list_id, date_field, status = 'active' as prevents_deletion
    from autoresponders where workspace_id = ${workspaceId})`,
  sql`g.date_field = f.field_name and ${isOnItsList}`,
);

/** @param nouns what a caller reads to see campaigns and autoresponders */
export const fieldUsesOf = ({
  campaigns,
  autoresponders,
}: Readonly<Record<"campaigns" | "autoresponders", Resource>>): readonly FieldUse[] => [
  {
    kind: "campaign",
    noun: campaigns,
    what: "Campaigns",
    remedy: "change or cancel them",
    needsType: false,
    list: listCampaignsWithFields,
  },
  {
    kind: "campaign",
    noun: campaigns,
    what: "SMS campaigns",
    remedy: "cancel them",
    needsType: false,
    list: listSmsToFields,
  },
  {
    kind: "autoresponder",
    noun: autoresponders,
    what: "Active autoresponders",
    remedy: "deactivate them",
    needsType: true,
    list: listAutorespondersWithFields,
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

/** @param users a relation of the workspace with used_id, id, name and prevents_deletion */
const usersOfTemplates =
  (users: (workspaceId: WorkspaceId) => Sql): ObjectUse<string>["list"] =>
  (db, workspaceId, ids) =>
    listFirstUsers(
      db,
      sql`
      select u.used_id, u.id, u.name, null::uuid as mailing_list_id, u.prevents_deletion
      from (${users(workspaceId)}) u where u.used_id = any (${[...ids]}::uuid[])`,
    );

/** What uses templates: content was taken from them, or they are layouts around others, which need them. */
export const templateUsesOf = ({
  campaigns,
  autoresponders,
  templates,
}: Readonly<
  Record<"campaigns" | "autoresponders" | "templates", Resource>
>): readonly ObjectUse<string>[] => [
  {
    kind: "template",
    noun: templates,
    list: usersOfTemplates(
      (workspaceId) => sql`
      select layout_id as used_id, id, name, true as prevents_deletion from templates
      where workspace_id = ${workspaceId} and layout_id is not null`,
    ),
  },
  {
    kind: "campaign",
    noun: campaigns,
    list: usersOfTemplates(
      (workspaceId) => sql`
      select template_id as used_id, id, name, false as prevents_deletion from campaigns
      where workspace_id = ${workspaceId} and template_id is not null and deleted_at is null`,
    ),
  },
  {
    kind: "autoresponder",
    noun: autoresponders,
    list: usersOfTemplates(
      (workspaceId) => sql`
      select distinct c.template_id as used_id, a.id, a.name, false as prevents_deletion
      from autoresponder_steps s
      join autoresponder_contents c on c.workspace_id = s.workspace_id and c.id = s.content_id
      join autoresponders a on a.workspace_id = s.workspace_id and a.id = s.autoresponder_id
      where s.workspace_id = ${workspaceId} and s.position is not null and c.template_id is not null`,
    ),
  },
];
