/**
 * The copy of a report for the address that a message names in `bounce_email`: in words, with the report behind them. It is
 * mail of the service's own, which names no address for its own bounces, so that none follows from it. The server that
 * wrote the report chose nearly all of its words: they are cut, and their links are no links.
 */
import { maySendAs } from "#identity/may-send-as.ts";
import { parseAddress } from "#mail/address.ts";
import type { BounceRecipient } from "#mail/bounces/bounce.ts";
import { htmlFromText } from "#mail/html/body-conversion.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Reached } from "#platform/limits/quota-store.ts";
import type { PlatformMail, SendPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { countReports, lockSentMessage, type SentMessage } from "./sent-message-store.ts";

/** Reports are small; what makes them large is the mail they return. */
const MOST_BYTES = 100 * 1024;
const LONGEST_SUBJECT = 200;
const LONGEST_DIAGNOSTIC = 500;

/** Why a message has no copy of a report. */
export type NoCopy = "not_asked_for" | "not_the_first" | "not_verified" | Reached;

/**
 * Copies the first report of a kind, once it has been recorded, while the workspace may still send as the address.
 * @returns null when the copy was accepted
 */
export async function sendBounceCopy(
  tx: Queryable,
  sendPlatformMail: SendPlatformMail,
  message: SentMessage,
  {
    kind,
    news,
    raw,
  }: { readonly kind: "bounced" | "delayed"; readonly news: BounceRecipient; readonly raw: Buffer },
): Promise<NoCopy | null> {
  const { workspaceId, id, bounceEmail } = message;
  if (bounceEmail === null || !parseAddress(bounceEmail).ok) return "not_asked_for";
  await lockSentMessage(tx, workspaceId, id);
  if ((await countReports(tx, workspaceId, id, kind)) > 1) return "not_the_first";
  if (!(await maySendAs(tx, workspaceId, bounceEmail)).allowed) return "not_verified";
  return sendPlatformMail(tx, workspaceId, bounceCopy(message, bounceEmail, kind, news, raw));
}

function bounceCopy(
  message: SentMessage,
  bounceEmail: string,
  kind: "bounced" | "delayed",
  { diagnostic }: BounceRecipient,
  raw: Buffer,
): PlatformMail {
  const recipient = `${message.localpart}@${message.domain}`;
  const subject = withoutLinks(cut(message.subject, LONGEST_SUBJECT));
  const said = withoutLinks(cut(diagnostic, LONGEST_DIAGNOSTIC));
  const text = [
    kind === "bounced"
      ? `The message "${subject}" to ${recipient} was not delivered.`
      : `The message "${subject}" to ${recipient} is late; it is still being tried.`,
    ...(said === "" ? [] : [`The receiving side says:\n${said}`]),
    `Message: ${message.id}`,
    "The report as it came is attached.",
  ].join("\n\n");
  return {
    kind: "bounce_copy",
    to: bounceEmail,
    write: () => ({
      subject: `${kind === "bounced" ? "Undelivered" : "Delayed"}: ${recipient}`,
      html: htmlFromText(text),
      text,
    }),
    attachments: [
      {
        filename: "report.eml",
        content: raw.subarray(0, MOST_BYTES).toString("base64"),
        // Not message/rfc822, which must not be Base64 (RFC 2046 section 5.2.1).
        content_type: "application/octet-stream",
        disposition: "attachment",
        content_id: null,
      },
    ],
  };
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

/** "https://a.example/b" → "https[:]//a[.]example/b": readable, and no mail program makes a link of it. */
function withoutLinks(text: string): string {
  return text.replaceAll(
    /[a-z][\w+.-]*:\/\/\S+|\bwww\.\S+|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+[/?#]\S*/giu,
    (link) => link.replaceAll("://", "[:]//").replaceAll(".", "[.]"),
  );
}
