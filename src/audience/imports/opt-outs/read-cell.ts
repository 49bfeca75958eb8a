/** What a cell of an opt-out column says, and which of two statuses is worse. */

import { readYesNo } from "#audience/custom-fields/yes-no.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { DateReader } from "#platform/dates/date-reader.ts";
import {
  blankWords,
  foldedWords,
  negations,
  neverWords,
  other,
  stateWords,
  tellingWords,
  wordKey,
} from "./known-names-and-values.ts";
import { readWish } from "./phrase-meaning.ts";

/** What a column says: a status as a word, or (yes or no) whether the status that it names applies. */
export type ColumnMeaning = "status" | SubscriberStatus;

/** What a cell says: a status, nothing, or something unknown. */
export type CellMeaning = SubscriberStatus | "nothing" | "unknown";

const states = new Map(
  stateWords.flatMap(([state, words]) => [...words].map((word) => [word, state] as const)),
);
const dates = new DateReader({ timeZone: "UTC" });
/** The Unix epoch counts as a zero date here: no one left a list then. */
const isZeroDate = (text: string) =>
  text.startsWith("1970-01-01") || (/\d\D+\d/.test(text) && dates.read(text).kind === "nothing");
export const dateLike =
  /\d{1,4}[-./年]\d{1,2}[-./月]\d{1,4}|^\d{8}T?\d*|^\d{10}(?:\d{3})?$|\b(?:19|20)\d\d\b/;

/** Reads a cell of a column with this meaning. */
export function readOptOut(meaning: ColumnMeaning, cell: string): CellMeaning {
  const text = cell.trim();
  const inBrackets = /^[[{(](.*)[\]})]$/s.exec(text)?.[1];
  if (inBrackets !== undefined) return readListed(meaning, inBrackets);
  const key = wordKey(text);
  const isBlank = key === "" && /^[-–—[\]{}()."']*$/.test(text);
  if (isBlank || blankWords.has(key)) return "nothing";
  const state = stateIn(text);
  if (state !== undefined) return meaning === "bounced" && state === "unsubscribed" ? "bounced" : state;
  if (meaning === "status") return isZeroDate(text) ? "nothing" : "unknown";
  const answer = neverWords.has(key)
    ? false
    : (readYesNo(text) ?? readYesNo(key) ?? (meaning === "active" ? readWish(foldedWords(text)) : undefined));
  if (answer === false) return meaning === "active" ? "unsubscribed" : "nothing";
  if (isZeroDate(text)) return "nothing";
  if (answer === true || dateLike.test(text)) return meaning;
  return meaning === "unsubscribed" && key === "all" ? meaning : "unknown";
}

/** Reads a list of statuses, such as `['HARD_BOUNCE']`: the worst of them. */
function readListed(meaning: ColumnMeaning, text: string): CellMeaning {
  const said = text
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => readOptOut(meaning, part.replaceAll(/["'[\](){}]/g, "")));
  const states = said.filter((one) => one !== "nothing" && one !== "unknown");
  const worst = states.reduce<SubscriberStatus | null>((one, other) => worse(one, other), null);
  return worst ?? (said.includes("unknown") ? "unknown" : "nothing");
}

/** The status that a text names: as a whole, by a distinctive word in it, or by a negation. */
function stateIn(text: string): SubscriberStatus | undefined {
  const whole = states.get(wordKey(text));
  if (whole !== undefined) return whole;
  const words = foldedWords(text);
  if (words.some((word) => other.has(word))) return undefined;
  const [first = "", ...rest] = words;
  const isNegated = negations.has(first);
  const named = isNegated ? states.get(rest.join("")) : undefined;
  if (isNegated) return named === "active" ? "unsubscribed" : undefined;
  const pairs = words.map((word, at) => word + (words[at + 1] ?? ""));
  const telling = [...words, ...pairs].find((word) => tellingWords.has(word));
  return telling === undefined ? undefined : states.get(telling);
}

/** The worse of two statuses: another column cannot undo an opt-out. */
export function worse<One extends SubscriberStatus | null>(
  one: One,
  two: SubscriberStatus | null,
): One | SubscriberStatus {
  return two !== null && rank(two) > rank(one) ? two : one;
}

export const order: readonly (SubscriberStatus | null)[] = [
  null,
  "active",
  "unsubscribed",
  "bounced",
  "complained",
];
export const rank = (status: SubscriberStatus | null) => order.indexOf(status);
