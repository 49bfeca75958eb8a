/**
 * Classifies an SMTP reply of 4xx or 5xx: whether to retry, whether the address is at fault, and whether the reply
 * concerns only this recipient. Unambiguous enhanced codes decide first, then the text (reply-rules.ts), then the other
 * enhanced codes, which receivers use loosely, then the basic code (reply-codes.ts). Only a reply that is certainly
 * about the address suppresses it.
 */

import { CERTAINLY_NO_DOMAIN } from "./network-phrases.ts";
import { normalizeReplyText, reportedRefusal } from "./normalize-reply-text.ts";
import {
  BASIC_CODES,
  type BounceCategory,
  type BounceClass,
  CLASS_OF,
  type CodeMeaning,
  DECISIVE_CODES,
  LANE_CATEGORIES,
  PRESUMED_CODES,
  type ReplyMeaning,
  type ReplyScope,
} from "./reply-codes.ts";
import { meaningOfWords, type ReplyWords } from "./reply-rules.ts";
import { ADDRESS_MARK, besidesRejection, withoutDelivery } from "./strip-message-mention.ts";

/**
 * The stage of the conversation ("dot" is the final dot of the message, RFC 5321 section 4.1.1.4), or a bounce message
 * that quotes the reply.
 */
export type ReplyStage =
  | "connect"
  | "banner"
  | "ehlo"
  | "starttls"
  | "auth"
  | "mail"
  | "rcpt"
  | "data"
  | "dot"
  | "report";

/** A reply of 4xx or 5xx, from an SMTP conversation or quoted in a bounce. */
export interface SmtpRefusal {
  /** Null if a bounce message quotes no code; the failure then counts as permanent. */
  readonly code: number | null;
  /** RFC 3463, "5.1.1"; if null it is searched for in the text. */
  readonly enhanced: string | null;
  readonly text: string;
  readonly stage: ReplyStage;
  /** The bounce message calls the failure temporary, whatever reply it quotes. */
  readonly isTemporary?: boolean;
}

/** The classification of a reply. */
export interface ReplyVerdict {
  readonly bounceClass: BounceClass;
  readonly category: BounceCategory;
  readonly retry: boolean;
  /** The address must not be written to again. */
  readonly suppress: boolean;
  /** "lane": everything for this mailbox provider has to slow down. */
  readonly scope: ReplyScope;
  /** The time after which the receiver wants a retry; null if it names none. */
  readonly waitSeconds: number | null;
  /** The codes or the text say what is wrong; false if the verdict is only the default. */
  readonly isExplained: boolean;
}

const LONGEST_TEXT = 1_000;
const LONGEST_WAIT_SECONDS = 86_400;
const WAIT =
  /\b(?:in|for|after|wait|least|another|within|next|about) (?:(\d\d?):(\d\d):(\d\d)|(\d{1,5}|an?|one) ?(h|m|s)(?:ours?|rs?|in(?:ute)?s?|ec(?:ond)?s?)?)\b/;
const UNIT_SECONDS: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1 };
/** Before RCPT the receiver does not know the recipient. */
const STAGES_BEFORE_RECIPIENT: ReadonlySet<ReplyStage> = new Set([
  "connect",
  "banner",
  "ehlo",
  "starttls",
  "auth",
  "mail",
]);

/** Faults of the recipient's address or mailbox, and the enhanced codes (subject and detail) that name them. */
const RECIPIENT_FAULTS: ReadonlySet<BounceCategory> = new Set(["NoEmail", "MailboxDisabled", "MailboxFull"]);
const RECIPIENT_CODES = /^(?:1\.[1236]|2\.[1-4])$/;

/** Classifies one reply. It never throws; any code and text get a verdict. */
export function classifyReply(refusal: SmtpRefusal): ReplyVerdict {
  const { code, stage } = refusal;
  const whole = refusal.text.slice(0, LONGEST_TEXT);
  // The code and label of a gateway are only its interpretation of the server's reply that it quotes.
  const reported = reportedRefusal(whole);
  const text = reported ?? whole;
  const enhanced = reported === null ? refusal.enhanced : null;
  const status = specificStatus(enhanced) ?? enhancedCode(text) ?? enhanced;
  const words = normalizeReplyText(text);
  const digit = firstDigit(refusal, status, words);
  const permanent = digit === "5" && stage !== "auth";
  const meaning = meaningOf({ code, status, digit, text, stage });
  const { category, scope } = meaning ?? defaultMeaning(digit);
  const believed = credibleCategory(category, permanent && !STAGES_BEFORE_RECIPIENT.has(stage));
  const retry = !permanent;
  return {
    bounceClass: CLASS_OF[believed],
    category: believed,
    retry,
    suppress: CLASS_OF[believed] === "hard",
    scope: scope ?? scopeOf(believed, code, status),
    waitSeconds: retry ? waitSeconds(words) : null,
    isExplained: meaning !== null || digit === "4",
  };
}

function firstDigit(
  { code, isTemporary = false }: SmtpRefusal,
  status: string | null,
  words: string,
): string {
  if (isTemporary) return "4";
  // Google reports a domain that does not exist as a failure with the status "4.0.0".
  if (code === null && status === "4.0.0" && CERTAINLY_NO_DOMAIN.test(words)) return "5";
  return code === null ? (status?.[0] ?? "5") : String(Math.floor(code / 100));
}

/**
 * The enhanced status code in a reply's text (RFC 2034): the first one, at the beginning or, as qmail and gateways
 * write it, later ("sorry, no mailbox here by that name. (#5.1.1)").
 */
export function enhancedCode(text: string): string | null {
  return (
    /(?<![\w.]|[a-z]-)[245]\.\d{1,3}\.\d{1,3}(?![\w-]|\.\d)/i.exec(text.slice(0, LONGEST_TEXT))?.[0] ?? null
  );
}

/** "5.0.0" adds nothing to the basic code. */
function specificStatus(enhanced: string | null): string | null {
  return enhanced === null || !/^[245](?!\.0\.0$)\.\d+\.\d+$/.test(enhanced) ? null : enhanced;
}

function defaultMeaning(digit: string): ReplyMeaning {
  return { category: digit === "4" ? "General" : "Undetermined" };
}

interface ReplyToClassify {
  readonly code: number | null;
  readonly status: string | null;
  readonly digit: string;
  readonly text: string;
  readonly stage: ReplyStage;
}

/** The meaning of a reply; null if neither its codes nor its text are known. */
function meaningOf({ code, status, digit, text, stage }: ReplyToClassify): ReplyMeaning | null {
  if (stage === "auth" || (digit !== "4" && digit !== "5")) return { category: "ProtocolError" };
  const detail = status?.slice(2) ?? "";
  // "550 4.1.1" contradicts itself, so the enhanced code is not used.
  const agreed = status?.[0] === digit ? detail : "";
  const meant = (list: readonly CodeMeaning[], wanted: string) =>
    list.find(({ codes }) => codes.test(wanted)) ?? null;
  return (
    meant(DECISIVE_CODES, agreed) ??
    meaningOfText(text, { detail, isReport: stage === "report", hasReply: code !== null }) ??
    meant(PRESUMED_CODES, agreed) ??
    meant(BASIC_CODES, String(code))
  );
}

/** The meaning of the text, without the part that only names the message (strip-message-mention.ts). */
function meaningOfText(text: string, said: Omit<ReplyWords, "words">): ReplyMeaning | null {
  const marked = normalizeReplyText(text, ADDRESS_MARK);
  const reason = besidesRejection(marked);
  if (reason !== null) {
    const meaning = meaningOfWords({ ...said, words: reason.words });
    const isConfirmed = reason.isAboutRecipient || RECIPIENT_CODES.test(said.detail);
    if (meaning !== null && isConfirmed && RECIPIENT_FAULTS.has(meaning.category)) return meaning;
  }
  return meaningOfWords({ ...said, words: withoutDelivery(marked) });
}

/** A fault of the address counts only if it is permanent and the receiver knew the address. */
function credibleCategory(category: BounceCategory, mayBlameAddress: boolean): BounceCategory {
  return CLASS_OF[category] === "hard" && !mayBlameAddress ? "General" : category;
}

/** A 421 with a policy code is about our connections, whatever its text (RFC 5321 section 3.8). */
function scopeOf(category: BounceCategory, code: number | null, status: string | null): ReplyScope {
  const isPolicy421 =
    code === 421 && status?.startsWith("4.7.") === true && category !== "AuthenticationFailed";
  return isPolicy421 || LANE_CATEGORIES.has(category) ? "lane" : "recipient";
}

/** Parses "try again in 5 minutes", "Greylisted for 300 seconds", "come back in 00:04:30", "wait 1 hour". */
function waitSeconds(words: string): number | null {
  const [, hours, minutes, seconds, count, unit = ""] = WAIT.exec(words) ?? [];
  const spelled = (Number(count) || 1) * (UNIT_SECONDS[unit] ?? 0);
  const wait = spelled || Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return wait > 0 ? Math.min(wait, LONGEST_WAIT_SECONDS) : null;
}
