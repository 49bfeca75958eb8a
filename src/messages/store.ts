/** The SQL of the message log. The log is written at acceptance (here) and by the door (door.ts), nowhere else. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import type { MessageSource, MessageStatus } from "./states.ts";

/** An attachment as it is stored: content stays base64, as it came. */
export interface StoredAttachment {
  readonly filename: string;
  readonly content: string;
  readonly content_type: string;
  readonly disposition: "attachment" | "inline";
  readonly content_id: string | null;
}

/** A message about to be accepted. */
export interface NewMessage {
  readonly workspaceId: WorkspaceId;
  /** Version 7: it carries the time of acceptance. */
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
  readonly bounceEmail: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
}

/**
 * Two parts of the one statement that accepts a batch (sending/accept.ts): the log's rows and the contents. They
 * are `insert`s without `returning`, to stand in a `with`, and insert nothing unless the condition holds.
 */
export function insertMessagesSql(
  messages: readonly NewMessage[],
  condition: Sql,
): { log: Sql; contents: Sql } {
  const column = <Value>(read: (message: NewMessage) => Value) => messages.map(read);
  const workspaces = column((message) => message.workspaceId);
  const ids = column((message) => message.id);
  return {
    log: sql`
      insert into messages (workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, subject,
        request_id, created_at, updated_at)
      select *, created_at from unnest(
        ${workspaces}::uuid[], ${ids}::uuid[], ${column((message) => message.source)}::text[],
        ${column((message) => message.originId)}::uuid[], ${column((message) => message.originName)}::text[],
        ${column((message) => message.fromEmail)}::text[], ${column((message) => message.localpart)}::text[],
        ${column((message) => message.domain)}::text[], ${column((message) => message.subject)}::text[],
        ${column((message) => message.requestId)}::text[], ${column((message) => message.createdAt)}::timestamptz[])
        as m (workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, subject, request_id, created_at)
      where ${condition}`,
    contents: sql`
      insert into message_contents (workspace_id, message_id, from_name, to_name, html, text, attachments, bounce_email)
      select * from unnest(
        ${workspaces}::uuid[], ${ids}::uuid[], ${column((message) => message.fromName)}::text[],
        ${column((message) => message.toName)}::text[], ${column((message) => message.html)}::text[],
        ${column((message) => message.text)}::text[], ${column(attachmentsJson)}::jsonb[],
        ${column((message) => message.bounceEmail)}::text[])
      where ${condition}`,
  };
}

function attachmentsJson(message: NewMessage): string | null {
  return message.attachments.length === 0 ? null : JSON.stringify(message.attachments);
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
  readonly origin_name: string;
  readonly next_attempt_at: Date | null;
  readonly from_email: string;
  readonly subject: string;
  readonly request_id: string | null;
}

export interface MessageFilter {
  readonly source?: MessageSource | undefined;
  readonly status?: MessageStatus | undefined;
  /** Any part of the recipient's address, in any case. */
  readonly email?: string | undefined;
}

/** A message is being sent while a delivery worker holds its lease (states.ts). */
const shownStatus = sql`case when q.leased_by is not null and m.status in ('queued', 'deferred') then 'sending' else m.status end`;

const messageColumns = sql`m.id, m.created_at as time, m.localpart, m.domain, ${shownStatus} as status, m.attempts,
  m.error_message, m.source, m.origin_name, m.next_attempt_at, m.from_email, m.subject, m.request_id`;

const logWithQueue = sql`messages m left join delivery_queue q on q.workspace_id = m.workspace_id and q.message_id = m.id`;

function matching(workspaceId: WorkspaceId, filter: MessageFilter): Sql {
  return sql`m.workspace_id = ${workspaceId}
    ${filter.source ? sql`and m.source = ${filter.source}` : empty}
    ${filter.status ? sql`and ${isShownAs(workspaceId, filter.status)}` : empty}
    ${filter.email ? sql`and position(lower(${filter.email}) in lower(m.localpart || '@' || m.domain)) > 0` : empty}`;
}

/** What is being sent is looked up from the queue: the workers hold few, the log has millions. */
function isShownAs(workspaceId: WorkspaceId, status: MessageStatus): Sql {
  const held = sql`array(
    select message_id from delivery_queue where workspace_id = ${workspaceId} and leased_by is not null)`;
  if (status === "sending") return sql`m.status in ('queued', 'deferred') and m.id = any (${held})`;
  const canBeHeld = status === "queued" || status === "deferred";
  return sql`m.status = ${status} ${canBeHeld ? sql`and m.id <> all (${held})` : empty}`;
}

/** Newest first. */
export function listMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: MessageFilter,
  page: { limit: number; offset: number },
): Promise<MessageRow[]> {
  return db.rows(sql`
    select ${messageColumns} from ${logWithQueue} where ${matching(workspaceId, filter)}
    order by m.id desc limit ${page.limit} offset ${page.offset}`);
}

export async function countMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: MessageFilter,
): Promise<number> {
  const counted = await db.row<{ total: number }>(sql`
    select count(*) as total from messages m where ${matching(workspaceId, filter)}`);
  return counted?.total ?? 0;
}

export function findMessage(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<MessageRow | undefined> {
  return db.row(sql`
    select ${messageColumns} from ${logWithQueue} where m.workspace_id = ${workspaceId} and m.id = ${id}`);
}

export interface EventRow {
  readonly type: string;
  readonly time: Date;
  readonly attempt: number | null;
  readonly detail: string | null;
  readonly mx_host: string | null;
  readonly code: number | null;
  readonly enhanced_code: string | null;
}

/** What happened to one message, oldest first. */
export function listEvents(db: Queryable, workspaceId: WorkspaceId, messageId: string): Promise<EventRow[]> {
  return db.rows(sql`
    select type, time, attempt, detail, mx_host, code, enhanced_code from message_events
    where workspace_id = ${workspaceId} and message_id = ${messageId} order by time, id limit 1000`);
}
