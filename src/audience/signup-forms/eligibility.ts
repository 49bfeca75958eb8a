/** Whom a form does not let onto a list: who bounced or complained anywhere in the workspace, or is suppressed. */

import { holdingStatuses } from "#audience/subscribers/memberships/status.ts";
import { findSubscriberByEmail } from "#audience/subscribers/store.ts";
import { findSuppressions } from "#audience/suppression-lists/suppression-check.ts";
import { domainOf } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** @param email as readEmail has it */
export async function isIneligible(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  email: string,
): Promise<boolean> {
  const person = await findSubscriberByEmail(db, workspaceId, email);
  if (holdingStatuses.some((status) => status === person?.status)) return true;
  const recipient = { workspaceId, address: email, domain: domainOf(email), mailingListId };
  const [suppression] = await findSuppressions(db, [recipient]);
  return suppression !== undefined;
}
