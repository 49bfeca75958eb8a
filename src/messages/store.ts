/**
 * SQL of the message log. Rows are written here at acceptance (and with the values of web views), and by
 * record-outcomes.ts and record-engagement.ts; no other file writes them.
 */

import sql, { empty, type Sql } from "sql-template-tag";
import type { HeaderField, Mailbox } from "#mail/message/encode-header.ts";
import { byteaArray, textArray, timestamptzArray, uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { TlsNote } from "#smtp-client/tls.ts";
import { addAcceptedDeltasSql, addQueuedDeltasSql } from "./counters/deltas-store.ts";
import { insertLabelsSql } from "./labels-store.ts";
import { attachmentsJson, type StoredAttachment } from "./message/attachment.ts";
import type { EmailDetails } from "./message/email-details.ts";
import { lastIdOf } from "./message/email-id.ts";
import type { MessageOrigin, MessageSource, MessageStatus } from "./message/status.ts";
import { inSpanOfSql } from "./partitions/ids-span.ts";

/** Options of one message, stored with its content (column `particulars`). */
export interface MessageOptions {
  /** Headers in addition to the generated ones. */
  readonly headers: readonly HeaderField[];
  /** Host of the envelope sender, when it is not that of the From domain. */
  readonly return_path_host: string | null;
  /** The chosen egress path, if any; the address takes precedence over the rule. */
  readonly sending_ip: string | null;
  readonly routing_rule_id: string | null;
  /** Whether tracked links and a pixel are added to its HTML when it is composed. */
  readonly is_tracked?: boolean;
  /** The recipients that the message shows, and its Message-ID, when they are not those of this message alone. */
  readonly addressees?: Addressees;
}

/** Header fields that the messages of one mail to several recipients have in common. */
export interface Addressees {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly reply_to: readonly Mailbox[];
  /** Left part of the Message-ID, a UUID. */
  readonly message_id: string;
}

/** Content that is stored once for all recipients. */
export interface Submission {
  /** UUID of version 7. */
  readonly id: string;
  /**
   * A complete message that a client submitted by SMTP: header section and body, CRLF line ends. Null: the html, text,
   * attachments and options of the messages, which are the same for all of them, are stored once.
   */
  readonly raw: Buffer | null;
}

/** A message to be accepted. */
export interface NewMessage {
  readonly workspaceId: WorkspaceId;
  /** UUID of version 7: it contains the time of acceptance. */
  readonly id: string;
  readonly source: MessageSource;
  readonly originId: string | null;
  readonly originName: string;
  readonly fromEmail: string;
  readonly fromName: string | null;
  readonly toName: string | null;
  readonly localpart: string;
  readonly domain: string;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly attachments: readonly StoredAttachment[];
  /** Replaces html, text and attachments, or stores them once. */
  readonly submission?: Submission;
  /** For mail of POST /emails. */
  readonly emailDetails?: EmailDetails;
  readonly particulars?: MessageOptions;
  readonly bounceEmail: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
}

/** Conditions of acceptance: whether messages are logged, and which of them are sent. */
export interface Admission {
  /** Names of the two parts that other parts of the statement read: the log's rows, and the contents. */
  readonly log: Sql;
  readonly contents: Sql;
  /** The condition under which the batch is inserted. */
  readonly condition: Sql;
  /**
   * The suppression check: a lateral relation that has one row, the `detail`, for a suppressed message `m`, and none
   * for others. It uses the columns of the log and the `address` given here for each message. Null when `condition`
   * already excludes suppressed recipients and no message is a submission: the parts for those are then left out.
   */
  readonly judging: { readonly addresses: readonly string[]; readonly verdict: Sql } | null;
}

/** No message is suppressed. */
const noVerdict = sql`(select null::text as detail)`;

/**
 * A condition on message_id: the message is accepted by this statement and not suppressed. Content is stored only for
 * these.
 */
export function willBeSentSql({ judging, log }: Pick<Admission, "judging" | "log">): Sql {
  return judging ? sql`message_id not in (select id from ${log} where status <> 'queued')` : sql`true`;
}

/** Whether a message has tags or metadata. The statement has a further part then. */
export function haveLabels(messages: readonly NewMessage[]): boolean {
  return messages.some(({ emailDetails: of }) => of?.tags !== undefined || of?.metadata !== undefined);
}

/**
 * Common table expressions of the acceptance statement (sending/acceptance/acceptor.ts): the rows of the log, the
 * contents, and the events of suppressed messages. They insert nothing unless the condition holds.
 */
export function insertMessagesSql(messages: readonly NewMessage[], admission: Admission): Sql {
  const { log, contents, condition, judging } = admission;
  type Read<Value> = (message: NewMessage) => Value;
  const texts = (read: Read<string | Buffer | null>) => textArray(messages.map(read));
  const uuids = (read: Read<string | null>) => uuidArray(messages.map(read));
  const workspaces = uuids((message) => message.workspaceId);
  const ids = uuids((message) => message.id);
  return sql`
    ${log} as (
      insert into messages (workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, subject,
        request_id, created_at, updated_at, status, error_message, email_details)
      select workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, subject, request_id,
        created_at, created_at, case when s.detail is null then 'queued' else 'suppressed' end, s.detail, email_details
      from unnest(
        ${workspaces}::uuid[], ${ids}::uuid[], ${texts((message) => message.source)}::text[],
        ${uuids((message) => message.originId)}::uuid[], ${texts((message) => message.originName)}::text[],
        ${texts((message) => message.fromEmail)}::text[], ${texts((message) => message.localpart)}::text[],
        ${texts((message) => message.domain)}::text[], ${texts((message) => message.subject)}::text[],
        ${texts((message) => message.requestId)}::text[],
        ${timestamptzArray(messages.map(({ createdAt }) => createdAt))}::timestamptz[],
        ${texts(detailsJson)}::text[]::jsonb[], ${textArray(judging?.addresses ?? [])}::text[])
        as m (workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, subject, request_id,
          created_at, email_details, address)
      left join ${judging?.verdict ?? noVerdict} as s on true
      where ${condition}
      returning workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, status, created_at,
        error_message, email_details
    )${haveLabels(messages) ? sql`, labels as (${insertLabelsSql(log)})` : empty}, ${contents} as (
      insert into message_contents (workspace_id, message_id, from_name, to_name, html, text, attachments,
        bounce_email, particulars, submission_id)
      select * from unnest(
        ${workspaces}::uuid[], ${ids}::uuid[], ${texts((message) => message.fromName)}::text[],
        ${texts((message) => message.toName)}::text[], ${texts(unlessShared((message) => message.html))}::text[],
        ${texts(unlessShared((message) => message.text))}::text[], ${texts(unlessShared(attachedJson))}::text[]::jsonb[],
        ${texts((message) => message.bounceEmail)}::text[], ${texts(unlessShared(particularsJson))}::text[]::jsonb[],
        ${uuids((message) => message.submission?.id ?? null)}::uuid[])
        as c (workspace_id, message_id, from_name, to_name, html, text, attachments, bounce_email, particulars,
          submission_id)
      where ${condition} and ${willBeSentSql(admission)}
      returning submission_id
    )${judging ? forSomeSql(messages, admission) : empty}, deltas as (
      ${addAcceptedDeltasSql(log)}
    )`;
}

/** Common table expressions for submissions and for the events of suppressed messages. */
function forSomeSql(messages: readonly NewMessage[], { log, contents, condition }: Admission): Sql {
  const firsts = [...new Map(messages.map((message) => [message.submission?.id, message])).values()];
  const submitted = firsts.filter(({ submission }) => submission !== undefined);
  const parts = (read: (message: NewMessage) => string | Buffer | null) =>
    textArray(submitted.map((message) => (message.submission?.raw === null ? read(message) : null)));
  return sql`, submitted as (
      insert into submissions (workspace_id, id, raw, html, text, attachments, particulars)
      select * from unnest(
        ${uuidArray(submitted.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${uuidArray(submitted.map(({ submission }) => submission?.id ?? null))}::uuid[],
        ${byteaArray(submitted.map(({ submission }) => submission?.raw ?? null))}::bytea[],
        ${parts(({ html }) => html)}::text[], ${parts(({ text }) => text)}::text[],
        ${parts(attachedJson)}::text[]::jsonb[], ${parts(particularsJson)}::text[]::jsonb[])
        as s (workspace_id, id, raw, html, text, attachments, particulars)
      where ${condition} and id in (select submission_id from ${contents})
    ), events as (
      insert into message_events (workspace_id, message_id, id, type, time, detail)
      select workspace_id, id, gen_random_uuid(), status, created_at, error_message from ${log}
      where status <> 'queued'
    )`;
}

/**
 * Common table expressions of the statement that queues a campaign step: log rows of the messages in a relation with
 * id, localpart and domain, in the order of ids; the number of messages of each domain (`byDomain`); and counter
 * deltas. Contents are not stored.
 */
export function insertQueuedSql(
  { mail, byDomain }: { readonly mail: Sql; readonly byDomain: Sql },
  origin: MessageOrigin,
): Sql {
  return sql`
    log as (
      insert into messages (workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, subject,
        is_sms, created_at, updated_at)
      select ${origin.workspaceId}, id, ${origin.source}, ${origin.originId}, ${origin.originName}, ${origin.fromEmail},
        localpart, domain, ${origin.subject}, ${origin.isSms ?? false}, ${origin.createdAt}, ${origin.createdAt}
      from ${mail}
    ), ${byDomain} as materialized (
      select domain, count(*) as queued from ${mail} group by domain
    ), deltas as (
      ${addQueuedDeltasSql(byDomain, origin)}
    )`;
}

/** Personal values of a message, for its web view. */
export interface ShownValues {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  /** JSON, read by the wing that sent the message. */
  readonly values: string;
}

/** Stores the values; they are removed with the message's row in the log. */
export async function saveShownValues(db: Queryable, kept: readonly ShownValues[]): Promise<void> {
  if (kept.length === 0) return;
  const ids = kept.map((one) => one.messageId);
  await db.run(sql`
    update messages m set shown = k.shown
    from unnest(
      ${uuidArray(kept.map((one) => one.workspaceId))}::uuid[], ${uuidArray(ids)}::uuid[],
      ${textArray(kept.map((one) => one.values))}::text[]) as k (workspace_id, message_id, shown)
    where m.workspace_id = k.workspace_id and m.id = k.message_id ${inSpanOfSql(sql`m.id`, ids)}`);
}

/** The time of the next attempt as the log shows it, for a deferred message that was made due earlier. */
export async function updateNextAttempt(
  tx: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
  time: Date,
): Promise<void> {
  await tx.run(sql`
    update messages set next_attempt_at = ${time}
    where workspace_id = ${workspaceId} and id = ${messageId} and status = 'deferred'`);
}

/** Reads what is stored with the message itself, unless it is stored once for all recipients. */
function unlessShared<Value>(read: (message: NewMessage) => Value): (message: NewMessage) => Value | null {
  return (message) => (message.submission === undefined ? read(message) : null);
}

function detailsJson({ emailDetails }: NewMessage): string | null {
  return emailDetails === undefined ? null : JSON.stringify(emailDetails);
}

function attachedJson({ attachments }: NewMessage): Buffer | null {
  return attachments.length === 0 ? null : attachmentsJson(attachments);
}

function particularsJson({ particulars }: NewMessage): string | null {
  return particulars === undefined ? null : JSON.stringify(particulars);
}

export interface MessageRow {
  readonly id: string;
  readonly time: Date;
  readonly localpart: string;
  readonly domain: string;
  readonly status: MessageStatus;
  readonly attempts: number;
  readonly error_message: string | null;
  readonly source: MessageSource;
  readonly origin_id: string | null;
  readonly origin_name: string;
  readonly next_attempt_at: Date | null;
  readonly from_email: string;
  readonly subject: string;
  readonly request_id: string | null;
  readonly email_details: EmailDetails | null;
}

/** A message shows as `sending` while a delivery worker has leased it (message/status.ts). */
const shownStatus = sql`
  case when q.leased_by is not null and m.status in ('queued', 'deferred') then 'sending' else m.status end`;

const messageColumns = sql`m.id, m.created_at as time, m.localpart, m.domain, ${shownStatus} as status, m.attempts,
  m.error_message, m.source, m.origin_id, m.origin_name, m.next_attempt_at, m.from_email, m.subject, m.request_id,
  m.email_details`;

const logWithQueue = sql`messages m left join delivery_queue q on q.workspace_id = m.workspace_id and q.message_id = m.id`;

/** Newest first. */
export function listMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<MessageRow[]> {
  return db.rows(sql`
    select ${messageColumns} from ${logWithQueue}
    where m.workspace_id = ${workspaceId} and m.id = any (${[...ids]}::uuid[]) order by m.id desc`);
}

export function findMessage(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<MessageRow | undefined> {
  return db.row(sql`
    select ${messageColumns} from ${logWithQueue} where m.workspace_id = ${workspaceId} and m.id = ${id}`);
}

/** The messages of a mail of POST /emails, in the order of its recipients. */
export function listMessagesOfEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  emailId: string,
): Promise<MessageRow[]> {
  return db.rows(sql`
    select ${messageColumns} from ${logWithQueue}
    where m.workspace_id = ${workspaceId} and m.id between ${emailId} and ${lastIdOf(emailId)}
      and m.email_details is not null
    order by m.id`);
}

export interface EventRow {
  readonly type: string;
  readonly time: Date;
  readonly attempt: number | null;
  readonly detail: string | null;
  readonly mx_host: string | null;
  readonly code: number | null;
  readonly enhanced_code: string | null;
  /** Our source address of the attempt. */
  readonly source_ip: string | null;
  /** TLS of the connection; null for events that are not an attempt. */
  readonly tls: (Omit<TlsNote, "clear_text_reason"> & { readonly clear_text_reason: string | null }) | null;
  readonly times: number;
  readonly user_agent: string | null;
  readonly machine_sign: string | null;
  /** Records of the SMTP conversation (message/conversation.ts): of the connection's opening, and of the message itself. */
  readonly opening: string | null;
  readonly conversation: string | null;
}

/** Events of one message, oldest first, at most 1,000. */
export async function listEvents(
  db: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<EventRow[]> {
  const events = await db.rows<Omit<EventRow, "opening"> & { readonly opening_id: string | null }>(sql`
    select e.type, e.time, e.attempt, e.detail, e.mx_host, e.code, e.enhanced_code, host(e.source_ip) as source_ip,
      '{"clear_text_reason": null}'::jsonb || e.tls as tls,
      coalesce(e.times, 1) as times, e.user_agent, e.machine_sign, e.opening_id, e.conversation
    from message_events e
    where e.workspace_id = ${workspaceId} and e.message_id = ${messageId} order by e.time, e.id limit 1000`);
  const ids = new Set(events.flatMap(({ opening_id }) => opening_id ?? []));
  // A statement of its own: with ids that are known beforehand it opens the days of the openings only.
  const openings = await (ids.size === 0 ? [] : listOpenings(db, workspaceId, [...ids]));
  const lines = new Map(openings.map((opening) => [opening.id, opening.lines]));
  return events.map(({ opening_id, ...event }) => ({
    ...event,
    opening: (opening_id && lines.get(opening_id)) ?? null,
  }));
}

function listOpenings(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly lines: string }[]> {
  return db.rows(sql`
    select id, lines from smtp_openings
    where workspace_id = ${workspaceId} and id = any (${[...ids]}::uuid[])`);
}
