/**
 * Reads the state of the delivery from the text of a bounce, in English (bounce-text-rules.ts) and other languages
 * (bounce-phrases-….ts).
 */

import { ASIAN_NOTICES } from "./bounce-phrases-asian.ts";
import { EASTERN_NOTICES } from "./bounce-phrases-eastern.ts";
import { WESTERN_NOTICES } from "./bounce-phrases-western.ts";
import {
  BOUNCE_SUBJECT,
  BOUNCE_TEXT,
  DELAYED,
  DELIVERED,
  GIVEN_UP,
  NEUTRAL_SUBJECT,
  STRONG_TEXT,
} from "./bounce-text-rules.ts";
import { normalizeText } from "./normalize-text.ts";

/**
 * failed: not delivered; given_up: not delivered after a delay; delayed: still being tried; delivered: it arrived;
 * unknown: no sentence is understood.
 */
export type DeliveryState = "failed" | "given_up" | "delayed" | "delivered" | "unknown";

/** What the subject and the text of a mail say about a delivery. */
export interface DeliveryEvidence {
  readonly state: DeliveryState;
  /** The subject is that of a mail about a delivery. */
  readonly subject: boolean;
  /** A sentence of the text may be about a delivery. */
  readonly text: boolean;
  /** A sentence of the text is certainly about a delivery. */
  readonly strong: boolean;
}

const LANGUAGES = [WESTERN_NOTICES, EASTERN_NOTICES, ASIAN_NOTICES].flatMap((some) => Object.values(some));
const ENOUGH_WORDS = 2;
/** Limit of characters that are searched for every language; the important text comes first. */
const LONGEST_TEXT = 32 * 1024;
/** Conditions such as "you will be told if it fails permanently": they have not happened. */
const CONDITION =
  /(?<!\p{L})(?:if|unless|until|wenn|falls|sollten?|si|se non|qualora|caso|indien|wanneer|jesli|jezeli|если|якщо|pokud|daca|hvis|jos|eger)(?!\p{L})[^.;。!?]*|(?:もし|如果|若)[^。]*|[^。]{0,80}場合(?:は|に)/giu;
/** The dots in an address do not end a sentence. */
const ADDRESS = /[\w.!$%&*+/=?^{|}~-]{1,128}@[\w.-]{1,253}(?<=\w)/g;

/** @param quotesPermanent the bounce quotes a permanent code */
export function readDeliveryState(
  lines: readonly string[],
  subject: string,
  quotesPermanent: boolean,
): DeliveryEvidence {
  const english = lines.join(" ").replace(/\s+/g, " ");
  const plain = normalizeText(english.slice(0, LONGEST_TEXT).replace(ADDRESS, "@"));
  const title = normalizeText(subject);
  const spoken = LANGUAGES.filter(
    ({ frequentWords }) => frequentWords === null || usesLanguage(frequentWords, `${title} ${plain}`),
  );
  const said = (kind: "delayed" | "givenUp", text: string) =>
    spoken.some((language) => language[kind].test(text));

  const failsInSubject = failureIn(subject) >= 0;
  const isLateInEnglish = DELAYED.test(english) || DELAYED.test(subject);
  const isLate = isLateInEnglish || said("delayed", plain) || said("delayed", title);
  const isGivenUp =
    GIVEN_UP.test(english.replace(CONDITION, "")) || said("givenUp", plain.replace(CONDITION, ""));
  const strong =
    STRONG_TEXT.test(english) || LANGUAGES.some(({ failed }) => failed.test(plain)) || said("delayed", plain);
  const text = strong || BOUNCE_TEXT.test(english) || DELAYED.test(english);
  const isDelivered =
    !quotesPermanent && !failsInSubject && !strong && (DELIVERED.test(subject) || DELIVERED.test(english));
  // A quoted code is more reliable than the phrases of other languages.
  const isEnded = isGivenUp || (quotesPermanent && !isLateInEnglish);
  const fails = failsInSubject || text || quotesPermanent;
  const ofLate = isEnded ? "given_up" : "delayed";
  const ofOthers = fails ? "failed" : "unknown";
  return {
    state: isLate ? ofLate : isDelivered ? "delivered" : ofOthers,
    subject:
      failsInSubject || DELAYED.test(subject) || said("delayed", title) || BOUNCE_SUBJECT.test(subject),
    text,
    strong,
  };
}

/** The position in a subject, normalized by normalizeText(), at which a failure is mentioned; -1 without one. */
export function failureIn(subject: string): number {
  const title = normalizeText(subject);
  const english = NEUTRAL_SUBJECT.test(title) ? -1 : title.search(BOUNCE_SUBJECT);
  const places = [english, ...LANGUAGES.map(({ failed }) => title.search(failed))].filter((at) => at >= 0);
  return places.length === 0 ? -1 : Math.min(...places);
}

function usesLanguage(frequentWords: RegExp, text: string): boolean {
  const found = new Set<string>();
  for (const [word] of text.matchAll(frequentWords)) {
    found.add(word);
    if (found.size >= ENOUGH_WORDS) return true;
  }
  return false;
}
