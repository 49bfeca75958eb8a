/**
 * The events that webhooks can listen to, each with the shape of its `data`. The API, its reference and the types of the
 * code that announces events follow from this table. Only `email.received` carries the content of a mail: a route asks for it.
 */
import { type Static, type TSchema, Type } from "typebox";
import { ReceivedEvent } from "#inbound/received/received-event.ts";
import { Metadata, Tags } from "#messages/message/email-details.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";

const text = Type.String();
const count = Type.Integer();

const message = {
  message_id: described(Id, "Id of the message."),
  to: described(text, "Address of the recipient."),
  from_email: described(text, "Address in From."),
  source: Type.String({ description: "campaign, autoresponder, api, smtp" }),
  origin_id: nullable(
    described(Id, "The campaign, autoresponder or API key that it was sent by; null if there is none."),
  ),
  origin_name: described(text, "Name of that campaign, autoresponder or API key."),
  email_id: nullable(described(Id, "The email of POST /emails that it belongs to; null for other mail.")),
  tags: Tags,
  metadata: Metadata,
};
const messageFields = Type.Object(message);
/** The fields of every event about a message. */
export type MessageFields = Static<typeof messageFields>;
const outcome = {
  ...message,
  attempts: described(count, "Attempts to deliver it so far."),
  detail: nullable(
    Type.String({ description: "The remote server's reply, or why the message was given up." }),
  ),
  smtp_code: nullable(described(count, "Reply code of SMTP, such as 550; null without a reply.")),
  enhanced_code: nullable(
    described(text, "Enhanced status code (RFC 3463), such as `5.1.1`; null if the reply had none."),
  ),
};
const engagement = {
  ...message,
  is_machine: Type.Boolean({ description: "Caused by a program, such as a scanner or a prefetching proxy." }),
  times: described(count, "Number of times, if it happened more than once at the same moment."),
};
const subscriber = {
  subscriber_id: described(Id, "Id of the person."),
  email: described(text, "Address of the person."),
  status: described(text, "The status on the list."),
  mailing_list_id: nullable(Type.String({ format: "uuid", description: "Null: all lists." })),
};
const campaign = { campaign_id: described(Id, "Id of the campaign."), name: described(text, "Its name.") };
const domain = {
  domain_id: described(Id, "Id of the sending domain."),
  domain: described(text, "The domain."),
};
const listing = {
  monitor_id: described(Id, "Id of the monitor."),
  target: described(text, "The IP address or domain."),
  zones: Type.Array(text, { description: "The blacklists that list it newly, or no longer." }),
};

export const catalogue = {
  "message.delivered": Type.Object(outcome),
  "message.deferred": Type.Object({
    ...outcome,
    next_attempt_at: nullable(described(Timestamp, "When it is tried next, in UTC.")),
  }),
  "message.bounced": Type.Object({
    ...outcome,
    bounce_type: described(
      text,
      "Whether the address is at fault (`hard`), the refusal may pass (`soft`) or the sender is refused (`block`).",
    ),
    category: described(text, "What the refusal is about."),
  }),
  "message.failed": Type.Object(outcome),
  "message.complained": Type.Object({
    ...outcome,
    feedback_type: described(text, "Kind of the report (RFC 5965), such as `abuse`."),
    provider: nullable(described(text, "The mailbox provider that reported it; null if unknown.")),
  }),
  "message.suppressed": Type.Object(outcome),
  "message.opened": Type.Object(engagement),
  "message.clicked": Type.Object({
    ...engagement,
    url: nullable(described(text, "The address of the link; null if it is no longer known.")),
  }),
  "email.received": ReceivedEvent,
  "subscriber.created": Type.Object(subscriber),
  "subscriber.updated": Type.Object(subscriber),
  "subscriber.unsubscribed": Type.Object(subscriber),
  "form.abused": Type.Object({
    mailing_list_id: described(Id, "The list whose form it is."),
    reason: Type.String({ description: "The limit that was reached: network, list, workspace." }),
    since: described(Timestamp, "Since when, in UTC."),
    refused_last_hour: described(count, "Sign-ups that were refused in the last hour."),
  }),
  "campaign.sent": Type.Object(campaign),
  "campaign.paused": Type.Object({
    ...campaign,
    reason: nullable(Type.String({ description: "Why the service paused it; null when a person did." })),
  }),
  "domain.verified": Type.Object(domain),
  "domain.failed": Type.Object({
    ...domain,
    lost: Type.Array(text, { description: "is_verified, spf_verified, dkim_verified, ..." }),
  }),
  "blacklist.listed": Type.Object(listing),
  "blacklist.delisted": Type.Object(listing),
  "job.completed": Type.Object({
    job_id: described(Id, "Id of the job."),
    job_type: described(text, "What the job did."),
    status: Type.Enum(["completed", "failed", "cancelled"], { description: "How it ended." }),
    total: nullable(described(count, "Rows of the file; null if unknown.")),
    processed: described(count, "Rows that were read."),
    succeeded: described(count, "Rows that were carried out."),
    failed: described(count, "Rows that were refused."),
    skipped: described(count, "Rows that changed nothing."),
    error: nullable(described(text, "Why it failed, for people; null if it did not.")),
  }),
  "webhook.test": Type.Object({ webhook_id: described(Id, "Id of the webhook that is tested.") }),
} as const satisfies Record<string, TSchema>;

export type EventType = keyof typeof catalogue;

/** Sent on request to one webhook, whatever it listens to. */
export const TEST_EVENT = "webhook.test";

/** The events that a webhook can name. */
export const eventTypes = (Object.keys(catalogue) as EventType[]).filter((type) => type !== TEST_EVENT);

/** The name for all events. */
export const EVERY_EVENT = "*";

export type WebhookEvent<Type extends EventType = EventType> = {
  [One in Type]: {
    readonly workspaceId: WorkspaceId;
    readonly type: One;
    readonly time: Date;
    readonly data: Static<(typeof catalogue)[One]>;
  };
}[Type];
