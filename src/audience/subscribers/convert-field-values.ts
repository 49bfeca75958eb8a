/**
 * Converts the stored values of a custom field whose type changes: allowed if every value can be read as the new type.
 */
import { isDeepStrictEqual } from "node:util";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import type { FieldSettings } from "#audience/custom-fields/read-definition.ts";
import { findOtherType, lockFieldTypes } from "#audience/custom-fields/store.ts";
import { workspaceDates } from "#audience/custom-fields/workspace-date-reader.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { lockFieldValues, updateFieldValues } from "./field-values-store.ts";

const STEP = 5_000;

/**
 * Rewrites the values in the caller's transaction.
 * @throws ApiError CONFLICT at the first value that cannot be converted, or that also belongs to a field of another
 * type on another list
 */
export async function convertValues(
  tx: Queryable,
  workspaceId: WorkspaceId,
  field: Pick<CustomField, "mailing_list_id" | "field_name">,
  settings: FieldSettings,
  now: Date,
): Promise<void> {
  const read = fieldReader(settings, await workspaceDates(tx, workspaceId, [settings]));
  const convert = (held: unknown): unknown => {
    const reading = read(asGiven(held, settings));
    if (reading.ok) return reading.value;
    const shown = JSON.stringify(held).slice(0, 100);
    throw new ApiError(
      "CONFLICT",
      `A subscriber has the value ${shown} in ${field.field_name}: it ${reading.message}, so the type cannot change`,
    );
  };
  const { mailing_list_id, field_name } = field;
  // Blocks writers of values, so that no person behind the current step gets a value of the old type.
  await lockFieldTypes(tx, workspaceId);
  for (let afterEmail = ""; ; ) {
    const held = await lockFieldValues(tx, workspaceId, mailing_list_id, field_name, {
      afterEmail,
      limit: STEP,
    });
    const converted = held.map((one) => ({ ...one, value: convert(one.value) }));
    const changed = converted.filter(({ value }, at) => !isDeepStrictEqual(value, held[at]?.value));
    if (changed.length > 0) {
      const ids = changed.map(({ id }) => id);
      const other = await findOtherType(tx, workspaceId, field, settings.field_type, ids);
      if (other !== undefined) throw definedOtherwise(field_name, other);
      await updateFieldValues(tx, workspaceId, field_name, changed, now);
    }
    const last = held.at(-1);
    if (last === undefined || held.length < STEP) return;
    afterEmail = last.email;
  }
}

/** The refusal: a person has one value for a name, on whatever lists they are. */
function definedOtherwise(
  name: string,
  { list, field_type }: { list: string; field_type: string },
): ApiError {
  return new ApiError(
    "CONFLICT",
    `Subscribers with a value in ${name} are on the list ${list} too, where it is a field of the type ${field_type}: ` +
      "delete or change that field first",
  );
}

/** A stored value as a person would type it: numbers and booleans as text, choices joined by semicolons. */
function asGiven(held: unknown, { field_type }: FieldSettings): unknown {
  if (Array.isArray(held)) return field_type === "multiselect" ? held : held.join(";");
  return typeof held === "number" || typeof held === "boolean" ? String(held) : held;
}
