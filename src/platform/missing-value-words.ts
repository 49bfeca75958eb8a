/** Words that databases, spreadsheets and programs write for a missing value. */
const words = new Set(
  `null (null) <null> #null! nil none (none) n/a #n/a n.a. na <na> nan nat undefined \\n - -- --- – — (blank) (empty) #value! #ref!
   not_set not_specified keine_angabe k.a. n.v.t. n.d. s/d s.d. b.d. н/д`
    .split(/\s+/)
    .map((word) => word.replaceAll("_", " ")),
);
const LONGEST = 20;

/** Whether a text means that there is no value, such as `NULL`, `n/a`, `-` or `\N`. */
export function isNoValue(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.length <= LONGEST && words.has(trimmed.toLowerCase());
}
