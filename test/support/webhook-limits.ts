/** What a sender of webhooks may lease while no receiver is silent or slow (src/webhooks/deliveries/sender.ts). */
import { ReceiverPace } from "#webhooks/deliveries/receiver-pace.ts";

export const webhookLimits = { mostOfWebhook: 10, mostOfWorkspace: 40, ...new ReceiverPace().limits };
