/** SQL that creates a person with a password and a session. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

export interface NewPerson {
  readonly id: string;
  /** Normalised. */
  readonly email: string;
  readonly name: string;
  /** In the PHC string format. */
  readonly passwordHash: string;
}

/** @returns false when another person has the address */
export async function insertPerson(
  tx: Queryable,
  { id, email, name, passwordHash }: NewPerson,
  now: Date,
): Promise<boolean> {
  const made = await tx.run(sql`
    insert into users (id, email, name, password_hash, created_at)
    values (${id}, ${email}, ${name}, ${passwordHash}, ${now}) on conflict (email) do nothing`);
  return made === 1;
}

export async function hasPerson(db: Queryable, email: string): Promise<boolean> {
  return (await db.row(sql`select from users where email = ${email}`)) !== undefined;
}

export interface FirstSession {
  readonly id: string;
  readonly userId: string;
  readonly tokenHash: Buffer;
  readonly ip: string;
  readonly agent: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

export async function insertFirstSession(tx: Queryable, session: FirstSession): Promise<void> {
  const { id, userId, tokenHash, ip, agent, now, expiresAt } = session;
  await tx.run(sql`
    insert into sessions (token_hash, id, user_id, has_second_factor, ip, agent, created_at, seen_at, expires_at, confirmed_at)
    values (${tokenHash}, ${id}, ${userId}, false, ${ip}, ${agent}, ${now}, ${now}, ${expiresAt}, ${now})`);
}
