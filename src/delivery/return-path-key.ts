/** The keys of the tokens in return paths and in our own header: who sends makes them, who receives checks them. */
import type { PurposeKeys, Secrets } from "#platform/secrets/secrets.ts";

export function returnPathKeys(secrets: Secrets): PurposeKeys {
  return secrets.derive("return paths");
}
