/** Files that are called after people who get no mail. */
import { kindsOfWords } from "./phrases.ts";
import { foldedWords } from "./words.ts";

const no =
  "no|non|not|without|ohne|kein|keine|nicht|sans|sin|senza|sem|zonder|geen|bez|без|ingen|utan|uden|exclude|excluded|excluding|except|minus";
const nameParts =
  "(?:un|(?<!\\p{L})(?:non|not|never) ?)subscri|(?<!\\p{L})(?:hard|soft) ?bounce(?!\\p{L})|(?<!\\p{L})(?:bounces|bounced|bounce (?:list|export|report))(?!\\p{L})|suppress|block ?list|black ?list|opt ?outs?(?!\\p{L})|opted ?out|complaint|spam ?report|abgemeldet|abmeldungen|desinscri|desabonn|(?<!\\p{L})bajas|disiscritt|afgemeld|отпис";
/**
 * Names of files that hold people who get no mail, as words with blanks between them: not "without bounces", nor "bounces
 * removed". Mailchimp writes "cleaned" first; elsewhere it says that a list was tidied.
 */
const nameOfOptOuts = new RegExp(
  `^cleaned(?!\\p{L})|(?<!(?<!\\p{L})(?:${no}) (?:(?:the|any|all|hard|soft) )*)(?:${nameParts})(?!\\p{L}* (?:removed|excluded|entfernt)(?!\\p{L}))`,
  "u",
);

/** Words of file names that say nothing about who is in the file. */
const fileWords = new Set(
  foldedWords(`csv txt tsv xlsx export exports exported import file files copy final new old backup data db crm all full total report reports
    part january february march april may june july august september october november december jan feb mar apr jun jul aug sep
    oct nov dec mailchimp hubspot brevo sendgrid klaviyo mailjet mailerlite activecampaign salesforce wordpress shopify
    liste export exportiert datei alle kopie fichier tous archivo todos bestand alle fil alla tutti todos wszystkie все всі`),
);
/** Of people who were taken out of the file: "unsubscribed-removed". */
const takenOut = new Set(["removed", "excluded", "deleted", "entfernt", "cleaned"]);
const before = new RegExp(`^(?:${no})$`, "u");
const gone = new Set(["unsubscribed", "bounced", "complained", "off"]);
const LONGEST = 500;

/** Whether a file of this name holds people who get no mail. */
export function namesOptOuts(fileName: string): boolean {
  const words = foldedWords(fileName.slice(0, LONGEST).replace(/\.[a-z0-9]{1,5}$/i, ""));
  return nameOfOptOuts.test(words.join(" ")) || isPhraseOfOptOuts(words);
}

/** Names of words that are all known: "do_not_contact", "invalid_emails", "配信停止リスト", "not subscribed". */
function isPhraseOfOptOuts(words: readonly string[]): boolean {
  const telling = words.filter((word) => !/^[\p{N}]+$/u.test(word) && !fileWords.has(word));
  const said = kindsOfWords(telling);
  // "Cleaned" says that a list was tidied.
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

/** "List removed": no other word says of whom. */
function isRemovedAlone(said: readonly (string | undefined)[]): boolean {
  return said.filter((kind) => kind !== undefined && (gone.has(kind) || kind === "negation")).length === 1;
}
