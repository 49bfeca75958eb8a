/**
 * The events that webhooks can listen to, each with the shape of its `data`. The API, its reference and the types of the
 * code that announces events follow from this table. No event carries the content of a mail.
 */
import { type Static, type TSchema, Type } from "typebox";
import type { WorkspaceId } from "#platform/ids.ts";
import { Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";

const text = Type.String();
const count = Type.Integer();

const message = {
  message_id: Id,
  to: text,
  from_email: text,
  source: Type.String({ description: "campaign, autoresponder, api, smtp" }),
  origin_id: nullable(Id),
  origin_name: text,
};
const outcome = {
  ...message,
  attempts: count,
  detail: nullable(
    Type.String({ description: "The remote server's reply, or why the message was given up." }),
  ),
  smtp_code: nullable(count),
  enhanced_code: nullable(text),
};
const engagement = {
  ...message,
  is_machine: Type.Boolean({ description: "Caused by a program, such as a scanner or a prefetching proxy." }),
  times: count,
};
const subscriber = {
  subscriber_id: Id,
  email: text,
  status: text,
  mailing_list_id: nullable(Type.String({ format: "uuid", description: "Null: all lists." })),
};
const campaign = { campaign_id: Id, name: text };
const domain = { domain_id: Id, domain: text };
const listing = { monitor_id: Id, target: text, zones: Type.Array(text) };

export const catalogue = {
  "message.delivered": Type.Object(outcome),
  "message.deferred": Type.Object({ ...outcome, next_attempt_at: NullableTimestamp }),
  "message.bounced": Type.Object({ ...outcome, bounce_type: text, category: text }),
  "message.failed": Type.Object(outcome),
  "message.complained": Type.Object({ ...outcome, feedback_type: text, provider: nullable(text) }),
  "message.suppressed": Type.Object(outcome),
  "message.opened": Type.Object(engagement),
  "message.clicked": Type.Object({ ...engagement, url: nullable(text) }),
  "subscriber.created": Type.Object(subscriber),
  "subscriber.updated": Type.Object(subscriber),
  "subscriber.unsubscribed": Type.Object(subscriber),
  "form.abused": Type.Object({
    mailing_list_id: Id,
    reason: Type.String({ description: "The limit that was reached: network, list, workspace." }),
    since: Timestamp,
    refused_last_hour: count,
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
    job_id: Id,
    job_type: text,
    status: Type.Enum(["completed", "failed", "cancelled"]),
    total: nullable(count),
    processed: count,
    succeeded: count,
    failed: count,
    skipped: count,
    error: nullable(text),
  }),
  "webhook.test": Type.Object({ webhook_id: Id }),
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
