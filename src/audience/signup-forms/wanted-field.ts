/** What a list requires of everybody and a form does not ask for: it asks for an address and names. */

import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** The name of the first such field; undefined: people can join by a form. */
export async function findUnaskedField(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<string | undefined> {
  const fields = await listFieldsInForce(db, workspaceId, mailingListId);
  return fields.find(({ is_required, default_value }) => is_required && default_value === null)?.field_name;
}
