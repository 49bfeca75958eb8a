/** Sentences of the API name the form fields of an import; a command says how each is given on the command line. */

/** What a command says of a form field, by the name of the field. */
export type FieldHints = Readonly<Record<string, string>>;

/** Adds the hints about the fields that a sentence names: "… with status=active (here: status is --status)". */
export function withFieldHints(sentence: string, hints: FieldHints): string {
  const words = new Set(sentence.match(/\w+/g));
  const named = Object.entries(hints).flatMap(([field, hint]) => (words.has(field) ? [hint] : []));
  return named.length === 0 ? sentence : `${sentence} (here: ${[...new Set(named)].join("; ")})`;
}
