/**
 * Finds the addresses in the text of a bounce, and decides by the words and the layout around each of them whether it is a
 * failed recipient: at the beginning of a line, in a sentence about a failure, or merely mentioned.
 */
import {
  AFTER_RECIPIENT,
  ANNOUNCES_REASON,
  BEFORE_BYSTANDER,
  BEFORE_ORIGINAL,
  BEFORE_RECIPIENT,
  BEFORE_SENDER_OTHER_SCRIPTS,
  BYSTANDER,
  REASON_BEFORE,
} from "./bounce-text-rules.ts";

/** An e-mail address in a text. */
export const ADDRESS =
  /(?:"[^"\s@]{1,64}"|[^\s<>()[\]{}"',;:=|\\]{1,128})@(?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}-]{2,}/gu;
/** List markers, quotation marks, brackets, and the host part of a source route. */
const DECORATION = /^(?:[\s>*|•·"'<([+#-]|\d{1,3}[.)]\s|&lt;|mailto:|smtp:|rfc822;)*(?:@[\w.-]+:)?$/iu;
/** Exchange's X.400 names that contain an Internet address. */
const X400_ADDRESS = /^\s*[A-Z]+=[^@]*SMTP=$/i;
/** The beginning of a server's reply that is quoted in a line. */
export const QUOTED_REPLY = /(?<![\w.:/-])[45]\d\d(?:[ -]|: )(?=\s*(?:[245]\.\d|\W{0,3}\p{L}))/u;
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

/** An address in the text of a bounce. */
export interface Mention {
  /** The address that we wrote to. */
  address: string;
  /** The mailbox that failed. */
  readonly failed: string;
  readonly line: number;
  /** The offset in the line after the address. */
  readonly end: number;
  readonly place: Place;
  /** The address is in a server's reply, or in text that is announced as the reason. */
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
export function withoutForward(mentions: readonly Mention[]): {
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

/** All addresses in the text of a bounce except the unrelated ones, each with its place in the text. */
export function readMentions(lines: readonly string[], unrelated: ReadonlySet<string>): Mention[] {
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
