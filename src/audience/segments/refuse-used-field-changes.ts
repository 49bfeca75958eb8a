/** Refuses to delete or change what rules use, because the rules would silently get another meaning. */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { CUSTOM } from "./conditions/bind-conditions.ts";
import type { FieldDefinition } from "./conditions/binding-scope.ts";
import { builtInFields } from "./conditions/built-in-fields.ts";
import { customField } from "./conditions/custom-fields.ts";
import { type FieldInRules, listNamesWithField, listNamesWithList } from "./segments-using-field-store.ts";

const MOST_NAMED = 3;

/** A user of custom fields. Users of later wings are injected. */
export interface FieldUse {
  /** The start of the refusal: `Campaigns`. */
  readonly what: string;
  /** What the caller has to do first: `change them`. */
  readonly remedy: string;
  /** Whether the field must keep its type. */
  readonly needsType: boolean;
  /** Names of the users of a field; called in the transaction that has locked it. */
  listNames(tx: Queryable, workspaceId: WorkspaceId, field: FieldInRules): Promise<string[]>;
}

/** A rule that does not fit a new type matches no one. */
export const usedBySegments: FieldUse = {
  what: "Segments",
  remedy: "change them",
  needsType: false,
  listNames: listNamesWithField,
};

/** @throws ApiError CONFLICT while one of these uses the field */
export async function requireFieldUnused(
  db: Queryable,
  workspaceId: WorkspaceId,
  { mailing_list_id, field_name }: Pick<CustomField, "mailing_list_id" | "field_name">,
  uses: readonly FieldUse[],
): Promise<void> {
  const marked = `${CUSTOM}${field_name}`;
  const spellings = builtInFields.has(field_name) ? [marked] : [marked, field_name];
  for (const use of uses) {
    refuseWhileUsed(
      await use.listNames(db, workspaceId, { mailing_list_id, field_name, spellings }),
      "field",
      use,
    );
  }
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

/** @throws ApiError CONFLICT if there are any names; the message has the first of them */
export function refuseWhileUsed(
  names: readonly string[],
  used: string,
  by: Pick<FieldUse, "what" | "remedy">,
): void {
  if (names.length === 0) return;
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  const some = names.slice(0, MOST_NAMED).map((name) => `"${name}"`);
  throw new ApiError(
    "CONFLICT",
    `${by.what} use this ${used}: ${some.join(", ")}${more}; ${by.remedy} first`,
  );
}
