/** Receivers and deliveries as requests and answers show them. */
import { Type } from "typebox";
import { Id, NullableTimestamp, nullable, omittable, Timestamp } from "#platform/shapes.ts";
import { EVERY_EVENT, eventTypes } from "./catalogue.ts";
import { deliveryStatuses } from "./delivery-store.ts";
import { LONGEST_URL } from "./receiver-url.ts";

const Events = Type.Array(Type.Enum([EVERY_EVENT, ...eventTypes]), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  description: "`*` for all of them, those to come included.",
});

const LONGEST_DESCRIPTION = 500;

export const Webhook = Type.Object(
  {
    id: Id,
    url: Type.String(),
    events: Type.Array(Type.String()),
    description: nullable(Type.String()),
    is_active: Type.Boolean(),
    disabled_reason: nullable(Type.String({ description: "Why the service switched it off by itself." })),
    consecutive_failures: Type.Integer({
      description: "Deliveries given up since the last one that arrived; the 30th switches the webhook off.",
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
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
    description: omittable(Type.String({ maxLength: LONGEST_DESCRIPTION })),
    is_active: Type.Optional(Type.Boolean({ default: true })),
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
    id: Type.String({ format: "uuid", description: "The header webhook-id of every attempt." }),
    type: Type.String(),
    status: Type.Enum([...deliveryStatuses]),
    attempts: Type.Integer(),
    next_attempt_at: NullableTimestamp,
    attempted_at: NullableTimestamp,
    status_code: nullable(Type.Integer({ description: "Of the last answer; null when none came." })),
    error: nullable(Type.String({ description: "Why the last attempt failed." })),
    duration_ms: nullable(Type.Integer({ description: "Of the last attempt." })),
    body: Type.Unknown({ description: "What is sent: { type, timestamp, data }." }),
    created_at: Timestamp,
  },
  { $id: "WebhookDelivery" },
);
