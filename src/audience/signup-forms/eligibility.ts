/** The check whether an address may join a list by its form. */

import { personWideStatuses } from "#audience/subscribers/memberships/status.ts";
import { findSubscriberByEmail } from "#audience/subscribers/store.ts";
import { findSuppressions } from "#audience/suppression-lists/suppression-check.ts";
import { domainOf } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/**
 * Whether an address may not join: it bounced or complained on any list of the workspace, or is suppressed.
 * @param email as readEmail returns it
 */
export async function isIneligible(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  email: string,
): Promise<boolean> {
  const person = await findSubscriberByEmail(db, workspaceId, email);
  if (personWideStatuses.some((status) => status === person?.status)) return true;
  const recipient = { workspaceId, address: email, domain: domainOf(email), mailingListId };
  const [suppression] = await findSuppressions(db, [recipient]);
  return suppression !== undefined;
}
