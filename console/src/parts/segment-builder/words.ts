/** Rules in words. The names are those of the API; the type makes the compiler name each that is missing here. */
import type { Field, Rule } from "./draft.ts";

type OperatorName = Rule["operator"];

const words: Readonly<Record<OperatorName, string>> = {
  equals: "is",
  not_equals: "is not",
  is: "is",
  is_not: "is not",
  contains: "contains",
  starts_with: "begins with",
  ends_with: "ends with",
  in: "is one of",
  is_one_of: "is one of",
  is_not_one_of: "is none of",
  ends_with_any_of: "ends with one of",
  does_not_end_with_any_of: "ends with none of",
  greater_than: "is more than",
  less_than: "is less than",
  greater_than_or_equal: "is at least",
  less_than_or_equal: "is at most",
  before: "is before",
  after: "is after",
  in_last_days: "is in the last",
  not_in_last_days: "is not in the last",
  is_in: "are in",
  is_not_in: "are not in",
  is_active_in: "are active in",
  is_not_active_in: "are not active in",
  was_sent: "were sent",
  was_not_sent: "were not sent",
  opened: "opened",
  did_not_open: "did not open",
  clicked: "clicked in",
  did_not_click: "did not click in",
  unsubscribed: "unsubscribed through",
  did_not_unsubscribe: "did not unsubscribe through",
  clicked_link: "clicked a link of",
  is_empty: "is empty",
  is_not_empty: "has a value",
};

/** A field with several values has them, and is none of them. */
const wordsOfChoices: Readonly<Partial<Record<OperatorName, string>>> = {
  contains: "has",
  in: "has one of",
  is_one_of: "has one of",
  is_not_one_of: "has none of",
};

export function operatorWords(name: string, kind: Field["type"] | undefined): string {
  const known = name as OperatorName;
  const own = kind === "choices" ? wordsOfChoices[known] : undefined;
  return own ?? words[known] ?? name.replaceAll("_", " ");
}

/** What people do or are in, rather than what they have: "who opened Spring", not "whose campaign opened Spring". */
export function isAboutPeople({ type }: Field): boolean {
  return type === "segment" || type === "mailing_list" || type === "campaign";
}

/** A built-in field within a sentence; a custom one as it was named. Dates are called by what happened: "Joined the list". */
export function fieldWords({ label, is_custom, type }: Field): string {
  if (type === "date") return `date “${label}”`;
  return is_custom ? label : label.charAt(0).toLowerCase() + label.slice(1);
}
