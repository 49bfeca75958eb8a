/** "Did you mean": the well-known domain that a mistyped one is similar to. */

/** Shorter names are similar to too many others. */
const SHORTEST_NAME = 4;
/** From this length on a name may have two typos. */
const LONG_NAME = 7;
/** Shorter endings are countries: .se is no typo of .de. */
const SHORTEST_ENDING = 3;
const MOST_TYPOS = 2;

/**
 * The most similar of `targets` (the first of equally similar ones); null when the domain is one of them or similar to none.
 * Name and ending are compared separately, and their typos are added.
 */
export function suggestDomain(domain: string, targets: readonly string[]): string | null {
  const [name, ending] = split(domain);
  let best: { readonly target: string; readonly typos: number } | undefined;
  for (const target of targets) {
    if (target === domain) return null;
    const [ofName, ofEnding] = split(target);
    const mayDiffer = ofName.length < SHORTEST_NAME ? 0 : ofName.length < LONG_NAME ? 1 : MOST_TYPOS;
    const inName = editDistance(name, ofName, mayDiffer);
    const inEnding = editDistance(ending, ofEnding, ofEnding.length < SHORTEST_ENDING ? 0 : 1);
    const typos = inName + inEnding;
    if (typos <= MOST_TYPOS && typos < (best?.typos ?? Number.POSITIVE_INFINITY)) best = { target, typos };
  }
  return best?.target ?? null;
}

/** Squatters hold typo domains of these providers, so that a typo of them may accept mail. */
const SQUATTED = new Set(["gmail", "googlemail", "hotmail", "yahoo", "outlook", "icloud", "protonmail"]);

/**
 * Whether a domain that accepts mail is probably a typo of `target`: a letter after the first is missing or doubled, two are
 * swapped, or the ending is wrong. A replaced letter does not count, because it often makes another word, as in mozmail.com.
 */
export function isSquattedTypo(domain: string, target: string): boolean {
  const [name, ending] = split(domain);
  const [ofName, ofEnding] = split(target);
  if (!SQUATTED.has(ofName)) return false;
  if (editDistance(ending, ofEnding, 1) > 1) return false;
  return name === ofName || typosOf(ofName).has(name);
}

function typosOf(name: string): Set<string> {
  const typos = new Set<string>();
  for (let at = 0; at < name.length; at++) {
    const [before, letter, after] = [name.slice(0, at), name.charAt(at), name.slice(at + 1)];
    if (at > 0) typos.add(before + after);
    typos.add(before + letter + letter + after);
    typos.add(before + after.charAt(0) + letter + after.slice(1));
  }
  return typos;
}

function split(domain: string): readonly [name: string, ending: string] {
  const dot = domain.indexOf(".");
  return [domain.slice(0, dot), domain.slice(dot + 1)];
}

/**
 * The optimal string alignment distance (Damerau-Levenshtein in which no letter is edited twice): letters inserted, deleted,
 * replaced, or swapped with their neighbour. Infinite beyond `most`.
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
