/** Shapes of webhooks and their deliveries in requests and answers. */

import { Type } from "typebox";
import type { Resource } from "#platform/http/endpoint.ts";
import { CreatedAt, described, Id, nullable, omittable, Timestamp, UpdatedAt } from "#platform/shapes.ts";
import { EVERY_EVENT, eventTypes } from "./event-catalogue.ts";
import { LONGEST_URL } from "./receiver-url.ts";

export const webhooksResource: Resource = { name: "webhooks", label: "Webhooks", group: "Account" };

export const deliveryStatuses = ["pending", "delivered", "failed"] as const;
export type WebhookDeliveryStatus = (typeof deliveryStatuses)[number];

const Events = Type.Array(Type.Enum([EVERY_EVENT, ...eventTypes]), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  description: "`*` for all events, future ones included.",
});

const LONGEST_DESCRIPTION = 500;

export const Webhook = Type.Object(
  {
    id: described(Id, "Id of the webhook."),
    url: Type.String({ description: "Where events are sent." }),
    events: Type.Array(Type.String(), { description: "The events that are sent; `*` stands for all." }),
    description: nullable(Type.String({ description: "What it is for; null if there is nothing to say." })),
    is_active: Type.Boolean({ description: "Whether events are sent." }),
    disabled_reason: nullable(Type.String({ description: "Why the service switched the webhook off." })),
    consecutive_failures: Type.Integer({
      description: "Deliveries given up since the last successful one; the 30th switches the webhook off.",
    }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { $id: "Webhook" },
);

export const WebhookWithSecret = Type.Object(
  {
    ...Webhook.properties,
    secret: Type.String({ description: "`whsec_...`, to check signatures with. It is not shown again." }),
  },
  { $id: "WebhookWithSecret" },
);

export const WebhookInput = Type.Object(
  {
    url: Type.String({ minLength: 1, maxLength: LONGEST_URL, description: "https://, without credentials." }),
    events: Events,
    description: omittable(
      Type.String({
        maxLength: LONGEST_DESCRIPTION,
        description: "What it is for; null or absent if there is nothing to say.",
      }),
    ),
    is_active: Type.Optional(
      Type.Boolean({ default: true, description: "Whether events are sent; true when omitted." }),
    ),
  },
  { $id: "WebhookInput" },
);

export const WebhookUpdate = Type.Object(
  {
    url: Type.Optional(WebhookInput.properties.url),
    events: Type.Optional(Events),
    description: WebhookInput.properties.description,
    is_active: Type.Optional(
      Type.Boolean({ description: "true clears disabled_reason and consecutive_failures." }),
    ),
  },
  { $id: "WebhookUpdate" },
);

export const WebhookDelivery = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "The webhook-id header of every attempt." }),
    type: Type.String({ description: "The event." }),
    status: Type.Enum([...deliveryStatuses], { description: "Whether it was delivered." }),
    attempts: Type.Integer({ description: "Number of attempts so far." }),
    next_attempt_at: nullable(described(Timestamp, "When it is tried next, in UTC; null if it is not.")),
    attempted_at: nullable(described(Timestamp, "Time of the last attempt in UTC; null before the first.")),
    status_code: nullable(
      Type.Integer({ description: "The status of the last answer; null when there was none." }),
    ),
    error: nullable(Type.String({ description: "Why the last attempt failed." })),
    duration_ms: nullable(Type.Integer({ description: "The duration of the last attempt." })),
    body: Type.Unknown({ description: "The request body: { type, timestamp, data }." }),
    created_at: CreatedAt,
  },
  { $id: "WebhookDelivery" },
);

export const WebhookDeliveryDetail = Type.Object(
  {
    ...WebhookDelivery.properties,
    answer: nullable(
      Type.Object(
        {
          content_type: nullable(Type.String({ description: "The header Content-Type; null without one." })),
          body: Type.String({
            description:
              "Its body as text, at most the first 16 KiB, or 1 KiB of an answer 2xx; octets that are not UTF-8 are replaced.",
          }),
          is_cut: Type.Boolean({ description: "Whether the body was longer, or broke off." }),
        },
        {
          $id: "WebhookAnswer",
          description: "What the receiver answered last; null if it did not answer, and for old deliveries.",
        },
      ),
    ),
  },
  { $id: "WebhookDeliveryDetail" },
);

export const ReplayOrder = Type.Object(
  {
    event: Type.Optional(Type.Enum([...eventTypes], { description: "Only deliveries of this event." })),
    from: Type.Optional(
      Type.String({ maxLength: 100, description: "Only events at this time or later, ISO 8601." }),
    ),
    to: Type.Optional(
      Type.String({ maxLength: 100, description: "Only events before this time, ISO 8601." }),
    ),
  },
  { $id: "ReplayOrder" },
);

export const ReplayResult = Type.Object(
  {
    replayed: Type.Integer({ description: "Deliveries that are queued now." }),
    has_more: Type.Boolean({ description: "Whether others may be left: call again." }),
  },
  { $id: "ReplayResult" },
);
