/** Names of custom fields for the names that other products use. */
import { createHash } from "node:crypto";
import { isReservedName, LONGEST_FIELD_NAME } from "#audience/custom-fields/field-name.ts";

const namesOf = new Map<string, string>();
/** Sources have some hundred names; an attribute of arbitrary JSON may have any. */
const MOST_REMEMBERED = 10_000;

/**
 * A name that custom fields may have: letters a to z, digits and underscores. "Postal Code" is `postal_code`, "Straße" is
 * `strasse`; a name that people have anyway, such as `status`, becomes `other_status`.
 */
export function fieldNameOf(name: string): string {
  const known = namesOf.get(name);
  if (known !== undefined) return known;
  const made = makeName(name);
  if (namesOf.size < MOST_REMEMBERED) namesOf.set(name, made);
  return made;
}

function makeName(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  // A name in another script.
  if (plain === "") return `field_${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
  return (isReservedName(plain) ? `other_${plain}` : plain).slice(0, LONGEST_FIELD_NAME);
}
