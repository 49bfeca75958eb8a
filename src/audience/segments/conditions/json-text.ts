/** A JSON value as PostgreSQL shows it as text: what a custom field without a definition is compared as. */

/** Texts as they are; numbers, true and false by their JSON; arrays and objects with blanks behind `,` and `:`. */
export function jsonText(value: unknown): string {
  return typeof value === "string" ? value : jsonOf(value);
}

function jsonOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => keyOrder(one, other));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}: ${jsonOf(member)}`).join(", ")}}`;
}

/** jsonb keeps shorter keys before longer ones, and those of one length in the order of their bytes. */
function keyOrder(one: string, other: string): number {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length - b.length || a.compare(b);
}
