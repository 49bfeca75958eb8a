/** SQL of authenticator apps, passkeys and recovery codes. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

export type FactorKind = "authenticator_app" | "passkey";

/** A second factor as its person sees it. */
export interface FactorRow {
  readonly id: string;
  readonly kind: FactorKind;
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

export interface AppRow {
  readonly id: string;
  readonly name: string;
  /** Sealed (authenticator-codes.ts). */
  readonly secret: Buffer;
  readonly last_step: number | null;
}

export interface PasskeyRow {
  readonly id: string;
  readonly user_id: string;
  /** Base64url. */
  readonly credential_id: string;
  /** COSE. */
  readonly public_key: Buffer;
  readonly sign_count: number;
  readonly transports: readonly string[];
}

/** The factors in use, oldest first. */
export function listFactors(db: Queryable, userId: string): Promise<FactorRow[]> {
  return db.rows(sql`
    select id, 'authenticator_app' as kind, name, created_at, last_used_at from authenticator_apps
    where user_id = ${userId} and confirmed_at is not null
    union all
    select id, 'passkey', name, created_at, last_used_at from passkeys where user_id = ${userId}
    order by created_at, id`);
}

export function listAppsInUse(tx: Queryable, userId: string): Promise<AppRow[]> {
  return tx.rows(sql`
    select id, name, secret, last_step from authenticator_apps
    where user_id = ${userId} and confirmed_at is not null order by id for update`);
}

/** Replaces an app of the user that is being set up. */
export async function insertApp(
  tx: Queryable,
  userId: string,
  app: { readonly id: string; readonly name: string; readonly secret: Buffer },
  now: Date,
): Promise<void> {
  await tx.run(sql`delete from authenticator_apps where user_id = ${userId} and confirmed_at is null`);
  await tx.run(sql`
    insert into authenticator_apps (id, user_id, name, secret, created_at)
    values (${app.id}, ${userId}, ${app.name}, ${app.secret}, ${now})`);
}

/** The app of the user that is being set up. */
export function findAppBeingSetUp(tx: Queryable, userId: string, since: Date): Promise<AppRow | undefined> {
  return tx.row(sql`
    select id, name, secret, last_step from authenticator_apps
    where user_id = ${userId} and confirmed_at is null and created_at > ${since} for update`);
}

/** Notes the code that was accepted. The first one confirms the app. */
export async function updateAppUsed(tx: Queryable, id: string, step: number, now: Date): Promise<void> {
  await tx.run(sql`
    update authenticator_apps
    set last_step = ${step}, last_used_at = ${now}, confirmed_at = coalesce(confirmed_at, ${now}) where id = ${id}`);
}

/** Deletes up to `most` apps whose set-up was not finished. @returns how many */
export function removeAppsBeingSetUp(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from authenticator_apps where id in (
      select id from authenticator_apps where confirmed_at is null and created_at <= ${before} limit ${most})`);
}

export function listPasskeys(db: Queryable, userId: string): Promise<PasskeyRow[]> {
  return db.rows(sql`
    select id, user_id, credential_id, public_key, sign_count, transports from passkeys
    where user_id = ${userId} order by id`);
}

export function lockPasskey(tx: Queryable, credentialId: string): Promise<PasskeyRow | undefined> {
  return tx.row(sql`
    select id, user_id, credential_id, public_key, sign_count, transports from passkeys
    where credential_id = ${credentialId} for update`);
}

/** @returns false when the passkey is already in use */
export async function insertPasskey(
  tx: Queryable,
  passkey: PasskeyRow & { readonly name: string },
  now: Date,
): Promise<boolean> {
  const { id, user_id, credential_id, public_key, sign_count, transports, name } = passkey;
  const made = await tx.run(sql`
    insert into passkeys (id, user_id, credential_id, public_key, sign_count, transports, name, created_at)
    values (${id}, ${user_id}, ${credential_id}, ${public_key}, ${sign_count}, ${transports}, ${name}, ${now})
    on conflict (credential_id) do nothing`);
  return made === 1;
}

export async function updatePasskeyUsed(
  tx: Queryable,
  id: string,
  signCount: number,
  now: Date,
): Promise<void> {
  await tx.run(sql`update passkeys set sign_count = ${signCount}, last_used_at = ${now} where id = ${id}`);
}

/** @returns false when the user has no such factor in use */
export async function updateFactorName(
  tx: Queryable,
  userId: string,
  id: string,
  name: string,
): Promise<boolean> {
  const apps = await tx.run(sql`
    update authenticator_apps set name = ${name}
    where user_id = ${userId} and id = ${id} and confirmed_at is not null`);
  const passkeys = await tx.run(
    sql`update passkeys set name = ${name} where user_id = ${userId} and id = ${id}`,
  );
  return apps + passkeys === 1;
}

/** @returns false when the user has no such factor in use */
export async function removeFactor(tx: Queryable, userId: string, id: string): Promise<boolean> {
  const apps = await tx.run(sql`
    delete from authenticator_apps where user_id = ${userId} and id = ${id} and confirmed_at is not null`);
  const passkeys = await tx.run(sql`delete from passkeys where user_id = ${userId} and id = ${id}`);
  return apps + passkeys === 1;
}

/** Replaces all recovery codes of the user. */
export async function replaceRecoveryCodes(
  tx: Queryable,
  userId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.run(sql`delete from recovery_codes where user_id = ${userId}`);
  await tx.run(sql`
    insert into recovery_codes (user_id, code_hash) select ${userId}, unnest(${hashes}::bytea[])`);
}

/** @returns false when the code is unknown or was used */
export async function updateRecoveryCodeUsed(
  tx: Queryable,
  userId: string,
  codeHash: Buffer,
  now: Date,
): Promise<boolean> {
  const used = await tx.run(sql`
    update recovery_codes set used_at = ${now}
    where user_id = ${userId} and code_hash = ${codeHash} and used_at is null`);
  return used === 1;
}

export async function countRecoveryCodes(db: Queryable, userId: string): Promise<number> {
  const row = await db.row<{ unused: number }>(sql`
    select count(*) as unused from recovery_codes where user_id = ${userId} and used_at is null`);
  return row?.unused ?? 0;
}
