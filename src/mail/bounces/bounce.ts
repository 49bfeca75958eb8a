/**
 * Understands mails that come back: who was not reached and why. A delivery-status part decides (RFC 3464), else the
 * words do (bounce-text.ts); whether it is the address's fault is judged like any refusal (smtp-reply.ts). Who sent such
 * a mail is never known: what it says counts only for the message that the signed return path or token names.
 */

import { classifyReply, enhancedCode, type ReplyVerdict } from "../refusals/smtp-reply.ts";
import { isAutoReply, isListAnswer } from "./auto-reply.ts";
import {
  linesAbout,
  type NamedRecipient,
  namedRecipients,
  noticeLines,
  quotedReply,
  stateOf,
} from "./bounce-text.ts";
import { BOUNCE_SENDER, BOUNCE_SUBJECT, BOUNCE_TEXT } from "./bounce-text-rules.ts";
import { type DeliveryAction, type DeliveryReport, deliveryReport } from "./dsn.ts";
import {
  fieldOf,
  type MailPart,
  ownParts,
  readFields,
  readReportMail,
  textOf,
  wordsOf,
} from "./report-mail.ts";
import { describeReturned, type ReturnedMessage, returnedMessage } from "./returned-message.ts";

/** The verdict without what only a live conversation has. */
export type BounceVerdict = Pick<ReplyVerdict, "bounceClass" | "category" | "suppress">;

export interface BounceRecipient {
  /** As the reporter wrote it: mostly an address, seldom another name, null when it names nobody. */
  readonly address: string | null;
  /** Where it was forwarded to; the same as `address` when it was not, or nobody says. */
  readonly finalRecipient: string | null;
  readonly action: DeliveryAction;
  /** Enhanced status code, "5.1.1". */
  readonly status: string | null;
  /** The reply code that is quoted, 550. */
  readonly code: number | null;
  /** What was said, at most 1,000 characters; "" when nothing was. */
  readonly diagnostic: string;
  readonly remoteMta: string | null;
  /** Null unless `action` is "failed". */
  readonly verdict: BounceVerdict | null;
}

export interface Bounce {
  /** bounce: somebody was not reached; notice: delayed, delivered and the like; auto_reply: no word on delivery. */
  readonly kind: "bounce" | "notice" | "auto_reply";
  /** Empty for an auto_reply only. */
  readonly recipients: readonly BounceRecipient[];
  /** ENVID of the message (RFC 3461), which only we know. */
  readonly originalEnvelopeId: string | null;
  readonly reportingMta: string | null;
  /** Our message as the report carries it. */
  readonly returned: ReturnedMessage | null;
}

const maxDiagnosticLength = 1_000;
/** How deep a report may sit in mails that carry it. */
const maxCarried = 3;
/** Stands for any refusal for now. */
const temporaryCode = 450;
/** "550-5.1.1 … 554 5.1.1 …": a line that ends the reply has a blank behind its code. */
const LAST_LINE = /^\d{3}-(?!['"]).*?\s([45]\d\d) (?=[245]\.\d{1,3}\.\d|\p{L})/su;
/** A report has one recipient as a rule; of those with many, so many are told apart in its words. */
const maxOthers = 50;
const REPLY_CODE = /(?<![\w.:/-])([45]\d\d)(?=[\s\-:;,)\]#]|$)/;

/** Reads a mail as it was received; null when it is nothing of the kind, or nothing that can be read. Never throws. */
export function readBounce(raw: Uint8Array): Bounce | null {
  return readBounceMail(readReportMail(raw), 0);
}

function readBounceMail(mail: MailPart, depth: number): Bounce | null {
  const report = deliveryReport(mail);
  const carried = report === null && depth < maxCarried ? carriedMails(mail) : [];
  // Gateways wrap the report of another system into one of their own, which says less.
  const inner = carried.find((candidate) => deliveryReport(candidate) !== null);
  if (inner !== undefined) return readBounceMail(inner, depth + 1);
  const notice = readNotice(mail);
  const recipients = report === null ? fromText(mail, notice) : fromReport(report, notice);
  if (recipients !== null) {
    const kind = recipients.some(({ action }) => action === "failed") ? "bounce" : "notice";
    return answer(kind, recipients, report, notice);
  }
  if (isAutoReply(mail) || isListAnswer(mail)) return answer("auto_reply", [], null, notice);
  for (const candidate of carried) {
    const bounce = readBounceMail(candidate, depth + 1);
    if (bounce !== null && bounce.kind !== "auto_reply") return bounce;
  }
  return null;
}

function answer(
  kind: Bounce["kind"],
  recipients: readonly BounceRecipient[],
  report: DeliveryReport | null,
  { returned }: Notice,
): Bounce {
  const { originalEnvelopeId = null, reportingMta = null } = report ?? {};
  return { kind, recipients, originalEnvelopeId, reportingMta, returned };
}

function carriedMails(mail: MailPart): MailPart[] {
  return [...ownParts(mail)].flatMap(({ type, parts }) => (type.startsWith("message/") ? parts : []));
}

interface Notice {
  readonly subject: string;
  /** The reporter's own words. */
  readonly lines: readonly string[];
  readonly returned: ReturnedMessage | null;
}

function readNotice(mail: MailPart): Notice {
  const texts = [...ownParts(mail)].filter(
    ({ type }) => type.startsWith("text/") && !type.includes("rfc822"),
  );
  const plain = texts.filter((part) => part.type !== "text/html" && part.body.trim() !== "");
  const text = (plain.length > 0 ? plain : texts).map(textOf).join("\n\n");
  return {
    subject: wordsOf(mail, "Subject"),
    lines: noticeLines(text),
    returned: returnedMessage(mail) ?? returnedInText(text),
  };
}

/** The header of our message where it is quoted in the text. */
function returnedInText(text: string): ReturnedMessage | null {
  const lines = text.split(/\r\n?|\n/);
  const cut = noticeLines(text).length;
  const start = lines.findIndex((line, at) => at >= cut && /^>?[\w-]+:\s/.test(line));
  if (start < 0) return null;
  const { headers } = readFields(lines.slice(start).join("\n").replace(/^>/, ""));
  return headers.length > 1 ? describeReturned(headers) : null;
}

/** Recipients found in the words; null when the mail does not look like a bounce. */
function fromText(mail: MailPart, notice: Notice): BounceRecipient[] | null {
  const { subject, lines, returned } = notice;
  const from = wordsOf(mail, "From");
  const failed = (fieldOf(mail, "X-Failed-Recipients") ?? "").split(",").flatMap((text) => addressesIn(text));
  const isMachine =
    failed.length > 0 ||
    BOUNCE_SENDER.test(from) ||
    from.slice(from.lastIndexOf("<")).trim() === "<>" ||
    mail.parameters.get("report-type")?.toLowerCase() === "delivery-status";
  const saysSo = [BOUNCE_SUBJECT.test(subject), BOUNCE_TEXT.test(lines.join(" ").replace(/\s+/g, " "))];
  if (!isMachine && (isAutoReply(mail) || !saysSo.every(Boolean))) return null;
  if (!saysSo.some(Boolean) && failed.length === 0 && !/mailer-?daemon/i.test(from)) return null;
  const senders = [
    from,
    ...["To", "Reply-To", "Sender", "Errors-To"].map((name) => fieldOf(mail, name) ?? ""),
  ];
  const strangers = new Set(senders.flatMap(addressesIn).map((address) => address.toLowerCase()));
  const named = namedRecipients(lines, strangers, domainIn(from));
  const state = stateOf(lines, subject);
  const action = state === "delayed" ? "delayed" : "failed";
  // What was delayed first was no fault of the address, whatever is quoted.
  const isPassing = state !== "failed";
  const all = whoFailed(named, failed, returned);
  // What is said of one recipient must not be taken as said of the others.
  const isShared =
    all.length === 1 || all.every(({ reply, reason }) => reply === "" && !/\p{L}{3}/u.test(reason));
  const names = all.flatMap(({ address }) => address?.toLowerCase() ?? []);
  return all.map((recipient) => {
    const { address } = recipient;
    const known = {
      address,
      finalRecipient: address,
      action,
      status: null,
      code: null,
      remoteMta: null,
    } as const;
    return judged(known, textsAbout(recipient, isShared, { lines, names }), isPassing);
  });
}

/** A NamedRecipient whose name may be missing. */
type Failed = Omit<NamedRecipient, "address"> & { readonly address: string | null };

/** Those the words name; else those of X-Failed-Recipients; else the one our message was written to; else nobody. */
function whoFailed(
  named: readonly NamedRecipient[],
  failed: readonly string[],
  returned: ReturnedMessage | null,
): Failed[] {
  if (named.length > 0) return [...named];
  const [to = null, ...others] = addressesIn(returned?.to ?? "");
  const written: readonly (string | null)[] = failed.length > 0 ? failed : [others.length === 0 ? to : null];
  return written.map((address) => ({ address, reason: "", reply: "" }));
}

/** What may explain one recipient's failure, the surest first. */
function* textsAbout(
  { address, reason, reply }: Failed,
  isShared: boolean,
  /** The notice, and all recipients that it is about, in lower case. */
  { lines, names }: { readonly lines: readonly string[]; readonly names: readonly string[] },
): Generator<string> {
  const quoted = reply || (isShared ? quotedReply(lines) : "");
  yield quoted;
  yield reason;
  if (address !== null) yield linesAbout(lines, address, names);
  // Notices explain what refusals may mean: where one is quoted, only that one is meant.
  if (isShared && quoted === "") yield lines.join(" ");
}

/** The recipients of a delivery-status part, explained by their diagnostics or, where those say nothing, by the words. */
function fromReport({ recipients }: DeliveryReport, { lines }: Notice): BounceRecipient[] {
  const isShared = recipients.length === 1;
  return recipients.map(({ recipient: address, diagnostic: reply, ...status }) => {
    const names = recipients
      .slice(0, maxOthers)
      .flatMap(({ recipient, finalRecipient }) => (recipient === address ? [] : [recipient, finalRecipient]))
      .map((name) => name.toLowerCase());
    return judged(
      { address, ...status, code: replyCode(reply) },
      textsAbout({ address, reason: "", reply }, isShared, { lines, names }),
    );
  });
}

/** Judges a failure by the first of the texts that says enough. */
function judged(
  recipient: Omit<BounceRecipient, "verdict" | "diagnostic">,
  texts: Iterable<string>,
  isPassing = false,
): BounceRecipient {
  const codeIn = (text: string) => recipient.code ?? replyCode(text);
  const verdictOn = (text: string) => {
    const code = codeIn(text);
    // Two numbers that contradict each other: a failure that one of them calls temporary is no fault of the address.
    const isTemporary =
      isPassing ||
      endsOtherwise(text) ||
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

/** The code of the reply that is quoted; that of its last line where its lines bear several. */
function replyCode(text: string): number | null {
  const code = REPLY_CODE.exec(text)?.[1];
  const last = lastLineCode(text);
  return Number(last?.[0] === code?.[0] ? (last ?? code) : code) || null;
}

/** The lines of the reply that is quoted contradict each other: the last one's code is of another class. */
function endsOtherwise(text: string): boolean {
  const last = lastLineCode(text);
  return last !== null && last[0] !== REPLY_CODE.exec(text)?.[1]?.[0];
}

/** The code of a quoted reply's last line, where the reply begins with "550-"; null where it has one line only. */
function lastLineCode(text: string): string | null {
  const start = REPLY_CODE.exec(text)?.index ?? text.length;
  return LAST_LINE.exec(text.slice(start))?.[1] ?? null;
}

function addressesIn(text: string): string[] {
  return text.split(/[\s<>()[\]"',;:]+/).filter((word) => word.slice(1, -1).includes("@"));
}

function domainIn(from: string): string | null {
  return addressesIn(from)[0]?.replace(/^.*@/, "").toLowerCase() ?? null;
}
