/** The key of the tokens in return paths and in our own header: who sends makes them, who receives checks them. */
import { createSecretKey, type KeyObject } from "node:crypto";
import type { Secrets } from "../platform/secrets.ts";

export function returnPathKey(secrets: Secrets): KeyObject {
  return createSecretKey(secrets.derive("return paths"));
}
