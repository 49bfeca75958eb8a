/**
 * Locks the segments and custom fields of an audience while its campaign is stored. A request that deletes one of them waits,
 * and then finds the campaign (in-use-store.ts).
 */
import { shareLockFields } from "#audience/custom-fields/store.ts";
import { shareLockSegments } from "#audience/mailing-lists/segment-locks-store.ts";
import { customNamesIn } from "#audience/segments/conditions/bind-conditions.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type AudienceOf, conditionsOf, segmentsOf } from "#sending/campaigns/audience-segments.ts";

/**
 * Locks what exists until the transaction ends.
 * @returns whether the audience has segments or conditions; a plain list is only checked when the campaign is sent
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
