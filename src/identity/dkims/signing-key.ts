/**
 * The key that signs a domain's mail: the newest whose record has been seen in the DNS. Without one it is the key that
 * was generated with the domain, once the domain is verified. Before that only verified senders send from the domain,
 * and for them a signature that cannot be checked is worse than the platform's. To rotate: add a key, publish and
 * verify it, delete the old one.
 *
 * Unsealing and parsing cost more than a signature, so callers cache the result.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { type DomainOfWorkspace, findDomainHolder } from "#identity/sending-domains/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { sealContext } from "./generate-key.ts";
import { listSigningKeys } from "./store.ts";

export interface SigningKey {
  /** The d= tag. */
  readonly domain: string;
  readonly selector: string;
  readonly privateKey: KeyObject;
}

/** Signing keys of many domains in one query, in the order of the request; null when no key may sign. */
export async function signingKeys(
  db: Queryable,
  secrets: Secrets,
  asked: readonly DomainOfWorkspace[],
): Promise<(SigningKey | null)[]> {
  if (asked.length === 0) return [];
  const rows = await listSigningKeys(db, asked);
  return asked.map(({ domain }, position) => {
    const { id, selector, private_key } = rows[position] ?? {};
    if (id == null || selector == null || private_key == null) return null;
    return { domain, selector, privateKey: createPrivateKey(secrets.open(private_key, sealContext(id))) };
  });
}

export async function signingKey(
  db: Queryable,
  secrets: Secrets,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<SigningKey | null> {
  const [key = null] = await signingKeys(db, secrets, [{ workspaceId, domain }]);
  return key;
}

/** The signing key of platform mail: that of the workspace that proved ownership of the domain. */
export async function platformSigningKey(
  db: Queryable,
  secrets: Secrets,
  domain: string,
): Promise<SigningKey | null> {
  const holder = await findDomainHolder(db, domain);
  return holder === undefined ? null : signingKey(db, secrets, holder, domain);
}
