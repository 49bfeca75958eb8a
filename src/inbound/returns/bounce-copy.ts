/**
 * The copy of a report for whoever a message names in `bounce_email`: in words, with the report behind them. It is mail of
 * the service's own, which names nobody for its own bounces, so that none follows from it.
 */
import { parseAddress } from "../../mail/address.ts";
import type { BounceRecipient } from "../../mail/bounces/bounce.ts";
import { htmlFromText } from "../../mail/html/body-forms.ts";
import type { PlatformMail } from "../../sending/platform-mail.ts";
import type { SentMessage } from "./message-store.ts";

/** Reports are small; what makes them large is the mail they return. */
const MOST_BYTES = 100 * 1024;

/** Null when the address is none. */
export function bounceCopy(
  message: SentMessage,
  bounceEmail: string,
  news: BounceRecipient,
  raw: Buffer,
): PlatformMail | null {
  if (!parseAddress(bounceEmail).ok) return null;
  const recipient = `${message.localpart}@${message.domain}`;
  const isOver = news.action === "failed";
  const text = [
    isOver
      ? `The message "${message.subject}" to ${recipient} was not delivered.`
      : `The message "${message.subject}" to ${recipient} is late; it is still being tried.`,
    ...(news.diagnostic === "" ? [] : [`The receiving side says:\n${news.diagnostic}`]),
    `Message: ${message.id}`,
    "The report as it came is attached.",
  ].join("\n\n");
  return {
    to: bounceEmail,
    subject: `${isOver ? "Undelivered" : "Delayed"}: ${recipient}`,
    html: htmlFromText(text),
    text,
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
