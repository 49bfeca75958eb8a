/** The name of a person as one text. */

/** Embeddings, overrides and isolates (UAX #9): they would turn the words around the name, too. */
const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/** Undefined if no name is known. */
export function nameOf({
  first_name,
  last_name,
}: {
  readonly first_name: string | null;
  readonly last_name: string | null;
}): string | undefined {
  return [first_name, last_name].filter(Boolean).join(" ").replaceAll(directions, "").trim() || undefined;
}
