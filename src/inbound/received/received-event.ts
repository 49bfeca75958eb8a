/** The data of the event `email.received`: a bounded part of the mail, and where the rest is. */
import { type Static, Type } from "typebox";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import type { ReceivedNews } from "./process-received.ts";
import { AttachmentShape, AuthenticationShape, addressFields, commonFields } from "./shapes.ts";

/** In characters. A webhook's deliveries are stored, so the event is small. */
const MOST_TEXT = 32_000;
const MOST = { attachments: 100, addresses: 20 };

const Url = Type.String({
  description: "Where it is fetched, with an API key that has `received_emails:read`.",
});

export const ReceivedEvent = Type.Object({
  received_email_id: described(Id, "Id of the received mail."),
  url: nullable(
    described(
      Url,
      "Where the mail is fetched with an API key that has `received_emails:read`; null if its route keeps none and the mail is readable.",
    ),
  ),
  route_id: described(Id, "The inbound route that it took."),
  recipient: Type.String({ description: "The address that it was sent to, with its tag." }),
  mail_from: Type.String({ description: "The envelope sender; empty for the null sender." }),
  ...addressFields,
  message_id: nullable(
    Type.String({ description: "The field Message-ID without angle brackets; null without one." }),
  ),
  date: nullable(described(Timestamp, "The field Date; null if it is missing or unreadable.")),
  ...commonFields,
  own_message_id: nullable(
    described(
      Id,
      "The message of the workspace that came back here, such as one to an own address; or null.",
    ),
  ),
  text: nullable(
    Type.String({
      description: `The text, at most ${MOST_TEXT.toLocaleString("en-US")} characters; of a mail with HTML only, the text of its HTML. Null if there is neither, or if the mail is unreadable.`,
    }),
  ),
  is_text_cut: Type.Boolean({ description: "Whether the text is longer in the mail." }),
  attachments: Type.Array(Type.Object({ ...AttachmentShape.properties, url: nullable(Url) }), {
    description: `Attached and embedded files without their content, at most ${MOST.attachments}.`,
  }),
  attachment_count: Type.Integer({ description: "Number of attachments in the mail." }),
  size: Type.Integer({ description: "Octets of the whole mail." }),
  authentication: nullable(
    described(AuthenticationShape, "What DNS says about the sender; null if the mail is unreadable."),
  ),
});

/** @param publicUrl the URL of the service, without a slash at its end */
export function receivedEventOf(
  { stored, read }: ReceivedNews,
  publicUrl: string,
): Static<typeof ReceivedEvent> {
  const { mail = null, inReplyTo = null, ownMessage = null, authentication = null } = read ?? {};
  const url = stored.keep ? `${publicUrl}/api/v1/received-emails/${stored.id}` : null;
  const text = mail?.text ?? null;
  const attachments = mail?.attachments ?? [];
  const some = <Value>(values: readonly Value[] = []) => values.slice(0, MOST.addresses);
  return {
    received_email_id: stored.id,
    url,
    route_id: stored.route_id,
    recipient: stored.rcpt_to,
    mail_from: stored.mail_from,
    from: mail?.from ?? null,
    to: some(mail?.to),
    cc: some(mail?.cc),
    reply_to: some(mail?.reply_to),
    message_id: mail?.message_id ?? null,
    date: mail?.date ? new Date(mail.date) : null,
    subject: mail?.subject ?? null,
    automatic: mail?.automatic ?? null,
    spam_score: stored.spam_score,
    is_spam: stored.is_spam,
    in_reply_to_message_id: inReplyTo,
    own_message_id: ownMessage,
    text: text?.slice(0, MOST_TEXT).toWellFormed() ?? null,
    is_text_cut: (text?.length ?? 0) > MOST_TEXT || mail?.cut.includes("text") === true,
    attachments: attachments.slice(0, MOST.attachments).map((attachment) => ({
      ...attachment,
      url: url && `${url}/attachments/${attachment.id}`,
    })),
    attachment_count: attachments.length,
    size: stored.bytes,
    authentication: authentication && { ...authentication, dkim: [...authentication.dkim] },
  };
}
