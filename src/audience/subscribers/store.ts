/** Reads people and memberships. Writes only what is in a person's row alone; memberships/ writes the rest. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { withWorkspace } from "./memberships/planner-hints.ts";
import type { Member, SubscriberDetail, SubscriberSummary } from "./subscriber-shapes.ts";

const member = sql`
  membership_id(m.mailing_list_id, m.subscriber_id) as id, m.subscriber_id, m.mailing_list_id, s.email,
  s.first_name, s.last_name, m.status, m.source, s.custom_fields::text as custom_fields, m.subscribed_at,
  m.unsubscribed_at, m.created_at, greatest(m.updated_at, s.updated_at) as updated_at`;
const members = sql`memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id`;

/** The membership of a person on a list. */
export function findMember(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  subscriberId: string,
): Promise<Member | undefined> {
  return db.row(sql`
    select ${member} from ${members}
    where m.workspace_id = ${workspaceId} and m.mailing_list_id = ${mailingListId}
      and m.subscriber_id = ${subscriberId}`);
}

/**
 * As findMember, by normalised address. Looks the person up first: with a plain join, PostgreSQL would read a freshly
 * imported list once for each of its people.
 */
export function findMemberByEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  email: string,
): Promise<Member | undefined> {
  return db.row(sql`
    select ${member}
    from (${withWorkspace(workspaceId, sql`(select ${email}::text as email, ${mailingListId}::uuid as list) v`)}) k
    cross join lateral (
      select * from subscribers where workspace_id = k.workspace and email = k.email offset 0) s
    cross join lateral (
      select * from memberships
      where workspace_id = k.workspace and mailing_list_id = k.list and subscriber_id = s.id offset 0) m`);
}

/** Members by their subscriber ids, newest person first. */
export function listMembers(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  subscriberIds: readonly string[],
): Promise<Member[]> {
  return db.rows(sql`
    select ${member} from ${members}
    where m.workspace_id = ${workspaceId} and m.mailing_list_id = ${mailingListId}
      and m.subscriber_id = any(${subscriberIds}::uuid[])
    order by m.subscriber_id desc`);
}

/** The smallest subscriber ids of a list, for work in bounded steps. */
export async function listMemberIds(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select subscriber_id as id from memberships
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}
    order by subscriber_id limit ${limit}`);
  return rows.map((row) => row.id);
}

const lists = sql`
  select coalesce(json_agg(json_build_object('id', l.id, 'name', l.name, 'status', m.status)
    order by m.created_at desc, l.id), '[]') as lists
  from memberships m join mailing_lists l on l.workspace_id = m.workspace_id and l.id = m.mailing_list_id
  where m.workspace_id = s.workspace_id and m.subscriber_id = s.id`;

/** People by their ids, in the order given. */
export function listSummaries(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<SubscriberSummary[]> {
  return db.rows(sql`
    select s.id, s.email, s.first_name, s.last_name, s.status, s.custom_fields, on_lists.lists,
      json_array_length(on_lists.lists) as list_count, s.engagement_score,
      greatest(s.last_opened_at, s.last_clicked_at) as last_activity_at, s.last_opened_at, s.last_clicked_at,
      s.created_at
    from subscribers s cross join lateral (${lists}) on_lists
    where s.workspace_id = ${workspaceId} and s.id = any(${ids}::uuid[])
    order by array_position(${ids}::uuid[], s.id)`);
}

/** The person's own row, as subscriber-detail.ts shows it. */
export type SubscriberRow = Pick<
  SubscriberDetail,
  | "id"
  | "email"
  | "first_name"
  | "last_name"
  | "source"
  | "status"
  | "custom_fields"
  | "engagement_score"
  | "created_at"
  | "updated_at"
> &
  Pick<SubscriberDetail["stats"], "last_opened_at" | "last_clicked_at"> & {
    readonly open_count: number;
    readonly unique_open_count: number;
    readonly click_count: number;
    readonly unique_click_count: number;
  };

const person = sql`
  select id, email, first_name, last_name, source, status, custom_fields, engagement_score, created_at, updated_at,
    last_opened_at, last_clicked_at, open_count, unique_open_count, click_count, unique_click_count
  from subscribers`;

/** What every message to a person changes. */
export interface MailStats extends Pick<SubscriberDetail["stats"], "first_sent_at" | "last_sent_at"> {
  readonly sent_count: number;
  readonly delivered_count: number;
  readonly bounce_count: number;
  readonly complaint_count: number;
}

export function findMailStats(
  db: Queryable,
  workspaceId: WorkspaceId,
  subscriberId: string,
): Promise<MailStats | undefined> {
  return db.row(sql`
    select first_sent_at, last_sent_at, sent_count, delivered_count, bounce_count, complaint_count
    from subscriber_stats where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}`);
}

export function findSubscriber(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<SubscriberRow | undefined> {
  return db.row(sql`${person} where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The person with a normalised address. */
export function findSubscriberByEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<SubscriberRow | undefined> {
  return db.row(sql`${person} where workspace_id = ${workspaceId} and email = ${email}`);
}

/** As findSubscriberByEmail; locks the row until the transaction ends. */
export function lockSubscriberByEmail(
  tx: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<SubscriberRow | undefined> {
  return tx.row(sql`
    select s.* from (${withWorkspace(workspaceId, sql`(select ${email}::text as email) v`)}) k
    cross join lateral (${person} where workspace_id = k.workspace and email = k.email for update) s`);
}

/** As findSubscriber; locks the row until the transaction ends. */
export function lockSubscriber(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<SubscriberRow | undefined> {
  return tx.row(sql`${person} where workspace_id = ${workspaceId} and id = ${id} for update`);
}

/** Updates names and custom fields. */
export async function updateSubscriber(
  tx: Queryable,
  workspaceId: WorkspaceId,
  changed: Pick<SubscriberRow, "id" | "first_name" | "last_name" | "custom_fields">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update subscribers
    set first_name = ${changed.first_name}, last_name = ${changed.last_name},
      custom_fields = ${JSON.stringify(changed.custom_fields)}::jsonb, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${changed.id}`);
}

/** The memberships of a person, newest first. */
export function listMemberships(
  db: Queryable,
  workspaceId: WorkspaceId,
  subscriberId: string,
): Promise<SubscriberDetail["lists"]> {
  return db.rows(sql`
    select m.mailing_list_id, l.name, m.status, m.source, m.subscribed_at, m.unsubscribed_at
    from memberships m join mailing_lists l on l.workspace_id = m.workspace_id and l.id = m.mailing_list_id
    where m.workspace_id = ${workspaceId} and m.subscriber_id = ${subscriberId}
    order by m.created_at desc, l.id`);
}
