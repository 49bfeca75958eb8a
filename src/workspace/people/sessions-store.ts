/** SQL that opens, lists and ends sessions. `findSession` is in store.ts. */
import sql, { empty } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly tokenHash: Buffer;
  readonly hasSecondFactor: boolean;
  readonly ip: string;
  readonly agent: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

export async function insertSession(tx: Queryable, session: NewSession): Promise<void> {
  const { id, userId, tokenHash, hasSecondFactor, ip, agent, now, expiresAt } = session;
  await tx.run(sql`
    insert into sessions (token_hash, id, user_id, has_second_factor, ip, agent, created_at, seen_at, expires_at, confirmed_at)
    values (${tokenHash}, ${id}, ${userId}, ${hasSecondFactor}, ${ip}, ${agent}, ${now}, ${now}, ${expiresAt}, ${now})`);
}

/** Deletes the oldest sessions of a user above `most`. */
export async function removeSessionsOver(tx: Queryable, userId: string, most: number): Promise<void> {
  await tx.run(sql`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by seen_at desc, id offset ${most})`);
}

export interface SessionRow {
  readonly id: string;
  readonly agent: string;
  readonly ip: string;
  readonly has_second_factor: boolean;
  readonly created_at: Date;
  readonly seen_at: Date;
  readonly expires_at: Date;
}

/** The sessions of a user that have not ended, last used first. @param idleSince sessions unused since then have ended */
export function listSessionsOf(
  db: Queryable,
  userId: string,
  now: Date,
  idleSince: Date,
): Promise<SessionRow[]> {
  return db.rows(sql`
    select id, agent, ip, has_second_factor, created_at, seen_at, expires_at from sessions
    where user_id = ${userId} and expires_at > ${now} and seen_at > ${idleSince} order by seen_at desc, id`);
}

export function findSessionRow(db: Queryable, userId: string, id: string): Promise<SessionRow | undefined> {
  return db.row(sql`
    select id, agent, ip, has_second_factor, created_at, seen_at, expires_at from sessions
    where user_id = ${userId} and id = ${id}`);
}

/** @returns false when the user has no such session */
export async function removeSession(tx: Queryable, userId: string, id: string): Promise<boolean> {
  return (await tx.run(sql`delete from sessions where user_id = ${userId} and id = ${id}`)) === 1;
}

/** Ends the session of a token. */
export async function removeSessionByToken(tx: Queryable, tokenHash: Buffer): Promise<void> {
  await tx.run(sql`delete from sessions where token_hash = ${tokenHash}`);
}

/** Ends all sessions of a user, or all but one. @returns how many */
export function removeSessionsOf(tx: Queryable, userId: string, exceptId?: string): Promise<number> {
  return tx.run(sql`
    delete from sessions where user_id = ${userId} ${exceptId === undefined ? empty : sql`and id <> ${exceptId}`}`);
}

export interface SessionChanges {
  readonly tokenHash?: Buffer;
  readonly hasSecondFactor?: boolean;
  readonly confirmedAt?: Date;
}

/** @returns when the session ends at most; undefined when it has ended */
export async function updateSession(
  tx: Queryable,
  id: string,
  { tokenHash, hasSecondFactor, confirmedAt }: SessionChanges,
): Promise<Date | undefined> {
  const row = await tx.row<{ expires_at: Date }>(sql`
    update sessions set token_hash = coalesce(${tokenHash ?? null}::bytea, token_hash),
      has_second_factor = coalesce(${hasSecondFactor ?? null}::boolean, has_second_factor),
      confirmed_at = coalesce(${confirmedAt ?? null}::timestamptz, confirmed_at)
    where id = ${id} returning expires_at`);
  return row?.expires_at;
}

/** After the last factor of a user was removed. */
export async function updateSessionsWithoutFactor(tx: Queryable, userId: string): Promise<void> {
  await tx.run(sql`
    update sessions set has_second_factor = false where user_id = ${userId} and has_second_factor`);
}

/** Deletes up to `most` sessions that have ended. @returns how many */
export function removeEndedSessions(
  db: Queryable,
  now: Date,
  idleSince: Date,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from sessions where token_hash in (
      (select token_hash from sessions where expires_at <= ${now} limit ${most})
      union all
      (select token_hash from sessions where seen_at <= ${idleSince} limit ${most}))`);
}
