/** SQL of links that work once. Only the SHA-256 of their tokens is stored. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** What a link is for: the first owner of an installation, a new password, or a new address. */
export type AccountLinkPurpose = "first_owner" | "set_password" | "change_email";

export interface AccountLink {
  readonly purpose: AccountLinkPurpose;
  /** Null for the first owner, who does not exist yet. */
  readonly user_id: string | null;
  /** The new address of a change. */
  readonly email: string | null;
}

/** Replaces earlier links of the same purpose and user: only the newest works. */
export async function insertLink(
  tx: Queryable,
  tokenHash: Buffer,
  { purpose, user_id, email }: AccountLink,
  { now, expiresAt }: { readonly now: Date; readonly expiresAt: Date },
): Promise<void> {
  await removeLinks(tx, purpose, user_id);
  await tx.run(sql`
    insert into account_links (token_hash, purpose, user_id, email, created_at, expires_at)
    values (${tokenHash}, ${purpose}, ${user_id}, ${email}, ${now}, ${expiresAt})`);
}

export async function removeLinks(
  tx: Queryable,
  purpose: AccountLinkPurpose,
  userId: string | null,
): Promise<void> {
  await tx.run(sql`
    delete from account_links where purpose = ${purpose} and user_id is not distinct from ${userId}`);
}

/** Uses a link up. @returns undefined when it does not exist, was used or replaced, or has expired */
export function takeLink(
  tx: Queryable,
  tokenHash: Buffer,
  purpose: AccountLinkPurpose,
  now: Date,
): Promise<AccountLink | undefined> {
  return tx.row(sql`
    delete from account_links where token_hash = ${tokenHash} and purpose = ${purpose} and expires_at > ${now}
    returning purpose, user_id, email`);
}

/** A link that still works, for a look before it is used up. */
export function findAccountLink(
  db: Queryable,
  tokenHash: Buffer,
  purpose: AccountLinkPurpose,
  now: Date,
): Promise<AccountLink | undefined> {
  return db.row(sql`
    select purpose, user_id, email from account_links
    where token_hash = ${tokenHash} and purpose = ${purpose} and expires_at > ${now}`);
}

/** Deletes up to `most` links that have expired. @returns how many */
export function removeExpiredLinks(db: Queryable, now: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from account_links where token_hash in (
      select token_hash from account_links where expires_at <= ${now} limit ${most})`);
}

/** Whether the installation has a person. */
export async function hasUser(db: Queryable): Promise<boolean> {
  const row = await db.row(sql`select from users limit 1`);
  return row !== undefined;
}

/** Makes other transactions that add a user wait for the end of this one. */
export async function lockUsers(tx: Queryable): Promise<void> {
  await tx.run(sql`lock table users in share row exclusive mode`);
}
