/** Generates a key pair. The private key is sealed for its row: no other row can use it. */
import { type DkimKeyBits, generateDkimKey } from "#mail/dkim/dkim.ts";
import { createLimiter, createWorkspaceLimiter, QUERY_BOUNDS } from "#platform/concurrency.ts";
import { newId } from "#platform/ids.ts";
import type { SealedColumn } from "#platform/secrets/reseal-store.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import type { NewDkimKey } from "./store.ts";

/** The automatic key of a new domain: 2048 bits, as RFC 8301 section 3.2 recommends. */
export const automaticKey = { selector: "ph1", bits: 2048, isAutomatic: true } as const;

/** The AES-GCM context of a key's row. */
export function sealContext(keyId: string): string {
  return `dkim:${keyId}`;
}

export const sealedDkimKeys: SealedColumn = {
  what: "DKIM keys",
  table: "dkim_keys",
  column: "private_key",
  contextOf: sealContext,
};

/**
 * Runs one key generation of a workspace at a time in this process. A check of limits inside it sees all earlier keys,
 * so that no key is generated only to be refused.
 * @throws ApiError RATE_LIMIT_EXCEEDED when too many of the workspace are waiting
 */
export const limitKeyGeneration = createWorkspaceLimiter(
  { ...QUERY_BOUNDS, concurrency: 1 },
  "Too many DKIM keys of this workspace are being made: try again in a moment",
);

/** The thread pool also reads files and hashes, so key generation uses two of its threads at most. */
const takeThread = createLimiter(2);

/** Generates a key: 0.1 s (2048 bits) to some seconds (4096 bits) of a thread. Never call it inside a transaction. */
export async function newDkimKey(
  secrets: Secrets,
  key: {
    readonly domain: string;
    readonly selector: string;
    readonly bits: DkimKeyBits;
    readonly isAutomatic: boolean;
    readonly createdAt: Date;
  },
): Promise<NewDkimKey> {
  const id = newId();
  const { privateKey, publicKey } = await takeThread(() => generateDkimKey(key.bits));
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { ...key, id, publicKey, sealedKey: secrets.seal(pem, sealContext(id)) };
}
