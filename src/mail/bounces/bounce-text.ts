/**
 * Finds in the words of a bounce who did not get our mail and why, for all the systems that write no delivery-status
 * part. The words decide (bounce-text-rules.ts), then how the lines lie: an address that begins a line is a recipient, and
 * what follows up to the next one is about it.
 */
import {
  AFTER_RECIPIENT,
  ANNOUNCES_USERS,
  BEFORE_BYSTANDER,
  BEFORE_ORIGINAL,
  BEFORE_RECIPIENT,
  BYSTANDER,
  DELAYED,
  GIVEN_UP,
  ORIGINAL_FOLLOWS,
} from "./bounce-text-rules.ts";

export interface NamedRecipient {
  readonly address: string;
  /** What is said of this recipient alone, "" when nothing is. */
  readonly reason: string;
  /** The server's answer that is quoted there, from its code on; "" when none is. */
  readonly reply: string;
}

/** Characters of a notice that are read, of each of its lines, and lines: none that means well is longer. */
const maxLength = 128 * 1024;
const maxLineLength = 1_000;
const maxLines = 2_000;
const maxReasonLength = 1_000;
// Ours have one recipient each: a notice about more than some is not about them.
const maxRecipients = 200;

const ADDRESS =
  /(?:"[^"\s@]{1,64}"|[^\s<>()[\]{}"',;:=|\\]{1,128})@(?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}-]{2,}/gu;
/** Marks of lists and quotations, brackets, and the host part of a source route. */
const DECORATION = /^(?:[\s>*|•·"'<([+#-]|\d{1,3}[.)]\s|&lt;|mailto:|smtp:|rfc822;)*(?:@[\w.-]+:)?$/iu;
/** Exchange's X.400 names that hold an Internet address. */
const X400_ADDRESS = /^\s*[A-Z]+=[^@]*SMTP=$/i;
const QUOTED_REPLY = /(?<![\w.:/-])[45]\d\d(?:[ -]|: )(?=\s*(?:[245]\.\d|\W{0,3}\p{L}))/u;
const END_OF_REPLY = /^\s*(?:$|---|>>>|<<<)/;
const USER_NAME = /^[\s<"]+([\w.+-]{2,64})[>"]?(?:\s*:?|\s{2,}\S.*)$/;

/** The lines of a bounce that are the reporter's own: what follows of the returned mail is cut off. */
export function noticeLines(text: string): string[] {
  const lines = text
    .slice(0, maxLength)
    .split(/\r\n?|\n/, maxLines)
    .map((line) => line.slice(0, maxLineLength));
  const original = lines.findIndex((line, at) => at > 0 && ORIGINAL_FOLLOWS.some((rule) => rule.test(line)));
  return original < 0 ? lines : lines.slice(0, original);
}

/** What the words say of the mail: still being tried, given up after it was delayed, or simply failed. */
export function stateOf(lines: readonly string[], subject: string): "delayed" | "given_up" | "failed" {
  const words = lines.join(" ").replace(/\s+/g, " ");
  if (!DELAYED.test(words) && !DELAYED.test(subject)) return "failed";
  return GIVEN_UP.test(words) ? "given_up" : "delayed";
}

/**
 * The recipients that a notice says were not reached, each once, in its order.
 * @param strangers addresses that cannot be meant, in lower case: the reporter's, and ours that the notice went to
 * @param reporterDomain for recipients named without a domain; null when it is not known
 */
export function namedRecipients(
  lines: readonly string[],
  strangers: ReadonlySet<string>,
  reporterDomain: string | null,
): NamedRecipient[] {
  const mentions = readMentions(lines, strangers);
  const listed = mentions.filter(({ place }) => place === "listed");
  const told = mentions.filter(({ place }) => place === "told");
  const chosen = listed.length > 0 ? listed : told.length > 0 ? told : onlyOne(mentions);
  if (chosen.length === 0) return namedUsers(lines, reporterDomain);
  const recipients = new Map<string, NamedRecipient>();
  const keys = chosen.map(({ address }) => address.toLowerCase());
  chosen.forEach(({ address, line, end }, at) => {
    const key = keys[at] ?? "";
    const next = keys.findIndex((later, index) => index > at && later !== key);
    const stop = chosen[next]?.line ?? lines.length;
    const known = recipients.get(key);
    if (known === undefined && recipients.size === maxRecipients) return;
    recipients.set(key, {
      address: known?.address ?? address,
      reason: known?.reason || reasonOf(lines, line, end, stop),
      reply: known?.reply || quotedReply(lines.slice(line, Math.max(stop, line + 1))),
    });
  });
  return [...recipients.values()];
}

/** The first answer of a server that a notice quotes, from its code to the end of the paragraph; "" when there is none. */
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
 * The lines that name an address, and the one after each: what a transcript says of it. A line that names another
 * recipient is about that one.
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

/** Whether a line holds an address or name, not as a part of a longer one. */
function holds(line: string, name: string): boolean {
  const text = line.toLowerCase();
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isWhole =
      !/(?:[\w.+]|\w-)$/.test(text.slice(0, at)) && !/^(?:[\w@]|[-.]\w)/.test(text.slice(at + name.length));
    if (isWhole) return true;
  }
  return false;
}

/** A line with another recipient, or with any other address and not the wanted one. */
function namesOther(line: string, wanted: string, others: readonly string[]): boolean {
  if (others.some((other) => other !== wanted && holds(line, other))) return true;
  const addresses = [...line.matchAll(ADDRESS)].map(([address]) => address.toLowerCase());
  return addresses.length > 0 && !holds(line, wanted);
}

interface Mention {
  address: string;
  readonly line: number;
  /** Where the line goes on after the address. */
  readonly end: number;
  /** listed: at the beginning of a line; told: in a sentence about a failure; else merely mentioned. */
  readonly place: "listed" | "told" | "mentioned";
}

function readMentions(lines: readonly string[], strangers: ReadonlySet<string>): Mention[] {
  const mentions: Mention[] = [];
  let openIndent = Number.POSITIVE_INFINITY;
  lines.forEach((line, number) => {
    if (line.trim() === "") openIndent = Number.POSITIVE_INFINITY;
    const indent = line.search(/\S/);
    for (const match of line.matchAll(ADDRESS)) {
      const address = match[0].replace(/^[=*>-]+|-+$/g, "");
      const end = match.index + match[0].length;
      const before = line.slice(0, match.index);
      if (strangers.has(address.toLowerCase())) continue;
      if (BEFORE_ORIGINAL.test(before)) {
        const last = mentions.at(-1);
        if (last !== undefined && number - last.line <= 3) last.address = address;
        else mentions.push({ address, line: number, end, place: "told" });
        continue;
      }
      const place = placeOf(before, line.slice(end), address, lines[number - 1] ?? "");
      // What a notice quotes under a recipient is indented further, and may begin with another address.
      if (place === null || (place === "listed" && indent > openIndent)) continue;
      mentions.push({ address, line: number, end, place });
      if (place === "listed") openIndent = indent;
    }
  });
  return mentions;
}

function placeOf(
  before: string,
  after: string,
  address: string,
  lineBefore: string,
): Mention["place"] | null {
  const lead = before.replace(ADDRESS, "").replace(/[,;]/g, " ");
  if (BYSTANDER.test(address.slice(0, address.lastIndexOf("@")))) return null;
  if (DECORATION.test(lead)) return isWrapped(lineBefore, after) ? null : "listed";
  if (X400_ADDRESS.test(before)) return "listed";
  if (BEFORE_BYSTANDER.test(before)) return null;
  return BEFORE_RECIPIENT.some((rule) => rule.test(before)) || AFTER_RECIPIENT.test(after)
    ? "told"
    : "mentioned";
}

/** Where no sentence is understood, the only address that there is must be meant. */
function onlyOne(mentions: readonly Mention[]): readonly Mention[] {
  return new Set(mentions.map(({ address }) => address.toLowerCase())).size === 1 ? mentions.slice(0, 1) : [];
}

/** The line before is a sentence that goes on here, about somebody to write to or in the middle of its words. */
function isWrapped(lineBefore: string, after: string): boolean {
  const isOpen = /[\p{L},]$/u.test(lineBefore.trimEnd()) && lineBefore.length > 50;
  return (
    (BEFORE_BYSTANDER.test(lineBefore) && !/:\s*$/.test(lineBefore)) || (isOpen && /^\s+\p{L}/u.test(after))
  );
}

/** From behind the address to the end of its paragraph, or where nothing stands there, of the next one. */
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
    .replace(/^[\s>"')\]:]+/, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, maxReasonLength);
}

/** "Your mail to the following recipients could not be delivered: screenname", from the domain that writes it. */
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
      reason: line.slice(line.indexOf(user) + user.length).trim(),
      reply: "",
    });
  }
  return users;
}
