/** The link that the start of the service prints. Its token is in the fragment, which no log has. */
import type { Queryable } from "#platform/database/pool.ts";
import { DAY_MS, MINUTE_MS } from "#platform/time-units.ts";
import { insertLink, lockWhetherNoUser } from "./links-store.ts";
import { hashToken, newToken } from "./open-session.ts";

/** How long a mailed link to choose a password works. */
export const RESET_LINK_MS = 30 * MINUTE_MS;
/** How long a printed link works. */
const PRINTED_LINK_MS = DAY_MS;

/** The path of a page where the first owner chooses a name and a password; undefined when there is a user. */
export async function issueWelcomePath(tx: Queryable, now: Date): Promise<string | undefined> {
  if (!(await lockWhetherNoUser(tx))) return undefined;
  const token = newToken();
  const expiresAt = new Date(now.getTime() + PRINTED_LINK_MS);
  await insertLink(
    tx,
    hashToken(token),
    { purpose: "first_owner", user_id: null, email: null },
    { now, expiresAt },
  );
  return `/console/welcome#${token}`;
}
