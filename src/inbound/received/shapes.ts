/** Shapes of received mail in answers. */
import { Type } from "typebox";
import { automaticKinds } from "#inbound/parsing/automatic-kind.ts";
import { cutParts } from "#inbound/parsing/read-received-mail.ts";
import { signatureResults } from "#inbound/parsing/verify-signatures.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { dmarcResults, spfResults } from "./authenticate.ts";
import { receivedStatuses } from "./store.ts";

const Mailbox = Type.Object(
  {
    email: Type.String({ description: "The address, as the mail has it." }),
    name: nullable(Type.String({ description: "The display name; null without one." })),
  },
  { $id: "ReceivedMailbox" },
);

export const AttachmentShape = Type.Object(
  {
    id: described(Id, "Id of the attachment, for its download."),
    filename: Type.String({ description: "File name; `unnamed` if the part has none." }),
    content_type: Type.String({
      description: "Media type as the sender gave it, in lower case and without parameters.",
    }),
    content_id: nullable(
      Type.String({ description: "The HTML shows the file as `cid:` and this id; null without one." }),
    ),
    size: Type.Integer({ description: "Octets of the decoded file." }),
    is_inline: Type.Boolean({ description: "Whether the HTML shows it, instead of listing it." }),
  },
  { $id: "ReceivedAttachment" },
);

export const AuthenticationShape = Type.Object(
  {
    spf: Type.Enum([...spfResults], { description: "Result of SPF (RFC 7208)." }),
    spf_domain: Type.String({ description: "The domain that SPF was checked for." }),
    dkim: Type.Array(
      Type.Object({
        domain: Type.String({ description: "The signing domain (`d=`)." }),
        selector: Type.String({ description: "The selector (`s=`)." }),
        result: Type.Enum([...signatureResults], { description: "Result of the signature (RFC 6376)." }),
      }),
      { description: "The signatures, at most ten; empty if the mail has none, or more than 30." },
    ),
    dmarc: Type.Enum([...dmarcResults], {
      description: "Result of DMARC: `pass` means that the domain in From has sent it.",
    }),
    dmarc_policy: nullable(
      Type.String({
        description: "What the domain in From asks for mail that fails; null without a record.",
      }),
    ),
  },
  { $id: "ReceivedAuthentication" },
);

/** Fields that answers and the event share. */
export const commonFields = {
  subject: nullable(Type.String({ description: "The subject; null before the mail is parsed." })),
  automatic: nullable(
    Type.Enum([...automaticKinds], {
      description:
        "How the mail was written, if by a program: `bounce`, `read_receipt`, `auto_reply`, `mailing_list`, `generated`. Do not answer these automatically. Null: by a person, as far as its header says.",
    }),
  ),
  spam_score: nullable(
    Type.Number({ description: "Score of the operator's spam scanner; null if it gave none." }),
  ),
  is_spam: Type.Boolean({ description: "Whether the score reaches the threshold of the route." }),
  in_reply_to_message_id: nullable(
    described(Id, "The message of the workspace that it answers; null if it answers none that is known."),
  ),
};

export const addressFields = {
  from: nullable(described(Mailbox, "The first address in From; null if there is none.")),
  to: Type.Array(Mailbox, { description: "Addresses in To, at most 100." }),
  cc: Type.Array(Mailbox, { description: "Addresses in Cc, at most 100." }),
  reply_to: Type.Array(Mailbox, { description: "Addresses in Reply-To, at most 100." }),
};

export const ReceivedEmailRowShape = Type.Object(
  {
    id: described(Id, "Id of the received mail."),
    received_at: described(Timestamp, "When it arrived, in UTC."),
    route_id: described(Id, "The inbound route that it took, also after the route was deleted."),
    recipient: Type.String({ description: "The address that it was sent to, with its tag." }),
    from: addressFields.from,
    ...commonFields,
    status: Type.Enum([...receivedStatuses], {
      description:
        "`received`: it is parsed within seconds. `unreadable`: it takes too long to parse; only its source is there.",
    }),
    size: Type.Integer({ description: "Octets of the whole mail." }),
    attachment_count: Type.Integer({ description: "Number of attachments." }),
  },
  { $id: "ReceivedEmailRow" },
);

export const ReceivedEmailShape = Type.Object(
  {
    ...ReceivedEmailRowShape.properties,
    tag: nullable(
      Type.String({
        description: "The tag of `recipient`: `1042` of `support+1042@acme.example`; null without one.",
      }),
    ),
    ...addressFields,
    date: nullable(described(Timestamp, "The field Date; null if it is missing or unreadable.")),
    message_id: nullable(
      Type.String({ description: "The field Message-ID without angle brackets; null without one." }),
    ),
    text: nullable(
      Type.String({
        description:
          "The text, at most 1,000,000 characters; of a mail with HTML only, the text of its HTML. Null if there is neither.",
      }),
    ),
    html: nullable(
      Type.String({
        description:
          "The HTML, at most 1,000,000 characters; null without one. Anyone can have written it: show it only in a sandbox.",
      }),
    ),
    headers: Type.Array(
      Type.Object({
        name: Type.String({ description: "Name of the header field, as it is written in the mail." }),
        value: Type.String({ description: "Its value, decoded and unfolded to one line." }),
      }),
      { description: "Header fields in the order of the mail, at most 200." },
    ),
    attachments: Type.Array(AttachmentShape, { description: "Attached and embedded files, at most 1,000." }),
    cut: Type.Array(Type.Enum([...cutParts]), {
      description: "What is longer in the mail than it is here. The source has everything.",
    }),
    mail_from: Type.String({ description: "The envelope sender; empty for the null sender." }),
    remote_ip: Type.String({ description: "The address of the server that sent it." }),
    helo: Type.String({ description: "The name that this server gave." }),
    own_message_id: nullable(
      described(
        Id,
        "The message of the workspace that came back here, such as one to an own address; or null.",
      ),
    ),
    authentication: nullable(
      described(AuthenticationShape, "What DNS says about the sender; null before the mail is parsed."),
    ),
    expires_at: nullable(
      described(Timestamp, "When the mail is deleted (the setting RECEIVED_MAIL_DAYS); null: never."),
    ),
  },
  { $id: "ReceivedEmail" },
);
