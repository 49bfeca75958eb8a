/** What rules use cannot be taken from under them: they would silently come to mean something else. */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { CUSTOM } from "./conditions/bind-conditions.ts";
import type { FieldDefinition } from "./conditions/binding-scope.ts";
import { builtInFields } from "./conditions/built-in-fields.ts";
import { customField } from "./conditions/custom-field.ts";
import { type FieldInRules, listNamesWithField, listNamesWithList } from "./in-use-store.ts";

const MOST_NAMED = 3;

/** What uses custom fields; some of it stands further down the house. */
export interface FieldUse {
  /** Begins the sentence of a refusal: `Campaigns`. */
  readonly what: string;
  /** What the caller is to do first: `change them`. */
  readonly remedy: string;
  /** Whether it needs the field to stay of its type. */
  readonly needsType: boolean;
  /** Asked in the transaction that holds the field. */
  listNames(tx: Queryable, workspaceId: WorkspaceId, field: FieldInRules): Promise<string[]>;
}

/** A rule that does not fit a new type matches nobody. */
export const usedBySegments: FieldUse = {
  what: "Segments",
  remedy: "change them",
  needsType: false,
  listNames: listNamesWithField,
};

/** @throws ApiError CONFLICT while one of these uses a field */
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
 * Of a field that is new, where rules could name it before: as text, or as the global field of that name. What they ask
 * for may not be among values of another type, and what they exclude would be let in.
 * @throws ApiError CONFLICT while there are any, and it is of another kind
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
  // Nothing hangs on the type of what was no field.
  const bound = [usedBySegments, ...uses].filter(({ needsType }) => before !== undefined || !needsType);
  await requireFieldUnused(db, workspaceId, field, bound);
}

/** @throws ApiError CONFLICT while segments of other lists refer to a list, or to one of its segments */
export async function requireListUnused(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  const names = await listNamesWithList(db, workspaceId, mailingListId);
  refuseWhileUsed(names, "mailing list, or a segment of it", usedBySegments);
}

/** @throws ApiError CONFLICT when there are any, with the first of their names */
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
