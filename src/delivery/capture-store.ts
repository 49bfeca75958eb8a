/** The SQL of the local inbox (capture mode). It is the operator's, not a workspace's: it shows all of them. */
import sql from "sql-template-tag";
import type { Database, Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";

export interface NewCaptured {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly mailFrom: string;
  readonly rcptTo: string;
  readonly subject: string;
  readonly raw: Buffer;
}

/** A message captured twice (a worker died before it could say so) is one message. */
export async function insertCaptured(db: Queryable, messages: readonly NewCaptured[]): Promise<void> {
  if (messages.length === 0) return;
  const column = <Value>(read: (message: NewCaptured) => Value) => messages.map(read);
  await db.run(sql`
    insert into captured_messages (workspace_id, message_id, mail_from, rcpt_to, subject, raw)
    select * from unnest(
      ${column((message) => message.workspaceId)}::uuid[], ${column((message) => message.messageId)}::uuid[],
      ${column((message) => message.mailFrom)}::text[], ${column((message) => message.rcptTo)}::text[],
      ${column((message) => message.subject)}::text[], ${column((message) => message.raw)}::bytea[])
    on conflict do nothing`);
}

export interface CapturedRow {
  readonly id: string;
  readonly mail_from: string;
  readonly rcpt_to: string;
  readonly subject: string;
  readonly received_at: Date;
}

/** Newest first. */
export function listCaptured(db: Database, page: { limit: number; offset: number }): Promise<CapturedRow[]> {
  return db.rows(sql`
    select message_id as id, mail_from, rcpt_to, subject, received_at from captured_messages
    order by message_id desc limit ${page.limit} offset ${page.offset}`);
}

export function findCaptured(db: Database, id: string): Promise<(CapturedRow & { raw: Buffer }) | undefined> {
  return db.row(sql`
    select message_id as id, mail_from, rcpt_to, subject, received_at, raw from captured_messages
    where message_id = ${id}`);
}

/** Keeps the inbox small: the newest stay. */
export function removeOldCaptured(db: Database, keep: number): Promise<number> {
  return db.run(sql`
    delete from captured_messages where message_id < (
      select message_id from captured_messages order by message_id desc offset ${keep} limit 1)`);
}
