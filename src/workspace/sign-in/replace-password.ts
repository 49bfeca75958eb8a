/** Sets the password of an account that exists: by its person, by a mailed link, or by an operator. */
import type { Queryable } from "#platform/database/pool.ts";
import { removeLinks } from "#workspace/people/links-store.ts";
import { removeSessionsOf } from "#workspace/people/sessions-store.ts";
import { type User, updateUser } from "#workspace/people/users-store.ts";
import { removeChallengesOf } from "#workspace/second-factors/challenges-store.ts";
import { clearAttempts } from "./attempts.ts";

/**
 * Ends what the former password has opened: sessions, sign-ins that wait for their second step, links that would set another
 * one, and the limit on wrong passwords. The caller holds the lock of the user (lockUser), and clears caches of sessions.
 * @param passwordHash PasswordHasher.hash
 * @param keptSession id of the session that stays: the person's, who has just proved the former password
 */
export async function replacePassword(
  tx: Queryable,
  { id, email }: Pick<User, "id" | "email">,
  passwordHash: string,
  keptSession?: string,
): Promise<void> {
  await updateUser(tx, id, { password_hash: passwordHash });
  await removeLinks(tx, "set_password", id);
  await removeChallengesOf(tx, id);
  await removeSessionsOf(tx, id, keptSession);
  await clearAttempts(tx, email);
}
