/** The text without NUL and lone surrogates, which PostgreSQL refuses. */
export function storable(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

/** The value as JSON for a jsonb column, with all its texts storable: jsonb refuses the escape of NUL. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? storable(part) : part));
}
