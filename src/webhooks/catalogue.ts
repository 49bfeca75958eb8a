/**
 * The events that receivers can ask for, each with the shape of its `data`. The API, its reference and the types of those
 * who announce events are read from this table. No event carries the content of a mail.
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
  detail: nullable(Type.String({ description: "What the other side said, or why we gave up." })),
  smtp_code: nullable(count),
  enhanced_code: nullable(text),
};
const engagement = {
  ...message,
  is_machine: Type.Boolean({ description: "A program did it: a scanner, a prefetching proxy." }),
  times: count,
};
const subscriber = {
  subscriber_id: Id,
  email: text,
  status: text,
  mailing_list_id: nullable(Type.String({ format: "uuid", description: "Null: all of them." })),
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
    reason: Type.String({ description: "Whose limit was reached: network, list, workspace." }),
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

/** Sent to one receiver when somebody asks for it, whatever it listens to. */
export const TEST_EVENT = "webhook.test";

/** Those that can be asked for. */
export const eventTypes = (Object.keys(catalogue) as EventType[]).filter((type) => type !== TEST_EVENT);

/** Stands for all of them. */
export const EVERY_EVENT = "*";

/** Something that happened. */
export type WebhookEvent<Type extends EventType = EventType> = {
  [One in Type]: {
    readonly workspaceId: WorkspaceId;
    readonly type: One;
    readonly time: Date;
    readonly data: Static<(typeof catalogue)[One]>;
  };
}[Type];
