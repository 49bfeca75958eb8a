/** SQL that leases received mail for parsing, and stores what was parsed. */
import sql from "sql-template-tag";
import type { ReceivedMail } from "#inbound/parsing/read-received-mail.ts";
import { storableJson } from "#inbound/parsing/storable-text.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Authentication } from "./authenticate.ts";

/** A leased mail. The lease number counts its attempts. */
export interface LeasedReceived {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly lease_number: number;
}

/** Leases the due mail whose turn it is until the given time, except mail of some workspaces. */
export function leaseReceived(
  db: Queryable,
  {
    now,
    until,
    except,
  }: { readonly now: Date; readonly until: Date; readonly except: readonly WorkspaceId[] },
): Promise<LeasedReceived | undefined> {
  return db.row(sql`
    with due as materialized (
      select workspace_id, id from received_emails
      where status = 'received' and due_at <= ${now} and workspace_id <> all(${except}::uuid[])
      order by turn, id limit 1 for update skip locked)
    update received_emails m set due_at = ${until}, lease_number = lease_number + 1
    from due where m.workspace_id = due.workspace_id and m.id = due.id
    returning m.workspace_id, m.id, m.lease_number`);
}

/** A stored mail that is not parsed yet. */
export interface StoredReceived {
  readonly id: string;
  readonly route_id: string;
  readonly keep: boolean;
  readonly webhook: boolean;
  readonly mail_from: string;
  readonly rcpt_to: string;
  readonly remote_ip: string;
  readonly helo: string;
  readonly raw: Buffer;
  readonly bytes: number;
  readonly received_at: Date;
  readonly spam_score: number | null;
  readonly is_spam: boolean;
}

export function findStoredReceived(
  db: Queryable,
  { workspace_id, id, lease_number }: LeasedReceived,
): Promise<StoredReceived | undefined> {
  return db.row(sql`
    select id, route_id, keep, webhook, mail_from, rcpt_to, remote_ip, helo, raw, bytes, received_at, spam_score, is_spam
    from received_emails
    where workspace_id = ${workspace_id} and id = ${id} and lease_number = ${lease_number} and status = 'received'`);
}

/** An attachment as it is stored: its place in the mail is its place in the list. */
export type KeptAttachment = ReceivedMail["attachments"][number] & { readonly id: string };

export interface ReadReceived {
  readonly mail: Omit<ReceivedMail, "attachments"> & { readonly attachments: readonly KeptAttachment[] };
  /** The message of the workspace that it answers. */
  readonly inReplyTo: string | null;
  /** The message of the workspace that it is. */
  readonly ownMessage: string | null;
  readonly authentication: Authentication | null;
}

/**
 * Stores what was parsed; null: the mail is unreadable. Ends the lease.
 * @returns false when there is a newer lease, or the mail was deleted meanwhile
 */
export async function settleReceived(
  tx: Queryable,
  { workspace_id, id, lease_number }: LeasedReceived,
  read: ReadReceived | null,
): Promise<boolean> {
  const { mail, inReplyTo = null, ownMessage = null, authentication = null } = read ?? {};
  const { from, subject, message_id, text, html, automatic, answered: _ids, ...details } = mail ?? {};
  const settled = await tx.run(sql`
    update received_emails set status = ${read === null ? "unreadable" : "parsed"},
      from_email = ${from?.email.toLowerCase() ?? null}, subject = ${subject ?? null},
      message_id = ${message_id ?? null}, text = ${text ?? null}, html = ${html ?? null},
      details = ${mail === undefined ? null : storableJson({ from, ...details })}::jsonb,
      automatic = ${automatic ?? null}, in_reply_to_message_id = ${inReplyTo}, own_message_id = ${ownMessage},
      authentication = ${authentication === null ? null : storableJson(authentication)}::jsonb
    where workspace_id = ${workspace_id} and id = ${id} and lease_number = ${lease_number} and status = 'received'`);
  return settled > 0;
}

/** Keeps a mail whose route keeps none. */
export async function keepReceived(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`
    update received_emails set keep = true where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Whether a mail that was stored before an id was made waits to be parsed: nothing is known of its From field. */
export async function hasWaitingReceived(
  db: Queryable,
  workspaceId: WorkspaceId,
  beforeId: string,
): Promise<boolean> {
  const waiting = await db.row(sql`
    select from received_emails where workspace_id = ${workspaceId} and id < ${beforeId} and status = 'received' limit 1`);
  return waiting !== undefined;
}

/** Mails that wait to be parsed. */
export async function countWaitingReceived(db: Queryable): Promise<number> {
  const row = await db.row<{ mails: number }>(sql`
    select count(*) as mails from received_emails where status = 'received'`);
  return row?.mails ?? 0;
}

/** The age in seconds of the oldest mail that waits to be parsed; 0 if none waits. */
export async function waitOfOldestReceived(db: Queryable, now: Date): Promise<number> {
  const row = await db.row<{ since: Date | null }>(sql`
    select min(received_at) as since from received_emails where status = 'received'`);
  const since = row?.since ?? null;
  return since === null ? 0 : Math.max(0, now.getTime() - since.getTime()) / 1_000;
}

/** Ends a lease; the mail is due again at the given time. */
export async function releaseReceived(
  db: Queryable,
  { workspace_id, id, lease_number }: LeasedReceived,
  dueAt: Date,
): Promise<void> {
  await db.run(sql`
    update received_emails set due_at = ${dueAt}
    where workspace_id = ${workspace_id} and id = ${id} and lease_number = ${lease_number} and status = 'received'`);
}
