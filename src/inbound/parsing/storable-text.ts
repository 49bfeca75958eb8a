/** Text of strangers as PostgreSQL keeps it: without NUL, and without halves of characters. */
export function storable(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

/** A value as JSON, all its texts storable: of NUL it would make an escape, which jsonb refuses. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? storable(part) : part));
}
