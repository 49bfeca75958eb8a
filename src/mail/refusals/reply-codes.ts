/**
 * The categories of refusals, and the meaning of reply codes (RFC 5321, RFC 3463, the IANA registry of enhanced status
 * codes, and codes of large providers). Data for classify-reply.ts.
 */

/** The categories of Amazon SES (the first eight), and further ones. */
export type BounceCategory =
  | "General"
  | "NoEmail"
  | "MailboxFull"
  | "MessageTooLarge"
  | "ContentRejected"
  | "AttachmentRejected"
  | "Undetermined"
  | "MailboxDisabled"
  | "AuthenticationFailed"
  | "Reputation"
  | "RateLimited"
  | "Greylisted"
  | "PolicyRejected"
  | "RelayDenied"
  | "ProtocolError";

/**
 * hard: the address is at fault; soft: its mailbox or system; block: the receiver refuses this service or the message;
 * ours: this service is at fault.
 */
export type BounceClass = "hard" | "soft" | "block" | "ours";

/** Whether a reply concerns this recipient's message only, or everything that is sent to this mailbox provider. */
export type ReplyScope = "recipient" | "lane";

/** The class of each category. */
export const CLASS_OF: Readonly<Record<BounceCategory, BounceClass>> = {
  General: "soft",
  NoEmail: "hard",
  MailboxFull: "soft",
  MessageTooLarge: "block",
  ContentRejected: "block",
  AttachmentRejected: "block",
  Undetermined: "soft",
  MailboxDisabled: "hard",
  AuthenticationFailed: "block",
  Reputation: "block",
  RateLimited: "block",
  Greylisted: "block",
  PolicyRejected: "block",
  RelayDenied: "soft",
  ProtocolError: "ours",
};

/** Categories whose default scope is the lane. */
export const LANE_CATEGORIES: ReadonlySet<BounceCategory> = new Set(["Reputation", "RateLimited"]);

/** The category of a reply, and its scope if that differs from the category's default. */
export interface ReplyMeaning {
  readonly category: BounceCategory;
  readonly scope?: ReplyScope;
}

export interface CodeMeaning extends ReplyMeaning {
  readonly codes: RegExp;
}

/** Subject and detail of enhanced codes with one meaning; the text does not change it. */
export const DECISIVE_CODES: readonly CodeMeaning[] = [
  { category: "NoEmail", codes: /^(1\.10|7\.1[78])$/ },
  { category: "MailboxDisabled", codes: /^7\.13$/ },
  { category: "MailboxFull", codes: /^2\.2$/ },
  { category: "MessageTooLarge", codes: /^3\.4$/ },
  { category: "RateLimited", codes: /^2\.12[12]$/, scope: "recipient" },
  { category: "RateLimited", codes: /^7\.(28|500|650)$/ },
  { category: "AuthenticationFailed", codes: /^(1\.[78]|7\.(2[0-79]|509|51[256]))$/ },
  // Exchange restricts who may write to this recipient or group.
  { category: "PolicyRejected", codes: /^7\.(?:1[0-9]\d|50[4-7])$/ },
  { category: "Reputation", codes: /^7\.(5[0-5]\d|[67]\d\d)$/ },
];

/** The meaning of an enhanced code if the text does not say anything else. */
export const PRESUMED_CODES: readonly CodeMeaning[] = [
  { category: "NoEmail", codes: /^(1\.[1236]|4\.310)$/ },
  { category: "MailboxDisabled", codes: /^2\.1$/ },
  { category: "MessageTooLarge", codes: /^2\.3$/ },
  { category: "RateLimited", codes: /^5\.3$/, scope: "recipient" },
  { category: "General", codes: /^([34]\.\d+|2\.4)$/ },
  { category: "ProtocolError", codes: /^(5\.[1-9]\d*|7\.([89]|1[01]))$/ },
  { category: "ContentRejected", codes: /^6\.\d+$/ },
  { category: "PolicyRejected", codes: /^7\.\d+$/ },
];

/** The meaning of a basic code if nothing else is known; other 4xx are General, other 5xx Undetermined. */
export const BASIC_CODES: readonly CodeMeaning[] = [
  { category: "ProtocolError", codes: /^(50\d|52[34]|53\d|555)$/ },
  { category: "MailboxFull", codes: /^552$/ },
  // RFC 7504: the domain accepts no mail.
  { category: "NoEmail", codes: /^556$/ },
];
