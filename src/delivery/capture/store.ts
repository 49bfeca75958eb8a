/** SQL of the local inbox (capture mode). The inbox belongs to the operator and shows the messages of all workspaces. */
import sql from "sql-template-tag";
import { byteaArray } from "#platform/database/binary-arrays.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface NewCaptured {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly fromEmail: string;
  readonly mailFrom: string;
  readonly rcptTo: string;
  readonly subject: string;
  readonly raw: Buffer;
}

/** A message captured twice (a worker died before its result was written) is stored once. */
export async function insertCaptured(db: Queryable, messages: readonly NewCaptured[]): Promise<void> {
  if (messages.length === 0) return;
  const column = <Value>(read: (message: NewCaptured) => Value) => messages.map(read);
  await db.run(sql`
    insert into captured_messages (workspace_id, message_id, from_email, mail_from, rcpt_to, subject, raw)
    select * from unnest(
      ${column((message) => message.workspaceId)}::uuid[], ${column((message) => message.messageId)}::uuid[],
      ${column((message) => message.fromEmail)}::text[], ${column((message) => message.mailFrom)}::text[],
      ${column((message) => message.rcptTo)}::text[], ${column((message) => message.subject)}::text[],
      ${byteaArray(messages.map(({ raw }) => raw))}::bytea[])
    on conflict do nothing`);
}

export interface CapturedRow {
  readonly id: string;
  /** The address in the From header. */
  readonly from: string;
  /** The recipient on the envelope. */
  readonly to: string;
  readonly subject: string;
  readonly received_at: Date;
}

const columns = sql`message_id as id, from_email as "from", rcpt_to as "to", subject, received_at`;

/** Newest first. */
export function listCaptured(db: Queryable, page: Page): Promise<CapturedRow[]> {
  return db.rows(sql`
    select ${columns} from captured_messages
    order by message_id desc limit ${page.limit} offset ${page.offset}`);
}

export async function countCaptured(db: Queryable): Promise<number> {
  const counted = await db.row<{ total: number }>(sql`select count(*) as total from captured_messages`);
  return counted?.total ?? 0;
}

/** Including the envelope sender and the message itself. */
export function findCaptured(
  db: Queryable,
  id: string,
): Promise<(CapturedRow & { mail_from: string; raw: Buffer }) | undefined> {
  return db.row(sql`select ${columns}, mail_from, raw from captured_messages where message_id = ${id}`);
}

/** Deletes all messages but the newest `keep`. */
export function removeOldCaptured(db: Queryable, keep: number): Promise<number> {
  return db.run(sql`
    delete from captured_messages where message_id <= (
      select message_id from captured_messages order by message_id desc offset ${keep} limit 1)`);
}

/** Deletes the copies of these messages. */
export async function removeCapturedOf(
  tx: Queryable,
  workspaceId: WorkspaceId,
  messageIds: readonly string[],
): Promise<void> {
  await tx.run(sql`
    delete from captured_messages
    where workspace_id = ${workspaceId} and message_id = any (${[...messageIds]}::uuid[])`);
}
