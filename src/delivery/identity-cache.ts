/** Sender identities, kept for some seconds: a batch asks for the same few thousands of times. */
import { AsyncCache } from "#platform/cache.ts";
import type { FindIdentity, SenderIdentity } from "./compose/compose.ts";

const KEPT_MS = 15_000;
const MOST_KEPT = 10_000;

export function rememberIdentities(find: FindIdentity): FindIdentity {
  const identities = new AsyncCache<SenderIdentity>({ ms: KEPT_MS, most: MOST_KEPT });
  return (workspaceId, fromDomain) =>
    identities.get(`${workspaceId} ${fromDomain}`, () => find(workspaceId, fromDomain));
}
