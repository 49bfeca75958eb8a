/** SQL of challenges: sign-ins and confirmations that wait for their second step. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/**
 * What the second step does: completes a sign-in after the password, signs in with a passkey alone, confirms who the person
 * is, or adds a passkey.
 */
export type ChallengePurpose = "second_factor" | "passkey_sign_in" | "confirmation" | "passkey_enrolment";

export interface ChallengeRow {
  readonly purpose: ChallengePurpose;
  /** Null when a passkey will name the person. */
  readonly user_id: string | null;
  /** What an authenticator signs. */
  readonly webauthn_challenge: string;
}

/** Challenges of a user at a time: older ones are replaced. */
const MOST_OF_USER = 10;

export async function insertChallenge(
  tx: Queryable,
  tokenHash: Buffer,
  { purpose, user_id, webauthn_challenge }: ChallengeRow,
  { now, expiresAt }: { readonly now: Date; readonly expiresAt: Date },
): Promise<void> {
  await tx.run(sql`
    insert into sign_in_challenges (token_hash, purpose, user_id, webauthn_challenge, created_at, expires_at)
    values (${tokenHash}, ${purpose}, ${user_id}, ${webauthn_challenge}, ${now}, ${expiresAt})`);
  await tx.run(sql`
    delete from sign_in_challenges where token_hash in (
      select token_hash from sign_in_challenges where user_id = ${user_id}
      order by created_at desc offset ${MOST_OF_USER})`);
}

/** Counts a try of a challenge. @returns undefined when it does not exist, has expired, or was tried too often */
export function tryChallenge(
  tx: Queryable,
  tokenHash: Buffer,
  purpose: ChallengePurpose,
  now: Date,
  mostTries: number,
): Promise<ChallengeRow | undefined> {
  return tx.row(sql`
    update sign_in_challenges set tries = tries + 1
    where token_hash = ${tokenHash} and purpose = ${purpose} and expires_at > ${now} and tries < ${mostTries}
    returning purpose, user_id, webauthn_challenge`);
}

/** A challenge that can be tried still; no try is counted. */
export function findChallenge(
  db: Queryable,
  tokenHash: Buffer,
  purpose: ChallengePurpose,
  now: Date,
  mostTries: number,
): Promise<(ChallengeRow & { readonly expires_at: Date }) | undefined> {
  return db.row(sql`
    select purpose, user_id, webauthn_challenge, expires_at from sign_in_challenges
    where token_hash = ${tokenHash} and purpose = ${purpose} and expires_at > ${now} and tries < ${mostTries}`);
}

export async function removeChallenge(tx: Queryable, tokenHash: Buffer): Promise<void> {
  await tx.run(sql`delete from sign_in_challenges where token_hash = ${tokenHash}`);
}

/** Ends the sign-ins of a user that wait, after a change of the password or of factors. */
export async function removeChallengesOf(tx: Queryable, userId: string): Promise<void> {
  await tx.run(sql`delete from sign_in_challenges where user_id = ${userId}`);
}

/** Deletes up to `most` challenges that have expired. @returns how many */
export function removeExpiredChallenges(db: Queryable, now: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from sign_in_challenges where token_hash in (
      select token_hash from sign_in_challenges where expires_at <= ${now} limit ${most})`);
}
