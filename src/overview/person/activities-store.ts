/** The history of one person, from the message log, their memberships and the audit log. */
import sql, { empty, type Sql } from "sql-template-tag";
import { timeOfIdSql } from "#messages/log-counts-store.ts";
import { inSpanOfSql } from "#messages/partitions/ids-span.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** The events of a person's newest messages are read, so that the cost of a page is bounded. */
export const MOST_MESSAGES_READ = 5_000;

export const activityKinds = [
  "joined",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "failed",
  "suppressed",
  "complained",
  "changed",
  "left",
] as const;
export type ActivityKind = (typeof activityKinds)[number];

/** The types of the message log that are shown as each kind. */
const typesOf: Partial<Record<ActivityKind, readonly string[]>> = {
  delivered: ["delivered"],
  opened: ["opened", "machine_opened"],
  clicked: ["clicked", "machine_clicked"],
  bounced: ["bounced"],
  failed: ["failed"],
  suppressed: ["suppressed"],
  complained: ["complained"],
  left: ["unsubscribed"],
};

export interface PersonActivityRow {
  readonly id: string;
  readonly kind: ActivityKind;
  readonly time: Date;
  /** Microseconds since 1970, the sort key. */
  readonly place: string;
  readonly times: number;
  readonly is_machine: boolean;
  readonly detail: string | null;
  readonly url: string | null;
  readonly smtp_code: number | null;
  readonly enhanced_code: string | null;
  readonly mx_host: string | null;
  readonly message_id: string | null;
  readonly subject: string | null;
  readonly message_source: string | null;
  readonly origin_id: string | null;
  readonly origin_name: string | null;
  readonly mailing_list_id: string | null;
  readonly mailing_list_name: string | null;
  readonly joined_from: string | null;
  readonly operation: string | null;
  readonly actor_name: string | null;
  readonly changed_fields: readonly string[];
}

/** A page of activities starts behind this one. */
export interface ActivityPlace {
  readonly id: string;
  /** Microseconds since 1970. */
  readonly place: string;
}

const address = sql`lower(m.localpart || '@' || m.domain)`;

/** A select of the ids (message_id) of all mail and SMS that campaigns and autoresponders sent to a person. */
export const personalMailSql = (workspaceId: WorkspaceId, subscriberId: string): Sql => sql`
  select message_id from campaign_recipients
  where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}
  union all
  select message_id from autoresponder_mails
  where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}`;

/**
 * The ids of a person's newest messages, newest first: mail and SMS of campaigns and autoresponders, and all other mail to
 * the address. Other mail is found after its first outcome.
 */
export async function listMessageIdsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  { id, email }: { readonly id: string; readonly email: string },
  most: number,
): Promise<string[]> {
  const newest = sql`order by message_id desc limit ${most}`;
  const rows = await db.rows<{ message_id: string }>(sql`
    select message_id from (
      (select message_id from (${personalMailSql(workspaceId, id)}) personal ${newest})
      union
      (select m.id as message_id from messages m
        where m.workspace_id = ${workspaceId} and m.status <> 'queued' and m.source <> 'platform'
          and hashtext(${address}) = hashtext(lower(${email})) and ${address} = lower(${email})
        order by m.id desc limit ${most})) every ${newest}`);
  return rows.map(({ message_id }) => message_id);
}

/** The last of a union of columns, for what only messages have. */
const noMessage = sql`
  null::smallint as smtp_code, null::text as enhanced_code, null::text as mx_host, null::uuid as message_id`;

/** Newest first. */
export async function listPersonActivities(
  db: Queryable,
  workspaceId: WorkspaceId,
  person: { readonly id: string; readonly email: string },
  kinds: readonly ActivityKind[],
  { limit, after }: { readonly limit: number; readonly after: ActivityPlace | undefined },
): Promise<PersonActivityRow[]> {
  const types = kinds.flatMap((kind) => typesOf[kind] ?? []);
  const wants = (kind: ActivityKind) => kinds.includes(kind);
  const list = sql`m.mailing_list_id, l.name as mailing_list_name`;
  const memberships = sql`
    memberships m join mailing_lists l on l.workspace_id = m.workspace_id and l.id = m.mailing_list_id
    where m.workspace_id = ${workspaceId} and m.subscriber_id = ${person.id}`;
  const memberId = sql`membership_id(m.mailing_list_id, m.subscriber_id)`;
  const upTo = after && sql`timestamptz 'epoch' + ${after.place}::bigint * interval '1 microsecond'`;
  const ids = await listMessageIdsOf(db, workspaceId, person, MOST_MESSAGES_READ);
  return db.rows(sql`
    with mail as materialized (select unnest(${ids}::uuid[]) as message_id),
    happened as (
      select e.id, case e.type when 'unsubscribed' then 'left' else replace(e.type, 'machine_', '') end as kind, e.time,
        coalesce(e.times, 1) as times, e.type like 'machine%' as is_machine,
        case when e.type not like '%clicked' then e.detail end as detail,
        case when e.type like '%clicked' then e.detail end as url,
        null::uuid as mailing_list_id, null::text as mailing_list_name, null::text as joined_from,
        null::text as operation, null::text as actor_name, '{}'::text[] as changed_fields,
        e.code as smtp_code, e.enhanced_code, e.mx_host, e.message_id
      from mail join message_events e on e.workspace_id = ${workspaceId} and e.message_id = mail.message_id
        ${inSpanOfSql(sql`e.message_id`, ids)}
      where e.type = any (${types}::text[])
      union all
      select m.id, 'sent', m.created_at, 1, false, null, null, null, null, null, null, null, '{}', null, null, null, m.id
      from mail join messages m on m.workspace_id = ${workspaceId} and m.id = mail.message_id
        ${inSpanOfSql(sql`m.id`, ids)}
      where ${wants("sent")}
      union all
      select ${memberId}, 'joined', m.subscribed_at, 1, false, null, null, ${list}, m.source, null, null, '{}', ${noMessage}
      from ${memberships} and ${wants("joined")}
      union all
      select md5(${memberId}::text)::uuid, 'left', m.unsubscribed_at, 1, false, null, null, ${list}, null, null, null,
        '{}', ${noMessage}
      from ${memberships} and ${wants("left")} and m.unsubscribed_at is not null
        -- Unless the person left through a message, whose event is shown.
        and not exists (
          select from mail join message_events e on e.workspace_id = ${workspaceId} and e.message_id = mail.message_id
            ${inSpanOfSql(sql`e.message_id`, ids)}
          where e.type = 'unsubscribed' and e.time = m.unsubscribed_at)
      union all
      select a.id, 'changed', ${timeOfIdSql(sql`a.id`)}, 1, false, null, null, null, null, null, a.operation,
        a.actor_name, array(select c->>'field' from jsonb_array_elements(a.changes) c), ${noMessage}
      from audit_events a
      where a.workspace_id = ${workspaceId} and a.resource_kind = 'subscribers' and a.resource_id = ${person.id}
        and a.result = 'done' and a.operation <> 'addMember' and ${wants("changed")}
    ), page as (
      select * from happened
      ${upTo === undefined ? empty : sql`where (time, id) < (${upTo}, ${after?.id ?? null}::uuid)`}
      order by time desc, id desc limit ${limit})
    select p.*, (extract(epoch from p.time) * 1000000)::bigint::text as place, m.subject, m.source as message_source,
      m.origin_id, m.origin_name
    from page p left join messages m on m.workspace_id = ${workspaceId} and m.id = p.message_id
      ${inSpanOfSql(sql`m.id`, ids)}
    order by p.time desc, p.id desc`);
}
