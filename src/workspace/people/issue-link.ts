/** Links that the terminal of the operator shows. Their tokens are in the fragment, which no log has. */
import type { Database, Queryable } from "#platform/database/pool.ts";
import { DAY_MS, MINUTE_MS } from "#platform/time-units.ts";
import { hasUser, insertLink, lockUsers } from "./links-store.ts";
import { hashToken, newToken } from "./open-session.ts";

/** How long a mailed link to choose a password works. */
export const RESET_LINK_MS = 30 * MINUTE_MS;
/** How long a printed link works. */
const PRINTED_LINK_MS = DAY_MS;

/** The path of a page where the first owner chooses a name and a password; undefined when there is a user. */
export async function issueWelcomePath(db: Database, now: Date): Promise<string | undefined> {
  // Looks without the lock first, which would stop every change of a user while the service starts.
  if (await hasUser(db)) return undefined;
  const token = newToken();
  const expiresAt = new Date(now.getTime() + PRINTED_LINK_MS);
  const link = { purpose: "first_owner", user_id: null, email: null } as const;
  const isIssued = await db.transaction(async (tx) => {
    await lockUsers(tx);
    if (await hasUser(tx)) return false;
    await insertLink(tx, hashToken(token), link, { now, expiresAt });
    return true;
  });
  return isIssued ? `/console/welcome#${token}` : undefined;
}

/** The path of a page where the user chooses a password; earlier links of the user stop working. */
export async function issuePasswordPath(tx: Queryable, userId: string, now: Date): Promise<string> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + PRINTED_LINK_MS);
  const link = { purpose: "set_password", user_id: userId, email: null } as const;
  await insertLink(tx, hashToken(token), link, { now, expiresAt });
  return `/console/reset#${token}`;
}
