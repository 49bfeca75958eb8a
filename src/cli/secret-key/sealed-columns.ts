/** Every column of the database that holds sealed values (test/schema.test.ts looks for others). */
import { sealedDkimKeys } from "#identity/dkims/generate-key.ts";
import { sealedRelayUrls } from "#identity/routing-rules/relay-url.ts";
import type { SealedColumn } from "#platform/secrets/reseal-store.ts";
import { sealedWebhookSecrets } from "#webhooks/signature.ts";
import { sealedAppSecrets } from "#workspace/second-factors/authenticator-codes.ts";

export const sealedColumns: readonly SealedColumn[] = [
  sealedDkimKeys,
  sealedRelayUrls,
  ...sealedWebhookSecrets,
  sealedAppSecrets,
];
