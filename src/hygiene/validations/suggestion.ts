/** "Did you mean": the well-known domain that a mistyped one is next to. */

/** Names shorter than this are next to too many others. */
const SHORTEST_NAME = 4;
/** From this length on two slips are believed. */
const LONG_NAME = 7;
/** Endings shorter than this are countries: .se is no slip of .de. */
const SHORTEST_ENDING = 3;
const MOST_SLIPS = 2;

/**
 * The nearest of `targets` (the first of those that are equally near), or null when the domain is one of them or like
 * none. Name and ending are compared apart: a slip in each is two.
 */
export function suggestDomain(domain: string, targets: readonly string[]): string | null {
  const [name, ending] = split(domain);
  let best: { readonly target: string; readonly slips: number } | undefined;
  for (const target of targets) {
    if (target === domain) return null;
    const [ofName, ofEnding] = split(target);
    const mayDiffer = ofName.length < SHORTEST_NAME ? 0 : ofName.length < LONG_NAME ? 1 : MOST_SLIPS;
    const inName = editDistance(name, ofName, mayDiffer);
    const inEnding = editDistance(ending, ofEnding, ofEnding.length < SHORTEST_ENDING ? 0 : 1);
    const slips = inName + inEnding;
    if (slips <= MOST_SLIPS && slips < (best?.slips ?? Number.POSITIVE_INFINITY)) best = { target, slips };
  }
  return best?.target ?? null;
}

/** The providers whose slips squatters hold: of these names a domain that takes mail is a slip, too. */
const SQUATTED = new Set(["gmail", "googlemail", "hotmail", "yahoo", "outlook", "icloud", "protonmail"]);

/**
 * Whether a domain that takes mail is a slip of the hand for `target` all the same: a letter behind the first one was left
 * out or doubled, two were swapped, or the ending is wrong. A replaced letter makes another word, as in mozmail.com.
 */
export function isSquattedSlip(domain: string, target: string): boolean {
  const [name, ending] = split(domain);
  const [ofName, ofEnding] = split(target);
  if (!SQUATTED.has(ofName)) return false;
  if (editDistance(ending, ofEnding, 1) > 1) return false;
  return name === ofName || slipsOf(ofName).has(name);
}

function slipsOf(name: string): Set<string> {
  const slips = new Set<string>();
  for (let at = 0; at < name.length; at++) {
    const [before, letter, after] = [name.slice(0, at), name.charAt(at), name.slice(at + 1)];
    if (at > 0) slips.add(before + after);
    slips.add(before + letter + letter + after);
    slips.add(before + after.charAt(0) + letter + after.slice(1));
  }
  return slips;
}

function split(domain: string): readonly [name: string, ending: string] {
  const dot = domain.indexOf(".");
  return [domain.slice(0, dot), domain.slice(dot + 1)];
}

/**
 * Letters put in, left out, replaced, or swapped with their neighbour (Damerau and Levenshtein, where no letter is
 * touched twice); infinite beyond `most`.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY;
  if (a === b) return 0;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + cost);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) least = Math.min(least, at(before, j - 2) + 1);
      row.push(least);
    }
    if (Math.min(...row) > most) return Number.POSITIVE_INFINITY;
    before = above;
    above = row;
  }
  const distance = at(above, b.length);
  return distance <= most ? distance : Number.POSITIVE_INFINITY;
}

function at(row: readonly number[], place: number): number {
  return row[place] ?? Number.POSITIVE_INFINITY;
}
