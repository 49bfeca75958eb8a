/**
 * Reads bounces: which recipient failed, and why. A delivery-status part decides (RFC 3464), otherwise the text
 * (failed-recipients-in-text.ts). The reason is classified like any SMTP reply (classify-reply.ts). The sender of a bounce is never
 * known, so it counts only for the message that its signed return path or token names.
 */

import { classifyReply, enhancedCode, type ReplyVerdict } from "#mail/refusals/classify-reply.ts";
import { isReadReceipt } from "./auto-reply.ts";
import { autoReplySignIn, detectDeliveryState } from "./detect-bounce.ts";
import { type DeliveryAction, type DeliveryReport, deliveryReport } from "./dsn.ts";
import {
  forwardsIn,
  linesAbout,
  type NamedRecipient,
  namedRecipients,
  quotedReply,
} from "./failed-recipients-in-text.ts";
import { headerText, type MailPart, ownParts, partOctets, readMime } from "./lenient-mime.ts";
import { describeReturned, isMailFile, looksLikeOurs, type ReturnedMessage } from "./returned-message.ts";
import {
  addressesIn,
  type BounceNotice,
  readNotice,
  unrelatedAddresses,
} from "./split-off-returned-message.ts";

/** The part of a verdict that also applies to bounces. */
export type BounceVerdict = Pick<ReplyVerdict, "bounceClass" | "category" | "suppress">;

/** The result of the delivery to one recipient. */
export interface BounceRecipient {
  /** As the reporter wrote it: usually an address, rarely another name; null if no recipient is named. */
  readonly address: string | null;
  /** The address that the message was forwarded to; equals `address` if it was not forwarded, or if that is unknown. */
  readonly finalRecipient: string | null;
  readonly action: DeliveryAction;
  /** Enhanced status code, "5.1.1". */
  readonly status: string | null;
  /** The reply code that is quoted, such as 550. */
  readonly code: number | null;
  /** The quoted reply or text, at most 1,000 characters; "" if there is none. */
  readonly diagnostic: string;
  readonly remoteMta: string | null;
  /** Null unless `action` is "failed". */
  readonly verdict: BounceVerdict | null;
}

/** A mail that came back: a bounce, a notice about a delivery, or an automatic reply. */
export interface Bounce {
  /** bounce: a recipient failed; notice: delayed, delivered and the like; auto_reply: not about delivery. */
  readonly kind: "bounce" | "notice" | "auto_reply";
  /** Empty only for an auto_reply. */
  readonly recipients: readonly BounceRecipient[];
  /** The ENVID of the message (RFC 3461), which only we know. */
  readonly originalEnvelopeId: string | null;
  readonly reportingMta: string | null;
  /** Our message as the bounce returns it. */
  readonly returned: ReturnedMessage | null;
}

const maxDiagnosticLength = 1_000;
/** Limit of mails inside mails that are searched for a report. */
const maxAttachedDepth = 3;
/** The reply code that stands for any temporary failure. */
const temporaryCode = 450;
/** "550-5.1.1 … 554 5.1.1 …": the last line of a reply has a blank after its code. */
const LAST_LINE = /^\d{3}-(?!['"]).*?\s([45]\d\d) (?=[245]\.\d{1,3}\.\d|\p{L})/su;
/** Limit of other recipients whose names are compared with the text. */
const maxOthers = 50;
/** Limit of recipients named in header fields. */
const maxFailed = 200;
const REPLY_CODE = /(?<![\w.:/-])([45]\d\d)(?=[\s\-:;,)\]#]|$)/;

/** Reads a mail as it was received; null if it is not about a delivery, or cannot be read. Never throws. */
export function readBounce(raw: Uint8Array): Bounce | null {
  return readBounceMail(readMime(raw), 0);
}

function readBounceMail(mail: MailPart, depth: number): Bounce | null {
  const report = deliveryReport(mail);
  const attached = report === null && depth < maxAttachedDepth ? attachedMails(mail) : [];
  // Gateways wrap the report of another system into their own report, which says less.
  const inner = attached.find((candidate) => deliveryReport(candidate) !== null);
  if (inner !== undefined) return readBounceMail(inner, depth + 1);
  const notice = readNotice(mail);
  if (report === null && isReadReceipt(mail)) return bounceOf("auto_reply", [], null, notice);
  const recipients = report === null ? fromText(mail, notice) : fromReport(report, mail, notice);
  if (recipients !== null) {
    const kind = recipients.some(({ action }) => action === "failed") ? "bounce" : "notice";
    return bounceOf(kind, recipients, report, notice);
  }
  const sign = autoReplySignIn(mail, notice);
  if (sign === "subject" || sign === "header") return bounceOf("auto_reply", [], null, notice);
  for (const candidate of attached) {
    // Our own message is not a report, whatever it says.
    if (looksLikeOurs(describeReturned(candidate.headers))) continue;
    const bounce = readBounceMail(candidate, depth + 1);
    if (bounce !== null && bounce.kind !== "auto_reply") return bounce;
  }
  return sign === null ? null : bounceOf("auto_reply", [], null, notice);
}

function bounceOf(
  kind: Bounce["kind"],
  recipients: readonly BounceRecipient[],
  report: DeliveryReport | null,
  { returned }: BounceNotice,
): Bounce {
  const { originalEnvelopeId = null, reportingMta = null } = report ?? {};
  return { kind, recipients, originalEnvelopeId, reportingMta, returned };
}

function attachedMails(mail: MailPart): MailPart[] {
  return [...ownParts(mail)].flatMap((part) => {
    if (part.type.startsWith("message/")) return part.parts;
    return isMailFile(part) ? [readMime(partOctets(part))] : [];
  });
}

/** The recipients found in the text; null if the mail is not about a delivery. */
function fromText(mail: MailPart, notice: BounceNotice): BounceRecipient[] | null {
  const { lines, returned } = notice;
  const failed = failedByHeader(mail);
  const state = detectDeliveryState(mail, notice, failed.length > 0);
  if (state === null) return null;
  const action = ACTION_OF[state];
  // A delayed message is not a fault of the address, whatever reply is quoted.
  const isNotFinal = state !== "failed";
  const reporter = addressesIn(headerText(mail, "From"))[0]?.replace(/^.*@/, "").toLowerCase() ?? null;
  const named = namedRecipients(lines, unrelatedAddresses(mail, notice), reporter);
  const all = failedRecipients(named, failed, returned);
  // The text about one recipient must not be used for the others.
  const isShared =
    all.length === 1 || all.every(({ reply, reason }) => reply === "" && !/\p{L}{3}/u.test(reason));
  const names = all.flatMap(({ address }) => address?.toLowerCase() ?? []);
  return all.map((recipient) => {
    const { address, finalRecipient } = recipient;
    const known = { address, finalRecipient, action, status: null, code: null, remoteMta: null } as const;
    return withVerdict(known, textsAbout(recipient, isShared, { lines, names }), isNotFinal);
  });
}

/** The addresses in all X-Failed-Recipients fields: Exim adds another field if a line becomes too long. */
function failedByHeader({ headers, parameters }: MailPart): string[] {
  const fields = headers.filter(([name]) => name.toLowerCase() === "x-failed-recipients");
  return fields
    .flatMap((field) => addressesIn(headerText({ headers: [field], parameters }, field[0])))
    .slice(0, maxFailed);
}

const ACTION_OF = {
  failed: "failed",
  given_up: "failed",
  delayed: "delayed",
  delivered: "delivered",
} as const;

/** A NamedRecipient whose address may be unknown. */
type Failed = Omit<NamedRecipient, "address" | "finalRecipient"> & {
  readonly address: string | null;
  readonly finalRecipient: string | null;
};

/**
 * The recipients of X-Failed-Recipients; else those named in the text; else the To of our message; else one without an
 * address.
 */
function failedRecipients(
  named: readonly NamedRecipient[],
  failed: readonly string[],
  returned: ReturnedMessage | null,
): Failed[] {
  const [to = null, ...others] = addressesIn(returned?.to ?? "");
  const written = others.length === 0 ? to : null;
  const bare = (address: string | null) => ({ address, finalRecipient: address, reason: "", reply: "" });
  if (failed.length > 0) {
    return [...new Set(failed)].map(
      (address) =>
        named.find((one) => isAlike(one.finalRecipient, address) || isAlike(one.address, address)) ??
        bare(address),
    );
  }
  if (named.length === 0) return [bare(written)];
  const [only] = named;
  // A user name without a domain: the domain of the To address is better than the reporter's.
  if (
    only?.isGuess === true &&
    named.length === 1 &&
    written !== null &&
    isAlike(localOf(only.address), localOf(written))
  ) {
    return [{ ...only, address: written, finalRecipient: written }];
  }
  return [...named];
}

function isAlike(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function localOf(address: string): string {
  return address.slice(0, address.lastIndexOf("@"));
}

/** Texts that may explain one recipient's failure, the most specific first. */
function* textsAbout(
  { address, reason, reply }: Pick<Failed, "address" | "reason" | "reply">,
  isShared: boolean,
  /** The lines of the bounce, and the names of all its recipients in lower case. */
  { lines, names }: { readonly lines: readonly string[]; readonly names: readonly string[] },
): Generator<string> {
  const quoted = reply || (isShared ? quotedReply(lines) : "");
  yield quoted;
  yield reason;
  if (address !== null) yield linesAbout(lines, address, names);
  // Bounces explain what replies may mean; if a reply is quoted, only the reply counts.
  if (isShared && quoted === "") yield lines.join(" ");
}

/** The recipients of a delivery-status part, explained by their diagnostics or, without those, by the text. */
function fromReport({ recipients }: DeliveryReport, mail: MailPart, notice: BounceNotice): BounceRecipient[] {
  const { lines } = notice;
  const isShared = recipients.length === 1;
  const forwards = forwardsIn(lines, unrelatedAddresses(mail, notice));
  return recipients.map(({ recipient, diagnostic: reply, ...status }) => {
    const address = forwards.get(recipient.toLowerCase()) ?? recipient;
    const names = recipients
      .slice(0, maxOthers)
      .flatMap(({ recipient: other, finalRecipient }) => (other === recipient ? [] : [other, finalRecipient]))
      .map((name) => name.toLowerCase());
    return withVerdict(
      { address, ...status, code: replyCode(reply) },
      textsAbout({ address: recipient, reason: "", reply }, isShared, { lines, names }),
    );
  });
}

/** Classifies a failure by the first text that is specific enough. */
function withVerdict(
  recipient: Omit<BounceRecipient, "verdict" | "diagnostic">,
  texts: Iterable<string>,
  isNotFinal = false,
): BounceRecipient {
  const codeIn = (text: string) => recipient.code ?? replyCode(text);
  const verdictOn = (text: string) => {
    const code = codeIn(text);
    // If two codes contradict each other and one says temporary, the address is not at fault.
    const isTemporary =
      isNotFinal ||
      hasContradictingLines(text) ||
      (recipient.status?.startsWith("4.") === true && code !== null && code >= 500);
    const judgedAs = isTemporary && code !== null ? temporaryCode : code;
    return classifyReply({ code: judgedAs, enhanced: recipient.status, text, stage: "report", isTemporary });
  };
  let best: { diagnostic: string; verdict: ReplyVerdict } | null = null;
  for (const text of texts) {
    const diagnostic = text.replace(/\s+/g, " ").trim().slice(0, maxDiagnosticLength);
    if (diagnostic === "") continue;
    const verdict = verdictOn(diagnostic);
    if (best === null || verdict.isExplained) best = { diagnostic, verdict };
    if (verdict.isExplained) break;
  }
  const { diagnostic, verdict } = best ?? { diagnostic: "", verdict: verdictOn("") };
  const { bounceClass, category, suppress } = verdict;
  return {
    ...recipient,
    status: recipient.status ?? enhancedCode(diagnostic),
    code: codeIn(diagnostic),
    diagnostic,
    verdict: recipient.action === "failed" ? { bounceClass, category, suppress } : null,
  };
}

/** The quoted reply code; if the lines of the reply have several, the last one. */
function replyCode(text: string): number | null {
  const code = REPLY_CODE.exec(text)?.[1];
  const last = lastLineCode(text);
  return Number(last?.[0] === code?.[0] ? (last ?? code) : code) || null;
}

/** Whether the last line of the quoted reply has a code of another class than the first. */
function hasContradictingLines(text: string): boolean {
  const last = lastLineCode(text);
  return last !== null && last[0] !== REPLY_CODE.exec(text)?.[1]?.[0];
}

/** The code of the last line of a quoted reply of several lines; null if it has one line. */
function lastLineCode(text: string): string | null {
  const start = REPLY_CODE.exec(text)?.index ?? text.length;
  return LAST_LINE.exec(text.slice(start))?.[1] ?? null;
}
