/** What the name of a column says about opting out. */
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import {
  channels,
  doubtfulNames,
  fillerWords,
  foldedWords,
  foreign,
  meanings,
  meaningsOfMail,
  momentEndings,
  moments,
  negative,
  other,
  suspicious,
} from "./known-names-and-values.ts";
import { meaningOfPhrase } from "./phrase-meaning.ts";
import type { ColumnMeaning } from "./read-cell.ts";

/**
 * How certain a name is. A `plain` column counts; a `doubtful` one makes the import refuse the file. The cells decide
 * about the others: a `switch` (Active, Deleted) refuses the file if a cell opts a person out; a `soft` column (State)
 * counts if every cell is a word for a status; a `vague` one (Customer status) counts if some of these words are used
 * for mail only; a `foreign` one (Order status) counts if some cells plainly opt out of mail.
 */
export type Certainty = "plain" | "doubtful" | "switch" | "soft" | "vague" | "foreign";

export interface NameMeaning {
  readonly meaning: ColumnMeaning;
  readonly certainty: Certainty;
}

const prepositions = new Set(["at", "on", "am", "op", "il"]);
const softNames = new Set(["state", "statut", "estado", "stato", "stan", "zustand", "статус", "situation"]);

/** The meaning of a column's name; undefined if it has nothing to do with opting out. */
export function meaningOf(header: string): NameMeaning | undefined {
  const words = foldedWords(plainName(header));
  if (words.length === 0 || words.some((word) => other.has(word))) return undefined;
  const isOfMail = words.some((word) => channels.has(word));
  // "Abgemeldet am" names a time; "Accetta il marketing" does not.
  const isMomentAt = (word: string, at: number) =>
    moments.has(word) && (!prepositions.has(word) || at === words.length - 1);
  const core = words
    .filter((word) => !fillerWords.has(word) && !moments.has(word))
    .join("")
    .replace(/status$|flag$/, "");
  const whole = words.filter((word) => !moments.has(word)).join("");
  const bare = core.replace(momentEndings, "");
  const endsInMoment = !isNamed(core) && !isNamed(whole) && isNamed(bare);
  const isMoment = words.some(isMomentAt) || endsInMoment;
  const isStatus = /status$|state$/.test(whole) && !isMoment;
  const isOfList = words.some((word) => listWords.has(word));
  if (core === "" && isStatus && (isOfMail || isOfList)) return { meaning: "status", certainty: "plain" };
  const names = [core, whole, core.replace(/in$/, ""), bare];
  if (/^clean(?:ed)?$/.test(core) && isMoment) return { meaning: "bounced", certainty: "plain" };
  const meaning =
    meaningAmong(meanings, names) ?? (isOfMail ? meaningAmong(meaningsOfMail, names) : undefined);
  if (meaning === "active" && isMoment) return undefined;
  if (meaning !== undefined) {
    return { meaning: meaning === "active" && isStatus ? "status" : meaning, certainty: "plain" };
  }
  const isForeign = !isOfMail && foreign.test(whole);
  if (isStatus && isForeign) return { meaning: "status", certainty: "foreign" };
  if (core.startsWith("subscription") && isStatus) return { meaning: "status", certainty: "plain" };
  const phrase = meaningOfPhrase(words, isMoment);
  if (phrase !== undefined && phrase.certainty !== "doubtful") return phrase;
  if (isMoment) return undefined;
  if (softNames.has(whole)) return { meaning: "status", certainty: "soft" };
  const doubtful = meaningAmong(doubtfulNames, [whole]) ?? phrase?.meaning ?? guessedMeaning(whole);
  if (doubtful === "bounced" && isForeign) return undefined;
  if (doubtful !== undefined) return { meaning: doubtful, certainty: "doubtful" };
  return isStatus ? { meaning: "status", certainty: "vague" } : undefined;
}

type Names = readonly (readonly [SubscriberStatus, ReadonlySet<string>])[];

function meaningAmong(table: Names, names: readonly string[]): SubscriberStatus | undefined {
  return table.find(([, known]) => names.some((name) => known.has(name)))?.[0];
}

const isNamed = (name: string) => meaningAmong(meanings, [name]) !== undefined;

/** With one of these words, the column Status is the status on the list. */
const listWords = new Set(["list", "lists", "global", "subscriber", "subscription", "recipient"]);

/**
 * "Opted out of email: Newsletter" is about one kind of mail, and counts for all. Salesforce adds a prefix and "__c".
 */
const yesOrNo =
  /[([]?\s*(?<![\p{L}\p{N}])(?:yes|y|ja|j|oui|o|s[iíì]|sim|s|tak|t|ano|a|igen|da|d|да|evet|e|true|1|はい|是|예)\s*[/|]\s*(?:no|n|nein|non|não|nee|nej|nei|nie|ne|nem|nu|нет|hay[ıi]r|h|false|0|いいえ|否|아니오)(?![\p{L}\p{N}])\s*[)\]]?/iu;

function plainName(header: string): string {
  return header
    .replace(/^(opted out of email)\s*:.*/i, "$1")
    .replace(yesOrNo, " ")
    .replace(/__c$/i, "")
    .replace(/^[a-z0-9]+__(?=[a-z])/i, "");
}

function guessedMeaning(whole: string): SubscriberStatus | undefined {
  if (!suspicious.test(whole)) return undefined;
  if (whole.includes("bounce")) return "bounced";
  if (whole.includes("spam")) return "complained";
  return negative.test(whole) ? "unsubscribed" : "active";
}
