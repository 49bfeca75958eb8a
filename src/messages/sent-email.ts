/** An email of POST /emails over HTTP: the messages to its recipients, with their states. */
import { type Static, Type } from "typebox";
import type { Database } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { type EmailDetails, Metadata, recipientTypes, Tags } from "./message/email-details.ts";
import { emailIdOf } from "./message/email-id.ts";
import { messageStatuses } from "./message/status.ts";
import { reports } from "./permission.ts";
import { listMessagesOfEmail, type MessageRow } from "./store.ts";

export const EmailRecipient = Type.Object(
  {
    id: described(Id, "Id of the message to this recipient."),
    to: Type.String({ description: "The recipient's address." }),
    recipient_type: Type.Enum([...recipientTypes], { description: "Which field named the recipient." }),
    status: Type.Enum([...messageStatuses], { description: "State of the message." }),
  },
  { $id: "EmailRecipient" },
);

const SentEmail = Type.Object(
  {
    id: described(Id, "Id of the email."),
    time: described(Timestamp, "When the service accepted it, in UTC."),
    from_email: Type.String({ description: "The sender's address." }),
    subject: Type.String({ description: "The subject." }),
    scheduled_at: nullable(described(Timestamp, "When it is sent, in UTC; null: at once.")),
    tags: Tags,
    metadata: Metadata,
    messages: Type.Array(EmailRecipient, { description: "Its messages, one for each recipient." }),
  },
  { $id: "SentEmail" },
);

export function sentEmailEndpoint(db: Database): Endpoint {
  return endpoint({
    id: "getEmail",
    method: "GET",
    path: "/emails/{id}",
    summary: "One email of POST /emails, with the state of the message to each recipient",
    description:
      "An email with its tags and metadata, and the state of the message to each recipient. `GET /messages/{id}` has the timeline of each. 404 for the ids of other messages.",
    needs: need(reports, "read"),
    answer: SentEmail,
    message: "Email",
    async handle({ caller, params }) {
      const isOwn = params.id === emailIdOf(params.id);
      const messages = isOwn ? await listMessagesOfEmail(db, caller.workspaceId, params.id) : [];
      const [first] = messages;
      if (first === undefined) throw notFound("Email");
      const { time, from_email, subject } = first;
      return {
        id: params.id,
        time,
        from_email,
        subject,
        ...shownDetails(first.email_details),
        metadata: { ...first.email_details?.metadata },
        messages: messages.map(emailRecipientOf),
      };
    },
  });
}

/** The fields of a message that POST /emails gave it, for people. */
export function shownDetails(details: EmailDetails | null) {
  const at = details?.scheduled_at;
  return { scheduled_at: at === undefined ? null : new Date(at), tags: [...(details?.tags ?? [])] };
}

export function emailRecipientOf(message: MessageRow): Static<typeof EmailRecipient> {
  const { id, localpart, domain, status, email_details } = message;
  return { id, to: `${localpart}@${domain}`, recipient_type: email_details?.recipient_type ?? "to", status };
}
