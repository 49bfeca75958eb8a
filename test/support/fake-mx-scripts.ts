/**
 * Scripts of the fake MX: the recipient's local part selects one.
 *
 * The name is the local part up to the first character that is neither a lower-case letter nor an inner hyphen, so
 * `tempfail7@`, `tempfail+a@` and `tempfail.x@` are all `tempfail`. A local part without a script is accepted.
 * With the suffix `-once` (`drop-after-dot-once@`) a script applies only to the first attempt of a recipient.
 */

/** Closes the connection without a reply. */
export const DROP = "(drop)";
/** Resets the connection. */
export const RESET = "(reset)";
/** Sends reply lines until the client disconnects. */
export const ENDLESS = "(endless)";
/** Sends the usual reply after FakeMxOptions.slowMs. */
export const SLOW = "(slow)";

/** The reply lines to send, or one of the four constants above. A 421 also closes the connection. */
export type Answer = string;

/** "body" is the moment when the first octets of the message have arrived. */
export type Stage = "banner" | "ehlo" | "starttls" | "mail" | "rcpt" | "data" | "body" | "dot" | "rset";

/** Replies in place of the usual ones. */
export type Script = { readonly [stage in Stage]?: Answer };

const scripts = new Map<string, Script>(
  Object.entries({
    // Refusals of the recipient.
    greylist: { rcpt: "450 4.7.1 Greylisted, please try again in 300 seconds" },
    tempfail: { rcpt: "451 4.3.0 Temporary failure" },
    unknown: { rcpt: "550 5.1.1 No such user here" },
    disabled: { rcpt: "550 5.2.1 Mailbox disabled" },
    "mailbox-full": { rcpt: "552 5.2.2 Mailbox full" },
    "mailbox-full-for-now": { rcpt: "452 4.2.2 Mailbox full" },
    blocked: { rcpt: "554 5.7.1 Your address is listed at a block list" },
    "rate-limited": { rcpt: "450 4.7.0 Temporarily deferred due to unexpected volume" },
    busy: { rcpt: "421 4.7.0 Too busy, try again later" },
    "unknown-but-go-on": { rcpt: "550 5.1.1 No such user here", data: "354 Whatever" },
    // Refusals of the message.
    "reject-at-dot": { dot: "554 5.7.1 Message content rejected" },
    "tempfail-at-dot": { dot: "451 4.3.0 Temporary failure" },
    "busy-at-dot": { dot: "421 4.3.2 Shutting down" },
    slow: { dot: SLOW },
    // Broken connections. At MAIL the recipient is known only if RCPT arrived in the same segment.
    "drop-at-mail": { mail: DROP, rcpt: DROP },
    "drop-at-rcpt": { rcpt: DROP },
    "drop-at-data": { data: DROP },
    "drop-in-data": { body: DROP },
    "drop-after-dot": { dot: DROP },
    // One reply with two codes.
    "two-classes": { rcpt: "550-5.1.1 User unknown\r\n450 4.2.0 Try again" },
    // Malformed replies.
    "endless-reply": { rcpt: ENDLESS },
    "long-line": { rcpt: `550 ${"x".repeat(1_048_576)}` },
    garbage: { rcpt: "\x00\x01\xff\xfe garbage \x1b[31m" },
    "wrong-code": { rcpt: "999 what" },
    "short-code": { rcpt: "25" },
    "odd-text": { rcpt: "550 5.1.1 a\x00b \xff\xfe \x1b[31mred" },
    "data-without-go": { data: "250 fine" },
    "go-at-mail": { mail: "354 go on", rcpt: "354 go on" },
  }),
);

/**
 * The script for the n-th attempt of a recipient; an empty script accepts. A greylist applies to the first attempt
 * only.
 */
export function scriptFor(recipient: string, timesSeen: number): Script {
  const [name = ""] = /^[a-z]+(?:-[a-z]+)*/.exec(recipient) ?? [];
  const playsOnce = name === "greylist" || name.endsWith("-once");
  return (playsOnce && timesSeen > 1 ? undefined : scripts.get(name.replace(/-once$/, ""))) ?? {};
}
