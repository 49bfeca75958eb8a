/** Refuses to delete or change what rules use, because the rules would silently get another meaning. */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { refuseWhileUsed, type UseInRefusal } from "#audience/uses/refuse-while-used.ts";
import type { ObjectUse } from "#audience/uses/used-by.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { CUSTOM } from "./conditions/bind-conditions.ts";
import type { FieldDefinition } from "./conditions/binding-scope.ts";
import { builtInFields } from "./conditions/built-in-fields.ts";
import { customField } from "./conditions/custom-fields.ts";
import { segmentsResource } from "./segment.ts";
import {
  type FieldInRules,
  listNamesWithList,
  listSegmentsWithFields,
} from "./segments-using-field-store.ts";

/** A kind of users of custom fields. Its lists are read in the transaction that has locked the field. */
export interface FieldUse extends ObjectUse<FieldInRules>, UseInRefusal {
  /** Whether the field must keep its type. */
  readonly needsType: boolean;
}

/** A rule that does not fit a new type matches no one. */
export const usedBySegments: FieldUse = {
  kind: "segment",
  noun: segmentsResource,
  what: "Segments",
  remedy: "change them",
  needsType: false,
  list: listSegmentsWithFields,
};

/** @throws ApiError CONFLICT while one of these uses the field */
export async function requireFieldUnused(
  db: Queryable,
  workspaceId: WorkspaceId,
  field: CustomField,
  uses: readonly FieldUse[],
): Promise<void> {
  for (const use of uses) {
    const users = await use.list(db, workspaceId, [fieldInRules(field)]);
    const names = users.flatMap(({ name, prevents_deletion }) => (prevents_deletion ? [name] : []));
    refuseWhileUsed(names, "field", use, users[0]?.preventing);
  }
}

export function fieldInRules({ id, mailing_list_id, field_name }: CustomField): FieldInRules {
  const marked = `${CUSTOM}${field_name}`;
  const spellings = builtInFields.has(field_name) ? [marked] : [marked, field_name];
  return { id, mailing_list_id, field_name, spellings };
}

/**
 * Checks a new field that rules could name before: as text, or as the global field of that name. With another type,
 * rules may match no one, and what they exclude would be included.
 * @throws ApiError CONFLICT if there are such rules and the type is of another kind
 */
export async function requireMeaningKept(
  db: Queryable,
  workspaceId: WorkspaceId,
  before: FieldDefinition | undefined,
  field: CustomField,
  uses: readonly FieldUse[],
): Promise<void> {
  const kindBy = (definition: FieldDefinition | undefined) => customField(field.field_name, definition).label;
  if (kindBy(before) === kindBy(field)) return;
  // Users that depend on a type only matter if the name was a field before.
  const bound = [usedBySegments, ...uses].filter(({ needsType }) => before !== undefined || !needsType);
  await requireFieldUnused(db, workspaceId, field, bound);
}

/** @throws ApiError CONFLICT while segments of other lists refer to the list or to one of its segments */
export async function requireListUnused(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  const names = await listNamesWithList(db, workspaceId, mailingListId);
  refuseWhileUsed(names, "mailing list, or a segment of it", usedBySegments);
}
