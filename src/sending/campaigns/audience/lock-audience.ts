/**
 * What says who gets a campaign stays while it is stored. Whoever deletes a segment or a field waits for that, and finds the
 * campaign (uses-store.ts).
 */
import { shareLockFields } from "#audience/custom-fields/store.ts";
import { shareLockSegments } from "#audience/mailing-lists/segment-locks-store.ts";
import { customNamesIn } from "#audience/segments/conditions/bind-conditions.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type AudienceOf, conditionsOf, segmentsOf } from "#sending/campaigns/audience-segments.ts";

/**
 * Until the transaction ends, its segments and custom fields, as far as they are there. Says whether it has any: a mailing
 * list alone is looked for when the campaign is sent.
 */
export async function lockAudience(
  tx: Queryable,
  workspaceId: WorkspaceId,
  audience: AudienceOf,
): Promise<boolean> {
  const segments = segmentsOf(audience);
  const conditions = conditionsOf(audience);
  if (segments.length === 0 && conditions === null) return false;
  const { mailing_list_id: listId } = audience;
  await shareLockSegments(tx, workspaceId, segments, listId === null ? [] : [listId]);
  if (conditions !== null) await shareLockFields(tx, workspaceId, listId, customNamesIn(conditions));
  return true;
}
