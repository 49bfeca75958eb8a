/**
 * The parts of a record's value that other values do not have. Values consist of terms ("include:a.example", "p=reject"): a term
 * that another value has in any place is the same. Of a term with another content, only that content's own middle is marked.
 */

interface Part {
  readonly text: string;
  /** Where it begins. */
  readonly at: number;
  readonly differs: boolean;
}

const separator = /(\s*;\s*|\s+)/;

export function differencesOf(text: string, others: readonly string[]): readonly Part[] {
  const known = others.flatMap((one) => one.split(separator)).filter((term) => !isBetween(term));
  const parts: Part[] = [];
  let at = 0;
  const add = (part: string, differs: boolean) => {
    if (part === "") return;
    parts.push({ text: part, at, differs });
    at += part.length;
  };
  const terms = text.split(separator);
  for (const term of terms) {
    if (isBetween(term) || known.includes(term)) {
      add(term, false);
      continue;
    }
    const twin = known.find((one) => nameOf(one) === nameOf(term) && !terms.includes(one));
    const [start, end] = twin === undefined ? [0, 0] : sameEnds(term, twin);
    add(term.slice(0, start), false);
    add(term.slice(start, term.length - end), true);
    add(term.slice(term.length - end), false);
  }
  return parts;
}

function isBetween(text: string): boolean {
  return /^[\s;]*$/.test(text);
}

/** "p" of "p=reject", "include" of "include:a.example"; the whole of a host, whose beginning and end are compared. */
function nameOf(term: string): string {
  return /^[a-z0-9_+~?-]+(?=[=:])/i.exec(term)?.[0].toLowerCase() ?? "";
}

/** How many characters two texts have in common at their beginning, and after that at their end. */
function sameEnds(one: string, other: string): readonly [start: number, end: number] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return [start, end];
}
