/** Names of custom fields: normalises and checks what a caller gives. */
import { invalid } from "#platform/errors.ts";

export const LONGEST_FIELD_NAME = 64;

/** Fields that a subscriber has anyway, and property names that every object has. */
const reserved = new Set([
  "email",
  "first_name",
  "last_name",
  "status",
  "source",
  "id",
  "__proto__",
  "constructor",
  "prototype",
]);

/** Trimmed, lower-case, with an underscore for each run of blanks: "First Visit" is `first_visit`. */
export function normalizeFieldName(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, "_");
}

/** Whether this normalised name is reserved. */
export function isReservedName(name: string): boolean {
  return reserved.has(name);
}

/** @throws ApiError VALIDATION_ERROR */
export function readFieldName(text: string): string {
  const name = normalizeFieldName(text);
  const fault = (message: string) => invalid({ field: "field_name", message: `field_name ${message}` });
  if (!/^[a-z0-9_]+$/.test(name)) throw fault("may hold letters a to z, digits, blanks and underscores");
  if (name.length > LONGEST_FIELD_NAME) throw fault(`must be at most ${LONGEST_FIELD_NAME} characters`);
  if (isReservedName(name)) throw fault(`${name} is reserved`);
  return name;
}
