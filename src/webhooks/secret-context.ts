import type { SealedColumn } from "#platform/secrets/sealed-store.ts";

/** What a receiver's secret is sealed for: its own row, so that no other row can hold it. */
export const secretContext = (webhookId: string): string => `webhook:${webhookId}`;

const webhookSecrets = { what: "webhook secrets", table: "webhooks", contextOf: secretContext };

/** In this order: a rotation of a webhook's secret moves the first into the second. */
export const sealedWebhookSecrets: readonly SealedColumn[] = [
  { ...webhookSecrets, column: "secret" },
  { ...webhookSecrets, column: "previous_secret" },
];
