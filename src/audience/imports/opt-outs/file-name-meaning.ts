/** Recognises files whose names say that their people get no mail. */

import { foldedWords } from "./known-names-and-values.ts";
import { kindsOfWords } from "./phrase-meaning.ts";

const no =
  "no|non|not|without|ohne|kein|keine|nicht|sans|sin|senza|sem|zonder|geen|bez|без|ingen|utan|uden|exclude|excluded|excluding|except|minus";
const nameParts =
  "(?:un|(?<!\\p{L})(?:non|not|never) ?)subscri|(?<!\\p{L})(?:hard|soft) ?bounce(?!\\p{L})|(?<!\\p{L})(?:bounces|bounced|bounce (?:list|export|report))(?!\\p{L})|suppress|block ?list|black ?list|opt ?outs?(?!\\p{L})|opted ?out|complaint|spam ?report|abgemeldet|abmeldungen|desinscri|desabonn|(?<!\\p{L})bajas|disiscritt|afgemeld|отпис";
/**
 * Names of files of people who get no mail, as words with blanks between them; not "without bounces" or "bounces
 * removed". Mailchimp starts the name with "cleaned"; elsewhere that word says that a list was cleaned up.
 */
const nameOfOptOuts = new RegExp(
  `^cleaned(?!\\p{L})|(?<!(?<!\\p{L})(?:${no}) (?:(?:the|any|all|hard|soft) )*)(?:${nameParts})(?!\\p{L}* (?:removed|excluded|entfernt)(?!\\p{L}))`,
  "u",
);

/** Words that say nothing about the people in the file. */
const fileWords = new Set(
  foldedWords(`csv txt tsv xlsx export exports exported import file files copy final new old backup data db crm all full total report reports
    part january february march april may june july august september october november december jan feb mar apr jun jul aug sep
    oct nov dec mailchimp hubspot brevo sendgrid klaviyo mailjet mailerlite activecampaign salesforce wordpress shopify
    liste export exportiert datei alle kopie fichier tous archivo todos bestand alle fil alla tutti todos wszystkie все всі`),
);
/** People were removed from the file: "unsubscribed-removed". */
const takenOut = new Set(["removed", "excluded", "deleted", "entfernt", "cleaned"]);
const before = new RegExp(`^(?:${no})$`, "u");
const gone = new Set(["unsubscribed", "bounced", "complained", "off"]);
const LONGEST = 500;

/** Whether the name says that the file holds people who get no mail. */
export function namesOptOuts(fileName: string): boolean {
  const words = foldedWords(fileName.slice(0, LONGEST).replace(/\.[a-z0-9]{1,5}$/i, ""));
  return nameOfOptOuts.test(words.join(" ")) || isPhraseOfOptOuts(words);
}

/** Whether all words are known and say so: "do_not_contact", "invalid_emails", "配信停止リスト", "not subscribed". */
function isPhraseOfOptOuts(words: readonly string[]): boolean {
  const telling = words.filter((word) => !/^[\p{N}]+$/u.test(word) && !fileWords.has(word));
  const said = kindsOfWords(telling);
  // "Cleaned" says that a list was cleaned up.
  if (said.includes(undefined) || telling.includes("cleaned")) return false;
  const isGone = said.some((kind) => kind !== undefined && gone.has(kind));
  if (!isGone) {
    const isTurned = said.includes("negation") !== said.includes("refusal");
    return (
      isTurned &&
      said.some((kind) => kind === "mail" || kind === "letter" || kind === "subscribed" || kind === "on")
    );
  }
  const last = telling.at(-1) ?? "";
  const isWithout = telling.length > 1 && (takenOut.has(last) || telling.some((word) => before.test(word)));
  return !isWithout || isRemovedAlone(said);
}

/** Whether "removed" is the only such word, as in "list removed": it does not say who was removed. */
function isRemovedAlone(said: readonly (string | undefined)[]): boolean {
  return said.filter((kind) => kind !== undefined && (gone.has(kind) || kind === "negation")).length === 1;
}
