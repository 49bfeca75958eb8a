/** Makes a key pair ready to be stored: the private half sealed for its row, so that no other row can hold it. */
import { type DkimKeyBits, generateDkimKey } from "../../mail/dkim/dkim.ts";
import { newId, type WorkspaceId } from "../../platform/ids.ts";
import type { Secrets } from "../../platform/secrets.ts";
import { BURST, createTurns, createWorkspaceTurns } from "../../platform/turns.ts";
import type { NewDkimKey } from "./store.ts";

/** What the automatic key of a new domain is (RFC 8301: 2048 bits; decisions, section 11 row 25). */
export const automaticKey = { selector: "ph1", bits: 2048, isAutomatic: true } as const;

/** The AES-GCM context of a key's row. */
export function sealContext(keyId: string): string {
  return `dkim:${keyId}`;
}

/** Mail is signed in the same threads: keys leave it most of them, and one workspace leaves room to the others. */
const takeThread = createTurns(2);
const takeTurn = createWorkspaceTurns(
  { ...BURST, atOnce: 1 },
  "Too many DKIM keys of this workspace are being made: try again in a moment",
);

/**
 * Takes 0.1 s (2048 bits) to some seconds (4096 bits) of a thread: not for the inside of a transaction.
 * @throws ApiError RATE_LIMIT_EXCEEDED when the workspace has more keys made than there is time for
 */
export async function newDkimKey(
  secrets: Secrets,
  workspaceId: WorkspaceId,
  key: {
    readonly domain: string;
    readonly selector: string;
    readonly bits: DkimKeyBits;
    readonly isAutomatic: boolean;
    readonly createdAt: Date;
  },
): Promise<NewDkimKey> {
  const id = newId();
  const { privateKey, publicKey } = await takeTurn(workspaceId, () =>
    takeThread(() => generateDkimKey(key.bits)),
  );
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { ...key, id, publicKey, sealedKey: secrets.seal(pem, sealContext(id)) };
}
