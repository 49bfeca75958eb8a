/**
 * Checks the custom fields of one person as a caller gives them: keys with a definition are validated and typed, others
 * are stored as they are.
 */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import type { DateReader } from "#platform/dates/date-reader.ts";
import { type FieldFault, invalid } from "#platform/errors.ts";
import { parsedJson } from "#platform/http/request/json-body.ts";

export type CustomValues = Readonly<Record<string, unknown>>;

/** Limits for one person: for a call together with the stored values, for a row of an import alone. */
export const MOST_FIELD_KEYS = 500;
const LONGEST_KEY = 100;
export const MOST_OCTETS = 65_536;

/** An object, or an object as JSON text. @throws ApiError VALIDATION_ERROR */
export function readObject(given: unknown): CustomValues {
  const value = parsedJson("custom_fields", given);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw invalid({ field: "custom_fields", message: "custom_fields must be an object, or one as JSON text" });
}

/** Reads the custom fields of one person. */
export interface ValueReader {
  /**
   * The values of a person who joins a list: `given` over the stored values `held`, with defaults for fields that
   * neither has. Null means "not given".
   * @throws ApiError VALIDATION_ERROR, also for a required field without a value
   */
  join(given: CustomValues, held: CustomValues): CustomValues;
  /** The stored values with the given ones in their place; null removes a value. @throws ApiError VALIDATION_ERROR */
  change(given: CustomValues, held: CustomValues): CustomValues;
}

/** Compiles the fields in force on a list (listFieldsInForce in custom-fields/store.ts), once for many people. */
export function valueReader(fields: readonly CustomField[], dates: DateReader): ValueReader {
  const byName = new Map(
    fields.map((field) => [field.field_name, { field, read: fieldReader(field, dates) }]),
  );

  /**
   * Whether a value counts as none: null, empty text or a zero date; for a required field also blank text and an empty
   * array, as in an import.
   */
  const isNothing = (key: string, value: unknown): boolean => {
    if (byName.get(key)?.field.field_type === "date" && dates.read(value).kind === "nothing") return true;
    const known = byName.get(key)?.field;
    if (known?.is_required && Array.isArray(value) && value.length === 0) return true;
    const text = known?.is_required && typeof value === "string" ? value.trim() : value;
    return value === null || (known !== undefined && text === "");
  };

  const merge = (
    given: CustomValues,
    held: CustomValues,
  ): { values: Map<string, unknown>; faults: FieldFault[] } => {
    // Checked before the values are read.
    if (valuesIn(given) > MOST_FIELD_KEYS && valuesIn(given) > valuesIn(held)) throw invalid(tooMuch);
    const values = new Map(Object.entries(held));
    const faults: FieldFault[] = [];
    for (const [key, value] of Object.entries(given)) {
      const known = byName.get(key);
      const takesAway = isNothing(key, value);
      const reading = takesAway || known === undefined ? { ok: true as const, value } : known.read(value);
      if (!reading.ok) faults.push(fault(key, reading.message));
      else if (takesAway) values.delete(key);
      else if (key.length > LONGEST_KEY) faults.push(fault(key.slice(0, LONGEST_KEY), "has too long a name"));
      else values.set(key, reading.value);
    }
    if (grows(values, held)) faults.push(tooMuch);
    return { values, faults };
  };

  return {
    join(given, held) {
      const said = Object.fromEntries(
        Object.entries(given).filter(([key, value]) => value !== "" && !isNothing(key, value)),
      );
      const { values, faults } = merge(said, held);
      for (const { field } of byName.values()) {
        if (
          values.has(field.field_name) ||
          faults.some(({ field: path }) => path === pathOf(field.field_name))
        )
          continue;
        if (field.default_value !== null) values.set(field.field_name, field.default_value);
        else if (field.is_required) faults.push(fault(field.field_name, "is required"));
      }
      return settled(values, faults);
    },
    change(given, held) {
      const { values, faults } = merge(given, held);
      for (const key of Object.keys(given)) {
        if (byName.get(key)?.field.is_required && !values.has(key)) faults.push(fault(key, "is required"));
      }
      return settled(values, faults);
    },
  };
}

const pathOf = (key: string) => `custom_fields.${key}`;

function fault(key: string, message: string): FieldFault {
  return { field: pathOf(key), message: `${pathOf(key)} ${message}` };
}

const tooMuch: FieldFault = {
  field: "custom_fields",
  message: `custom_fields of one person may hold ${MOST_FIELD_KEYS} values and ${MOST_OCTETS / 1024} KB`,
};

/**
 * Whether the values exceed the limits and are more than before. Imports may have stored more than the limits allow;
 * such a person can still be changed.
 */
function grows(values: ReadonlyMap<string, unknown>, held: CustomValues): boolean {
  const octets = octetsOf(Object.fromEntries(values));
  return (
    (values.size > MOST_FIELD_KEYS && values.size > Object.keys(held).length) ||
    (octets > MOST_OCTETS && octets > octetsOf(held))
  );
}

/** How many keys have a value; empty text may mean none. */
function valuesIn(values: CustomValues): number {
  return Object.values(values).filter((value) => value !== null && value !== "").length;
}

const octetsOf = (values: CustomValues) => Buffer.byteLength(JSON.stringify(values));

function settled(values: Map<string, unknown>, faults: readonly FieldFault[]): CustomValues {
  const [first, ...rest] = faults;
  if (first !== undefined) throw invalid(first, ...rest);
  // Object.fromEntries defines own properties, so a key named __proto__ is harmless.
  return Object.fromEntries(values);
}
