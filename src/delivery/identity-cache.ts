/** Sender identities, kept for some seconds: a batch asks for the same few thousands of times. */
import type { FindIdentity, SenderIdentity } from "./compose.ts";

const KEPT_MS = 15_000;
const MOST_KEPT = 10_000;

export function rememberIdentities(find: FindIdentity): FindIdentity {
  const kept = new Map<string, { identity: Promise<SenderIdentity>; until: number }>();
  return (workspaceId, fromDomain) => {
    const name = `${workspaceId} ${fromDomain}`;
    const known = kept.get(name);
    if (known && known.until > performance.now()) return known.identity;
    if (kept.size >= MOST_KEPT) kept.clear();
    const identity = find(workspaceId, fromDomain);
    kept.set(name, { identity, until: performance.now() + KEPT_MS });
    identity.catch(() => kept.delete(name));
    return identity;
  };
}
