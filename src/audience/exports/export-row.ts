/** A person as a row of an export: the columns that an import of the file reads again. */
import { cellOfAddress } from "#audience/files/address-cell.ts";
import type { ExportedPerson } from "./store.ts";

/** For reading only: an import leaves this column alone, whatever custom field has such a name or label. */
export const SUBSCRIBED_AT = "Subscribed At";
const columns = ["Email", "First", "Last", "Status", "Source", SUBSCRIBED_AT];

/** @param fields the names of custom fields, here and below */
export function exportHeader(fields: readonly string[]): string[] {
  return [...columns, ...fields];
}

export function exportRow(person: ExportedPerson, fields: readonly string[]): string[] {
  const { email, first_name, last_name, status, source, subscribed_at, custom_fields } = person;
  return [
    cellOfAddress(email),
    first_name ?? "",
    last_name ?? "",
    status,
    source ?? "",
    subscribed_at.toISOString(),
    ...fields.map((name) => textOf(custom_fields[name])),
  ];
}

/** Choices of a multiselect stand with semicolons between them, as an import takes them. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(";");
  return JSON.stringify(value);
}
