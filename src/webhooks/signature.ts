/** Signatures of Standard Webhooks 1.0.0: HMAC-SHA256 over "id.timestamp.body", with secrets of the form `whsec_<base64>`. */
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_OCTETS = 32;

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_OCTETS).toString("base64");
}

/** What is sent, and when. */
export interface Signed {
  readonly id: string;
  readonly time: Date;
  readonly body: string;
}

/** The headers of one attempt; with more than one secret (a rotation) each signs, and any of them verifies. */
export function signatureHeaders({ id, time, body }: Signed, secrets: readonly string[]) {
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
