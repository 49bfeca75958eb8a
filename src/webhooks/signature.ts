/** Signing secrets of webhooks (`whsec_<base64>`), and the signatures of Standard Webhooks 1.0.0. */
import { createHmac, randomBytes } from "node:crypto";
import type { SealedColumn } from "#platform/secrets/reseal-store.ts";

const PREFIX = "whsec_";
const SECRET_OCTETS = 32;

export function newSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_OCTETS).toString("base64");
}

/** The context a secret is sealed with: it can be opened only in its own row. */
export const secretContext = (webhookId: string): string => `webhook:${webhookId}`;

const webhookSecrets = { what: "webhook secrets", table: "webhooks", contextOf: secretContext };

/** In this order, because a rotation of the signing secret moves `secret` to `previous_secret`. */
export const sealedWebhookSecrets: readonly SealedColumn[] = [
  { ...webhookSecrets, column: "secret" },
  { ...webhookSecrets, column: "previous_secret" },
];

export interface SignedDelivery {
  readonly id: string;
  /** The time of the attempt. */
  readonly time: Date;
  readonly body: string;
}

/**
 * The headers of one attempt: HMAC-SHA256 over "id.timestamp.body", once for each secret. During a rotation there are
 * two, and a receiver may verify either.
 */
export function signatureHeaders({ id, time, body }: SignedDelivery, secrets: readonly string[]) {
  const timestamp = String(Math.floor(time.getTime() / 1_000));
  const sign = (secret: string) =>
    createHmac("sha256", Buffer.from(secret.slice(PREFIX.length), "base64"))
      .update(`${id}.${timestamp}.${body}`)
      .digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((secret) => `v1,${sign(secret)}`).join(" "),
  };
}
