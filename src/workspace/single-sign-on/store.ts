/** SQL of accounts at the OpenID provider. They belong to users, and so to the installation. */
import sql from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Queryable } from "#platform/database/pool.ts";

interface Account {
  readonly issuer: string;
  readonly subject: string;
}

/** Makes sign-ins with one account wait for each other until the transaction ends. */
export async function lockExternalAccount(tx: Queryable, { issuer, subject }: Account): Promise<void> {
  const key = lockKey(`external account ${issuer} ${subject}`);
  await tx.rows(sql`select pg_advisory_xact_lock(${key})`);
}

export async function findUserIdOfAccount(
  tx: Queryable,
  { issuer, subject }: Account,
): Promise<string | undefined> {
  const row = await tx.row<{ user_id: string }>(
    sql`select user_id from external_accounts where issuer = ${issuer} and subject = ${subject}`,
  );
  return row?.user_id;
}

/** Notes that the account is used now. */
export async function useExternalAccount(
  tx: Queryable,
  { issuer, subject }: Account,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update external_accounts set last_used_at = ${now} where issuer = ${issuer} and subject = ${subject}`);
}

export async function insertExternalAccount(
  tx: Queryable,
  { issuer, subject }: Account,
  userId: string,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into external_accounts (issuer, subject, user_id, created_at, last_used_at)
    values (${issuer}, ${subject}, ${userId}, ${now}, ${now})`);
}

/** Whether the user signs in with another account of the issuer. */
export async function hasExternalAccount(tx: Queryable, issuer: string, userId: string): Promise<boolean> {
  const row = await tx.row(sql`
    select from external_accounts where user_id = ${userId} and issuer = ${issuer} limit 1`);
  return row !== undefined;
}

/** Disconnects a user from all providers. */
export async function removeExternalAccounts(tx: Queryable, userId: string): Promise<void> {
  await tx.run(sql`delete from external_accounts where user_id = ${userId}`);
}

/** Whether some workspace invites the address: the look-up is for the installation. @param email normalised */
export async function isInvited(tx: Queryable, email: string, now: Date): Promise<boolean> {
  const row = await tx.row(
    sql`select from invitations where email = ${email} and expires_at > ${now} limit 1`,
  );
  return row !== undefined;
}
