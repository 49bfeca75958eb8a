/** The tables of verified senders and of their confirmation mails. */
import sql from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { SenderLink } from "./confirmation-token.ts";

export interface VerifiedSender {
  readonly id: string;
  /** Lower-case. */
  readonly email: string;
  readonly from_name: string;
  readonly is_verified: boolean;
  readonly verified_at: Date | null;
  readonly token_expires_at: Date;
  readonly created_at: Date;
}

/** A sender with the number of its newest link. */
export interface LinkedSender extends VerifiedSender {
  readonly token_number: number;
}

const columns = sql`id, email, from_name, is_verified, verified_at, token_expires_at, created_at`;

/** Limited because the endpoint lists all verified senders at once. */
export const verifiedSenderRoom: WorkspaceRowLimit = {
  table: sql`verified_senders`,
  what: "verified senders",
  most: 1_000,
};

/** Newest first. */
export function listVerifiedSenders(db: Queryable, workspaceId: WorkspaceId): Promise<VerifiedSender[]> {
  return db.rows(sql`
    select ${columns} from verified_senders
    where workspace_id = ${workspaceId}
    order by created_at desc, id desc`);
}

export function findVerifiedSender(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<(LinkedSender & { readonly link_sent_at: Date }) | undefined> {
  return db.row(sql`
    select ${columns}, token_number, link_sent_at from verified_senders
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The new row, or undefined when the workspace has the address already. */
export function insertVerifiedSender(
  db: Queryable,
  workspaceId: WorkspaceId,
  sender: { readonly email: string; readonly fromName: string; readonly now: Date; readonly expiresAt: Date },
): Promise<LinkedSender | undefined> {
  return db.row(sql`
    insert into verified_senders
      (workspace_id, id, email, from_name, token_expires_at, link_sent_at, created_at)
    values (${workspaceId}, ${newId()}, ${sender.email}, ${sender.fromName}, ${sender.expiresAt},
      ${sender.now}, ${sender.now})
    on conflict (workspace_id, email) do nothing
    returning ${columns}, token_number`);
}

/**
 * Assigns the number of the next link, which invalidates the earlier links. The statement itself checks the conditions,
 * so that only one of several concurrent calls succeeds.
 * @returns undefined when the sender does not exist, is verified, or had a link re-sent after `quietSince`
 */
export function updateSenderLink(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  link: { readonly now: Date; readonly expiresAt: Date; readonly quietSince: Date },
): Promise<LinkedSender | undefined> {
  return db.row(sql`
    update verified_senders
    set token_number = token_number + 1, token_expires_at = ${link.expiresAt}, link_sent_at = ${link.now}
    where workspace_id = ${workspaceId} and id = ${id} and not is_verified
      and (token_number = 1 or link_sent_at <= ${link.quietSince})
    returning ${columns}, token_number`);
}

/** The sender of this link; undefined unless it is the newest link and unused. */
export function findSenderOfLink(db: Queryable, link: SenderLink): Promise<VerifiedSender | undefined> {
  return db.row(sql`select ${columns} from verified_senders where ${isOpen(link)}`);
}

/** Verifies the sender of this link; undefined unless it is the newest link and unused. */
export function updateSenderVerified(
  db: Queryable,
  link: SenderLink,
  now: Date,
): Promise<VerifiedSender | undefined> {
  return db.row(sql`
    update verified_senders set is_verified = true, verified_at = ${now}
    where ${isOpen(link)}
    returning ${columns}`);
}

const isOpen = ({ workspaceId, senderId, number }: SenderLink) => sql`
  workspace_id = ${workspaceId} and id = ${senderId} and token_number = ${number} and not is_verified`;

/** Deletes the sender and returns its address; undefined when the sender does not exist. */
export async function removeVerifiedSender(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<string | undefined> {
  const removed = await db.row<{ email: string }>(sql`
    delete from verified_senders where workspace_id = ${workspaceId} and id = ${id} returning email`);
  return removed?.email;
}

/**
 * Serialises the confirmation mails of a workspace until the transaction ends, so that concurrent calls cannot exceed
 * the limit together.
 */
export async function lockConfirmationMails(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey(`confirmation mails ${workspaceId}`)})`);
}

/**
 * Records a mail to the mailbox, unless the workspace sent one to it after `quietSince`; deletes records from before
 * `forgetBefore`. The caller holds the lock (lockConfirmationMails).
 * @returns when the last mail was sent; undefined when the new mail was recorded
 */
export async function insertConfirmationMail(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailbox: string,
  { now, quietSince, forgetBefore }: { readonly [Time in "now" | "quietSince" | "forgetBefore"]: Date },
): Promise<Date | undefined> {
  const late = await tx.row<{ sent_at: Date }>(sql`
    with late as materialized (
      select sent_at from confirmation_mails
      where workspace_id = ${workspaceId} and mailbox = ${mailbox} and sent_at > ${quietSince}
      order by sent_at desc limit 1
    ), forgotten as (
      delete from confirmation_mails where workspace_id = ${workspaceId} and sent_at <= ${forgetBefore}
    ), noted as (
      insert into confirmation_mails (workspace_id, id, mailbox, sent_at)
      select ${workspaceId}::uuid, ${newId()}::uuid, ${mailbox}::text, ${now}::timestamptz
      where not exists (select from late)
    )
    select sent_at from late`);
  return late?.sent_at;
}
