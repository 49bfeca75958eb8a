/** A subscriber as a row of an export. An import reads the same columns. */
import { cellOfAddress } from "#audience/files/address-cell.ts";
import type { ExportedPerson } from "./store.ts";

/** For people to read: an import ignores this column, even if a custom field has this name or label. */
export const SUBSCRIBED_AT = "Subscribed At";
const columns = ["Email", "First", "Last", "Status", "Source", SUBSCRIBED_AT];

/** @param fields names of custom fields, as in exportRow */
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

/** The text of a cell. Choices of a multiselect are joined by semicolons, as an import reads them. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(";");
  return JSON.stringify(value);
}
