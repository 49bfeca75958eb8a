/** Keys of PostgreSQL's advisory locks, derived from names, so that two purposes do not pick the same number. */
import { hash } from "node:crypto";

/** An integer below 2^48; the same name has the same key in every version. */
export function lockKey(name: string): number {
  return Number.parseInt(hash("sha256", `posthaste ${name}`, "hex").slice(0, 12), 16);
}
