/**
 * Copies of bounces to the address in a message's `bounce_email`: a short text with the report attached. The copy is mail of
 * the service itself, without a bounce_email, so that its own bounce has no copy. Text from the report is untrusted: it is
 * cut, and its links are defused.
 */
import { maySendAs } from "#identity/may-send-as.ts";
import { parseAddress } from "#mail/address.ts";
import type { BounceRecipient } from "#mail/bounces/read-bounce.ts";
import { htmlFromText } from "#mail/html/body-conversion.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Reached } from "#platform/limits/quota-store.ts";
import { shortenedText } from "#platform/shorten.ts";
import type { PlatformMail, SendPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { countReports, lockSentMessage, type SentMessage } from "./sent-message-store.ts";

/** Larger reports contain the whole returned mail. */
const MOST_BYTES = 100 * 1024;
const LONGEST_SUBJECT = 200;
const LONGEST_DIAGNOSTIC = 500;

/** Why no copy was sent. */
export type NoCopy = "not_asked_for" | "not_the_first" | "not_verified" | Reached;

/**
 * Sends a copy of the first report of its kind about a message, after the report was recorded, if the workspace may send as
 * that address.
 * @returns null when the copy was queued, else why not
 */
export async function sendBounceCopy(
  tx: Queryable,
  sendPlatformMail: SendPlatformMail,
  message: SentMessage,
  {
    kind,
    bounce,
    raw,
  }: { readonly kind: "bounced" | "delayed"; readonly bounce: BounceRecipient; readonly raw: Buffer },
): Promise<NoCopy | null> {
  const { workspaceId, id, bounceEmail } = message;
  if (bounceEmail === null || !parseAddress(bounceEmail).ok) return "not_asked_for";
  await lockSentMessage(tx, workspaceId, id);
  if ((await countReports(tx, workspaceId, id, kind)) > 1) return "not_the_first";
  if (!(await maySendAs(tx, workspaceId, bounceEmail)).allowed) return "not_verified";
  return sendPlatformMail(tx, workspaceId, bounceCopy(message, bounceEmail, kind, bounce, raw));
}

function bounceCopy(
  message: SentMessage,
  bounceEmail: string,
  kind: "bounced" | "delayed",
  { diagnostic }: BounceRecipient,
  raw: Buffer,
): PlatformMail {
  const recipient = `${message.localpart}@${message.domain}`;
  const subject = withoutLinks(shortenedText(message.subject, LONGEST_SUBJECT));
  const said = withoutLinks(shortenedText(diagnostic, LONGEST_DIAGNOSTIC));
  const text = [
    kind === "bounced"
      ? `The message "${subject}" to ${recipient} was not delivered.`
      : `The message "${subject}" to ${recipient} is delayed; delivery is still being attempted.`,
    ...(said === "" ? [] : [`The receiving server says:\n${said}`]),
    `Message: ${message.id}`,
    "The original report is attached.",
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

/** "https://a.example/b" → "https[:]//a[.]example/b": readable, but not turned into a link by mail programs. */
function withoutLinks(text: string): string {
  return text.replaceAll(
    /[a-z][\w+.-]*:\/\/\S+|\bwww\.\S+|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+[/?#]\S*/giu,
    (link) => link.replaceAll("://", "[:]//").replaceAll(".", "[.]"),
  );
}
