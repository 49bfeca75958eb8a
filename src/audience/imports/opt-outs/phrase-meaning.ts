/**
 * What a name of several words says about wanting mail: "Toestemming nieuwsbrief", "Hat sich abgemeldet", "メルマガ希望".
 * Each word has one kind (phrase-vocabulary.ts); the kinds together give the meaning.
 */
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { foldedWords, meanings, moments } from "./known-names-and-values.ts";
import { vocabulary, type WordKind } from "./phrase-vocabulary.ts";

/** `switch`: a name such as `active`, without a word for mail; it counts if any cell turns it off. */
export interface PhraseMeaning {
  readonly meaning: SubscriberStatus;
  readonly certainty: "plain" | "doubtful" | "switch";
}

type Word = WordKind | "subscribed";

/** Whole words, and beginnings of words with any ending. */
const whole = new Map<string, Word>();
const beginnings = new Map<string, Word>();

function learn(kind: Word, text: string): void {
  const isOpen = text.endsWith("*");
  const word = foldedWords(text).join("");
  const known = isOpen ? beginnings : whole;
  if (!known.has(word)) known.set(word, kind);
}

for (const word of moments) learn("filler", word);
for (const [kind, words] of vocabulary) for (const word of words.trim().split(/\s+/)) learn(kind, word);
for (const [status, words] of meanings)
  for (const word of words) learn(status === "active" ? "subscribed" : status, word);

const LONGEST_WORD = 60;
const MOST_WORDS = 20;
const MOST_JOINED = 3;
/** Shortest part of a compound word: "Newsletterabmeldung". */
const SHORTEST_PART = 4;
const withoutBlanks = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** The kinds of a word and its parts; undefined for an unknown word. @param known cache of the results for parts */
function kindsOf(word: string, known = new Map<string, Word[] | undefined>()): Word[] | undefined {
  if (!known.has(word)) known.set(word, kindsOfParts(word, known));
  return known.get(word);
}

function kindsOfParts(word: string, known: Map<string, Word[] | undefined>): Word[] | undefined {
  const exact = whole.get(word) ?? beginnings.get(word);
  if (exact !== undefined) return [exact];
  const isJoined = withoutBlanks.test(word);
  for (let length = word.length - 1; length > 0; length--) {
    const beginning = word.slice(0, length);
    const open = beginnings.get(beginning);
    const kind = open ?? whole.get(beginning);
    if (kind === undefined) continue;
    const rest = word.slice(length);
    if (isJoined || (length >= SHORTEST_PART && rest.length >= SHORTEST_PART)) {
      const others =
        kindsOf(rest, known) ?? (isJoined ? undefined : kindsOf(rest.replace(/^(?:s|e?n|e)/, ""), known));
      if (others !== undefined) return [kind, ...others];
    }
    if (open !== undefined && !isJoined) return [kind];
  }
  return undefined;
}

/** The kind of each word; two or three words written apart are matched together. Undefined for an unknown word. */
export function kindsOfWords(words: readonly string[]): (Word | undefined)[] {
  const said: (Word | undefined)[] = [];
  for (let at = 0; at < words.length; ) {
    let taken = 1;
    let kinds: readonly (Word | undefined)[] | undefined;
    for (let joined = MOST_JOINED; joined > 1 && kinds === undefined; joined--) {
      if (at + joined > words.length) continue;
      const kind = whole.get(words.slice(at, at + joined).join(""));
      if (kind !== undefined) [kinds, taken] = [[kind], joined];
    }
    said.push(...(kinds ?? kindsOf(words[at] ?? "") ?? [undefined]));
    at += taken;
  }
  return said;
}

/** @param words as foldedWords splits the name @param isMoment whether the name is that of a time */
export function meaningOfPhrase(words: readonly string[], isMoment: boolean): PhraseMeaning | undefined {
  if (words.length > MOST_WORDS || words.some((word) => word.length > LONGEST_WORD)) return undefined;
  const said = kindsOfWords(words);
  const has = (...kinds: Word[]) => said.some((word) => word !== undefined && kinds.includes(word));
  const isOfMail = has("mail", "letter");
  const isWish = has("wish", "consent", "subscribed", "on");
  // "Ne ... pas" is one negation; "does not refuse" is none.
  const isTurned = has("negation") !== has("refusal");
  const wanted = isTurned ? "unsubscribed" : "active";
  if (said.includes(undefined)) {
    if (isMoment || !(isOfMail && has("wish", "consent", "subscribed", "unsubscribed"))) return undefined;
    const meaning = has("unsubscribed") ? "unsubscribed" : wanted;
    return { meaning, certainty: "doubtful" };
  }
  const gone = (["complained", "bounced", "unsubscribed"] as const).find((status) => has(status));
  if (gone !== undefined) {
    if (isTurned && has("negation")) return { meaning: "active", certainty: "doubtful" };
    return { meaning: gone, certainty: has("consent", "subscribed") && !isOfMail ? "doubtful" : "plain" };
  }
  if (has("off")) {
    const meaning = isTurned ? "active" : "unsubscribed";
    if (isWish) return { meaning, certainty: "doubtful" };
    return { meaning, certainty: isOfMail || has("list") ? "plain" : "switch" };
  }
  if (isMoment) return undefined;
  if (isOfMail) {
    if (isWish || isTurned) return { meaning: wanted, certainty: "plain" };
    return has("letter") ? { meaning: "active", certainty: "doubtful" } : undefined;
  }
  if (has("subscribed")) return { meaning: wanted, certainty: "plain" };
  if (has("consent")) return { meaning: wanted, certainty: "doubtful" };
  return has("on") ? { meaning: wanted, certainty: "switch" } : undefined;
}

/** What the words of a cell say about wanting mail, such as "abgelehnt" or "希望しない"; undefined if nothing. */
export function readWish(words: readonly string[]): boolean | undefined {
  if (words.length > MOST_WORDS || words.some((word) => word.length > LONGEST_WORD)) return undefined;
  const said = kindsOfWords(words);
  if (said.includes(undefined)) return undefined;
  const has = (...kinds: Word[]) => said.some((word) => word !== undefined && kinds.includes(word));
  if (has("off", "unsubscribed", "bounced", "complained")) return false;
  if (has("negation") !== has("refusal")) return false;
  return has("consent", "wish", "subscribed", "on") ? true : undefined;
}
