/** Keys of PostgreSQL's advisory locks: made from a name, so that two purposes cannot pick the same number. */
import { hash } from "node:crypto";

/** A whole number below 2^48, the same for the same name in every version. */
export function lockKey(name: string): number {
  return Number.parseInt(hash("sha256", `posthaste ${name}`, "hex").slice(0, 12), 16);
}
