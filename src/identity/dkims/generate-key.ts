/** Makes a key pair ready to be stored: the private half sealed for its row, so that no other row can hold it. */
import { type DkimKeyBits, generateDkimKey } from "#mail/dkim/dkim.ts";
import { createLimiter, createWorkspaceLimiter, QUERY_BOUNDS } from "#platform/concurrency.ts";
import { newId } from "#platform/ids.ts";
import type { SealedColumn } from "#platform/secrets/sealed-store.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import type { NewDkimKey } from "./store.ts";

/** What the automatic key of a new domain is (RFC 8301: 2048 bits; decisions, section 11 row 25). */
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
 * One key of a workspace is made at a time in this process. Whoever asks for the limits inside the turn asks when all that
 * came before are stored, so that what is refused costs no key.
 * @throws ApiError RATE_LIMIT_EXCEEDED when the workspace has more keys made than there is time for
 */
export const limitKeyGeneration = createWorkspaceLimiter(
  { ...QUERY_BOUNDS, concurrency: 1 },
  "Too many DKIM keys of this workspace are being made: try again in a moment",
);

/** The thread pool also reads files and hashes: keys leave it most of its threads, and one workspace room to the others. */
const takeThread = createLimiter(2);

/** Takes 0.1 s (2048 bits) to some seconds (4096 bits) of a thread: not for the inside of a transaction. */
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
