/**
 * Finds the failed recipients and the reasons in the text of bounces without a delivery-status part. First by words
 * (bounce-text-rules.ts), then by layout: an address at the beginning of a line is a recipient, and the text up to the
 * next such address is about it.
 */
import {
  AFTER_RECIPIENT,
  ANNOUNCES_REASON,
  ANNOUNCES_USERS,
  BEFORE_BYSTANDER,
  BEFORE_ORIGINAL,
  BEFORE_RECIPIENT,
  BEFORE_SENDER_OTHER_SCRIPTS,
  BYSTANDER,
  ORIGINAL_FOLLOWS,
  REASON_BEFORE,
} from "./bounce-text-rules.ts";

export interface NamedRecipient {
  /** The address that we wrote to. */
  readonly address: string;
  /** The mailbox that failed; another address if the message was forwarded. */
  readonly finalRecipient: string;
  /** Only a user name was given; the domain is that of the reporter. */
  readonly isGuess?: true;
  /** The text about this recipient alone, "" if there is none. */
  readonly reason: string;
  /** The server's reply quoted there, from its code on; "" if none is quoted. */
  readonly reply: string;
}

/** Limits: characters of a bounce, characters of a line, and lines that are read. */
const maxLength = 128 * 1024;
const maxLineLength = 1_000;
const maxLines = 2_000;
const maxReasonLength = 1_000;
// Our messages have one recipient each; a bounce about many recipients is not about them.
const maxRecipients = 200;
/** Limit of mentions of one recipient that are searched for a reason. */
const maxSearches = 50;

const ADDRESS =
  /(?:"[^"\s@]{1,64}"|[^\s<>()[\]{}"',;:=|\\]{1,128})@(?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}-]{2,}/gu;
/** List markers, quotation marks, brackets, and the host part of a source route. */
const DECORATION = /^(?:[\s>*|•·"'<([+#-]|\d{1,3}[.)]\s|&lt;|mailto:|smtp:|rfc822;)*(?:@[\w.-]+:)?$/iu;
/** Exchange's X.400 names that contain an Internet address. */
const X400_ADDRESS = /^\s*[A-Z]+=[^@]*SMTP=$/i;
const QUOTED_REPLY = /(?<![\w.:/-])[45]\d\d(?:[ -]|: )(?=\s*(?:[245]\.\d|\W{0,3}\p{L}))/u;
const END_OF_REPLY = /^\s*(?:$|---|>>>|<<<)/;
/** Text between two addresses of a list, including brackets. */
const SEPARATOR =
  /^[\s>"')\]]*(?:[,;&、，和及と]|(?<=\s)(?:and|or|und|oder|et|ou|y|e|o|en|of|och|og|ja|i|a|oraz|и|та|ve)(?=\s|$))[\s<"'([,;]*(?:(?:and|und|et|y|e|en)\s+)?[<"'([]*$/u;
const OPENING = /^[\s<"'([]*$/;
/** A line that ends in the middle of a server's reply. */
const OPEN_REPLY =
  /(?:\b(?:said|replied|answered|response|reply):|\b[45]\d\d[ -]?|\b[45]\.\d{1,3}\.\d{1,3}|\b(?:RCPT TO|MAIL FROM):?)\s*$/i;
/** Chinese, Japanese and Korean words attached to an address. */
const WIDE_LEAD = /^[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]+(?=[\x21-\x3f\x41-\x7e])/u;
const WIDE_TAIL = /[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]+$/u;
const USER_NAME = /^[\s<"]+([\w.+-]{2,64})[>"]?(?:\s*:?|\s{2,}\S.*)$/;

/** The lines of the reporter's own text, without the returned message. */
export function noticeLines(text: string): string[] {
  const lines = text
    .slice(0, maxLength)
    .split(/\r\n?|\n/, maxLines)
    .map((line) => line.slice(0, maxLineLength));
  const original = lines.findIndex((line, at) => at > 0 && ORIGINAL_FOLLOWS.some((rule) => rule.test(line)));
  return original < 0 ? lines : lines.slice(0, original);
}

/**
 * The failed recipients that a bounce names, each once, in order.
 * @param unrelated addresses that cannot be meant, in lower case: the reporter's, and ours that the bounce was sent to
 * @param reporterDomain the domain of recipients named without one; null if it is unknown
 */
export function namedRecipients(
  lines: readonly string[],
  unrelated: ReadonlySet<string>,
  reporterDomain: string | null,
): NamedRecipient[] {
  const { mentions, forwardedTo } = withoutForward(readMentions(lines, unrelated));
  const listed = mentions.filter(({ place }) => place === "listed");
  const told = mentions.filter(({ place }) => place === "told");
  const chosen = listed.length > 0 ? listed : told.length > 0 ? told : singleAddress(mentions);
  if (chosen.length === 0) return namedUsers(lines, reporterDomain);
  const recipients = new Map<string, NamedRecipient>();
  const searches = new Map<string, number>();
  const keys = chosen.map(({ address }) => address.toLowerCase());
  chosen.forEach(({ address, failed, line, end }, at) => {
    const key = keys[at] ?? "";
    const known = recipients.get(key);
    if (known === undefined ? recipients.size === maxRecipients : known.reply !== "" && known.reason !== "")
      return;
    // An address may occur in every line, so searches are limited.
    if ((searches.get(key) ?? 0) >= maxSearches) return;
    searches.set(key, (searches.get(key) ?? 0) + 1);
    const next = keys.findIndex((later, index) => index > at && later !== key);
    const stop = chosen[next]?.line ?? lines.length;
    recipients.set(key, {
      address: known?.address ?? address,
      finalRecipient: known?.finalRecipient ?? forwardedTo ?? failed,
      reason: known?.reason || reasonOf(lines, line, end, stop),
      reply: known?.reply || quotedReply(lines.slice(line, Math.max(stop, line + 1))),
    });
  });
  return [...recipients.values()];
}

/** By failed mailbox in lower case: the address that we wrote to, as in "(generated from ann@example.com)". */
export function forwardsIn(
  lines: readonly string[],
  unrelated: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const forwards = readMentions(lines, unrelated).filter(({ address, failed }) => address !== failed);
  return new Map(forwards.map(({ address, failed }) => [failed.toLowerCase(), address]));
}

/** The first server reply that a bounce quotes, from its code to the end of the paragraph; "" if there is none. */
export function quotedReply(lines: readonly string[]): string {
  const start = lines.findIndex((line) => QUOTED_REPLY.test(line));
  if (start < 0) return "";
  const end = lines.findIndex((line, at) => at > start && END_OF_REPLY.test(line));
  const words = lines
    .slice(start, end < 0 ? lines.length : end)
    .join(" ")
    .replace(/\s+/g, " ");
  return words.slice(words.search(QUOTED_REPLY)).trim().slice(0, maxReasonLength);
}

/**
 * The lines that name an address, and the line after each, as in a transcript. A line that names another recipient is
 * about that one.
 * @param others addresses and names of the other recipients, in lower case
 */
export function linesAbout(lines: readonly string[], address: string, others: readonly string[]): string {
  const wanted = address.toLowerCase();
  const about: string[] = [];
  lines.forEach((line, at) => {
    if (!holds(line, wanted) || namesOther(line, wanted, others)) return;
    about.push(line);
    const next = lines[at + 1] ?? "";
    if (!namesOther(next, wanted, others)) about.push(next);
  });
  return about.join(" ").slice(0, maxReasonLength);
}

/** Whether a line contains an address or name that is not part of a longer one. */
function holds(line: string, name: string): boolean {
  const text = line.toLowerCase();
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isWhole =
      !/(?:[\w.+]|\w-)$/.test(text.slice(0, at)) && !/^(?:[\w@]|[-.]\w)/.test(text.slice(at + name.length));
    if (isWhole) return true;
  }
  return false;
}

/** Whether a line names another recipient, or other addresses without the wanted one. */
function namesOther(line: string, wanted: string, others: readonly string[]): boolean {
  if (others.some((other) => other !== wanted && holds(line, other))) return true;
  const addresses = [...line.matchAll(ADDRESS)].map(([address]) => address.toLowerCase());
  return addresses.length > 0 && !holds(line, wanted);
}

interface Mention {
  /** The address that we wrote to. */
  address: string;
  /** The mailbox that failed. */
  readonly failed: string;
  readonly line: number;
  /** The offset in the line after the address. */
  readonly end: number;
  readonly place: Place;
  /** It is in a server's reply, or in text that is announced as the reason. */
  readonly isInReason: boolean;
}

/** listed: at the beginning of a line; told: in a sentence about a failure; mentioned: anywhere else. */
type Place = "listed" | "told" | "mentioned";

/** The last address that was read, for recognizing lists. */
interface Seen {
  readonly line: number;
  readonly end: number;
  /** Null if the address has no part in the failure. */
  readonly place: Place | null;
}

/**
 * Drops the address that the reason names if exactly one recipient is named before it: "… to ann@example.com for the
 * following reason: 552 Quota violation for ann@mailhost.example.com". The message was forwarded to that address.
 */
function withoutForward(mentions: readonly Mention[]): {
  readonly mentions: readonly Mention[];
  readonly forwardedTo: string | null;
} {
  const outside = mentions.filter(({ isInReason, place }) => !isInReason && place !== "mentioned");
  const inReason = mentions.filter(({ isInReason, place }) => isInReason && place !== "mentioned");
  const keyOf = ({ address }: Mention) => address.toLowerCase();
  const recipients = new Set(outside.map(keyOf));
  const others = new Set(inReason.map(keyOf).filter((address) => !recipients.has(address)));
  const forward = inReason.find((mention) => others.has(keyOf(mention)));
  const [first] = outside;
  const isClear = recipients.size === 1 && others.size === 1;
  if (!isClear || first === undefined || forward === undefined) return { mentions, forwardedTo: null };
  // A recipient at the beginning of a line outweighs an address in a sentence.
  const isOutweighed = first.place === "listed" && forward.place === "told";
  if (isOutweighed || forward.address !== forward.failed || forward.line < first.line) {
    return { mentions, forwardedTo: null };
  }
  return {
    mentions: mentions.filter((mention) => !others.has(keyOf(mention))),
    forwardedTo: forward.address,
  };
}

function readMentions(lines: readonly string[], unrelated: ReadonlySet<string>): Mention[] {
  const mentions: Mention[] = [];
  let openIndent = Number.POSITIVE_INFINITY;
  let seen: Seen | null = null;
  const reason = new ReasonLines();
  lines.forEach((line, number) => {
    const isReason = reason.holds(line);
    if (line.trim() === "") openIndent = Number.POSITIVE_INFINITY;
    const indent = line.search(/\S/);
    for (const match of line.matchAll(ADDRESS)) {
      const { address, start, end } = addressAt(match);
      const before = line.slice(0, start);
      if (unrelated.has(address.toLowerCase())) {
        seen = { line: number, end, place: null };
        continue;
      }
      if (BEFORE_ORIGINAL.test(before)) {
        const last = mentions.at(-1);
        if (last !== undefined && number - last.line <= 3) last.address = address;
        else mentions.push({ address, failed: address, line: number, end, place: "told", isInReason: false });
        continue;
      }
      const goesOn: boolean = seen !== null && isList(lines, seen, number, before);
      const place: Place | null =
        goesOn && seen !== null
          ? seen.place
          : placeOf(before, line.slice(end), address, lines[number - 1] ?? "");
      seen = { line: number, end, place };
      // Text quoted under a recipient is indented further, and may begin with another address.
      if (place === null || (place === "listed" && indent > openIndent && !goesOn)) continue;
      const isInReason = isReason || QUOTED_REPLY.test(before) || REASON_BEFORE.test(before);
      mentions.push({ address, failed: address, line: number, end, place, isInReason });
      if (place === "listed") openIndent = Math.min(openIndent, indent);
    }
  });
  return mentions;
}

/** Recognizes the reason: the paragraph after a line that announces it. */
class ReasonLines {
  #isAnnounced = false;
  #isReason = false;

  holds(line: string): boolean {
    if (line.trim() === "") {
      this.#isReason = false;
      return false;
    }
    const isReason = this.#isReason || this.#isAnnounced;
    this.#isReason = isReason;
    this.#isAnnounced = ANNOUNCES_REASON.test(line);
    return isReason;
  }
}

/** The address without markers before it, and without words of scripts that do not use blanks. */
function addressAt({ 0: found, index }: RegExpExecArray): { address: string; start: number; end: number } {
  const isTail = WIDE_TAIL.test(found) && /@[\x21-\x7e]+\.[a-z]{2,}$/i.test(found.replace(WIDE_TAIL, ""));
  const address = (isTail ? found.replace(WIDE_TAIL, "") : found)
    .replace(WIDE_LEAD, "")
    .replace(/^[=*>-]+|-+$/g, "");
  const start = index + found.indexOf(address);
  return { address, start, end: start + address.length };
}

/** Whether only commas or an "and" are between the last address and this one. */
function isList(lines: readonly string[], { line, end }: Seen, number: number, before: string): boolean {
  if (number > line + 1) return false;
  if (number === line) return SEPARATOR.test(before.slice(end));
  return SEPARATOR.test((lines[line] ?? "").slice(end)) && OPENING.test(before);
}

function placeOf(before: string, after: string, address: string, lineBefore: string): Place | null {
  const lead = before.replace(ADDRESS, "").replace(/[,;]/g, " ");
  if (BYSTANDER.test(address.slice(0, address.lastIndexOf("@")))) return null;
  if (DECORATION.test(lead)) return placeAtLineStart(lineBefore, after);
  if (X400_ADDRESS.test(before)) return "listed";
  if (BEFORE_BYSTANDER.test(before) || BEFORE_SENDER_OTHER_SCRIPTS.test(before)) return null;
  return placeInSentence(before, after);
}

function placeInSentence(before: string, after: string): "told" | "mentioned" {
  return BEFORE_RECIPIENT.some((rule) => rule.test(before)) || AFTER_RECIPIENT.test(after)
    ? "told"
    : "mentioned";
}

/** At the beginning of a line a sentence, or a quoted server reply, may continue. */
function placeAtLineStart(lineBefore: string, after: string): Place | null {
  if (BEFORE_BYSTANDER.test(lineBefore) && !/:\s*$/.test(lineBefore)) return null;
  if (OPEN_REPLY.test(lineBefore)) return null;
  const isOpen = /[\p{L},]$/u.test(lineBefore.trimEnd()) && lineBefore.length > 50;
  if (!isOpen || !/^>?\s+\p{L}/u.test(after)) return "listed";
  return placeInSentence(lineBefore, after) === "told" ? "told" : null;
}

/** If no sentence is understood, a single address must be the recipient. */
function singleAddress(mentions: readonly Mention[]): readonly Mention[] {
  return new Set(mentions.map(({ address }) => address.toLowerCase())).size === 1 ? mentions.slice(0, 1) : [];
}

/** The text from the address to the end of its paragraph, or of the next one if there is nothing after the address. */
function reasonOf(lines: readonly string[], line: number, end: number, stop: number): string {
  const words: string[] = [(lines[line] ?? "").slice(end)];
  for (let at = line + 1; at < stop; at++) {
    const text = lines[at] ?? "";
    const told = words.join(" ").trim();
    if (text.trim() === "" && /\p{L}{2}/u.test(told) && !told.endsWith(":")) break;
    words.push(text.trim());
  }
  return words
    .join(" ")
    .replace(/^[\s>"')\]:.]+/, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, maxReasonLength);
}

/** Recipients named without a domain: "Your mail to the following recipients could not be delivered: screenname". */
function namedUsers(lines: readonly string[], domain: string | null): NamedRecipient[] {
  const announced = lines.findIndex((line) => ANNOUNCES_USERS.test(line));
  if (announced < 0 || domain === null) return [];
  const following = lines.slice(announced + 1);
  const start = following.findIndex((line) => line.trim() !== "");
  const users: NamedRecipient[] = [];
  for (const line of start < 0 ? [] : following.slice(start)) {
    const [, user] = USER_NAME.exec(line) ?? [];
    if (user === undefined || users.length === maxRecipients) break;
    users.push({
      address: `${user}@${domain}`,
      finalRecipient: `${user}@${domain}`,
      isGuess: true,
      reason: line.slice(line.indexOf(user) + user.length).trim(),
      reply: "",
    });
  }
  return users;
}
