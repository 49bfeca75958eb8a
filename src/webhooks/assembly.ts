/** Assembles the webhooks wing: subscriptions to events, and the sender that delivers them. */
import { createResolver } from "#dns/network-resolver.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import type { GaugeSource } from "#platform/metrics.ts";
import { KeptConnections } from "#platform/network/kept-connections.ts";
import { countWaitingDeliveries, waitOfOldestDelivery } from "./deliveries/backlog-store.ts";
import { type WebhookAttemptResult, WebhookSender } from "./deliveries/sender.ts";
import {
  removeOldWebhookDeliveries,
  SwitchOffOverfullWebhooks,
} from "./deliveries/switch-off-overfull-and-remove-old.ts";
import { webhookEndpoints } from "./endpoints.ts";
import { createReceiver } from "./post-to-receiver.ts";

/** A look-up is a part of a delivery attempt, which may take ten seconds. */
const WEBHOOK_DNS = { timeoutMs: 5_000, tries: 4 };

export function webhooksEndpoints({ database: db, clock, secrets, config }: ProcessContext): Endpoint[] {
  return webhookEndpoints({ db, clock, secrets, allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS });
}

export function webhooksRecurring({ database: db, clock }: ProcessContext): Recurring[] {
  return [removeOldWebhookDeliveries({ db, clock }), new SwitchOffOverfullWebhooks({ db, clock })];
}

export function webhookGauges({ database: db, clock }: ProcessContext): GaugeSource[] {
  return [
    {
      name: "posthaste_webhook_waiting_deliveries",
      help: "Deliveries to webhooks that wait for their first attempt or a retry, up to 10,000.",
      read: () => countWaitingDeliveries(db),
    },
    {
      name: "posthaste_webhook_oldest_due_seconds",
      help: "How long the first delivery to a webhook has been due, its attempt under way included; 0 when none is late.",
      read: () => waitOfOldestDelivery(db, clock.now()),
    },
  ];
}

/** Starts delivering events to the workspaces' webhooks. */
export function startWebhooks(
  { database: db, clock, log, secrets, config }: ProcessContext,
  onAttempt: (result: WebhookAttemptResult) => void,
): WebhookSender {
  const post = createReceiver({
    resolver: createResolver({ servers: config.DNS_SERVERS, ...WEBHOOK_DNS }),
    allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS,
    connections: new KeptConnections(),
  });
  const sender = new WebhookSender({ db, clock, log, secrets, post, onAttempt });
  sender.start();
  return sender;
}
