/** The value that a bulk action gives to a custom field, read when it is asked for and checked again before each batch. */
import { isDeepStrictEqual } from "node:util";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import { listFields, listFieldsInForce } from "#audience/custom-fields/store.ts";
import { workspaceDates } from "#audience/custom-fields/workspace-date-reader.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";

interface FieldPlace {
  /** Null: the global field of this name. */
  readonly mailingListId: string | null;
  /** Its field_name. */
  readonly field: string;
}

/** The active definition of the field; undefined if there is none. */
async function findDefinition(
  db: Queryable,
  workspaceId: WorkspaceId,
  { mailingListId, field }: FieldPlace,
): Promise<CustomField | undefined> {
  const fields =
    mailingListId === null
      ? (await listFields(db, workspaceId, null)).filter(({ is_active }) => is_active)
      : await listFieldsInForce(db, workspaceId, mailingListId);
  return fields.find(({ field_name }) => field_name === field);
}

const isNothing = (value: unknown) => value === null || value === "";

/**
 * The value as it is stored; null to remove it.
 * @throws ApiError VALIDATION_ERROR
 */
export async function readNewValue(
  db: Queryable,
  workspaceId: WorkspaceId,
  place: FieldPlace,
  given: unknown,
): Promise<unknown> {
  const definition = await findDefinition(db, workspaceId, place);
  if (definition === undefined) {
    const where =
      place.mailingListId === null
        ? "global custom field: name the list of a list's own field"
        : "custom field of this list";
    throw invalid({ field: "field", message: `field is no ${where}` });
  }
  const reading = isNothing(given)
    ? ({ ok: true, value: null } as const)
    : fieldReader(definition, await workspaceDates(db, workspaceId, [definition]))(given);
  if (!reading.ok) throw invalid({ field: "value", message: `value ${reading.message}` });
  if (reading.value === null && definition.is_required) {
    throw invalid({ field: "value", message: "value is required: the field may not be empty" });
  }
  return reading.value;
}

/**
 * Why the field does not take the stored value any more; undefined if it does. Its definition may have changed or have
 * been deleted since the action was asked for.
 */
export async function whyNoLongerFits(
  db: Queryable,
  workspaceId: WorkspaceId,
  place: FieldPlace,
  value: unknown,
): Promise<string | undefined> {
  const definition = await findDefinition(db, workspaceId, place);
  if (definition === undefined) return `the field ${place.field} was deleted or switched off`;
  if (value === null) return definition.is_required ? `the field ${place.field} is required now` : undefined;
  const reading = fieldReader(definition, await workspaceDates(db, workspaceId, [definition]))(value);
  const isSame = reading.ok && isDeepStrictEqual(reading.value, value);
  return isSame ? undefined : `the field ${place.field} was changed and does not take this value any more`;
}
