/** Assembles the webhooks wing: subscriptions to events, and the sender that delivers them. */
import { createResolver } from "#dns/network-resolver.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { startSender, type WebhookSender } from "./deliveries/sender.ts";
import {
  removeOldWebhookDeliveries,
  switchOffOverfullWebhooks,
} from "./deliveries/switch-off-overfull-and-remove-old.ts";
import { webhookEndpoints } from "./endpoints.ts";
import { createReceiver } from "./post-to-receiver.ts";

/** A look-up is a part of a delivery attempt, which may take ten seconds. */
const WEBHOOK_DNS = { timeoutMs: 5_000, tries: 4 };

export function webhooksEndpoints({ database: db, clock, secrets, config }: ProcessContext): Endpoint[] {
  return webhookEndpoints({ db, clock, secrets, allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS });
}

export function webhooksRecurring({ database: db, clock }: ProcessContext): Recurring[] {
  return [removeOldWebhookDeliveries({ db, clock }), switchOffOverfullWebhooks({ db, clock })];
}

/** Starts delivering events to the workspaces' webhooks. */
export function startWebhooks({ database: db, clock, log, secrets, config }: ProcessContext): WebhookSender {
  const post = createReceiver({
    resolver: createResolver({ servers: config.DNS_SERVERS, ...WEBHOOK_DNS }),
    allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS,
  });
  return startSender({ db, clock, log, secrets, post });
}
