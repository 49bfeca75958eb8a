/**
 * Finds the failed recipients and the reasons in the text of bounces without a delivery-status part. First by words
 * (bounce-text-rules.ts), then by layout: an address at the beginning of a line is a recipient, and the text up to the
 * next such address is about it.
 */
import { ANNOUNCES_USERS, ORIGINAL_FOLLOWS } from "./bounce-text-rules.ts";
import { ADDRESS, type Mention, QUOTED_REPLY, readMentions, withoutForward } from "./recipient-mentions.ts";

/** A failed recipient that the text of a bounce names. */
export interface NamedRecipient {
  /** The address that we wrote to. */
  readonly address: string;
  /** The mailbox that failed; another address if the message was forwarded. */
  readonly finalRecipient: string;
  /** The bounce gives only a user name; the domain is that of the reporter. */
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

const END_OF_REPLY = /^\s*(?:$|---|>>>|<<<)/;
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
