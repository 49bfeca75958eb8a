/** A verified sending domain without DNS: inserts the rows that a successful verification writes. */
import { automaticKey, newDkimKey } from "#identity/dkims/generate-key.ts";
import { insertDkimKey, updateDkimKeyVerification } from "#identity/dkims/store.ts";
import {
  insertDomainClaim,
  insertSendingDomain,
  updateDkimVerified,
  updateDomainVerification,
} from "#identity/sending-domains/store.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";

/** Adds a verified domain with an RSA-2048 key to a workspace. */
export async function insertVerifiedDomain(
  db: Database,
  secrets: Secrets,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<void> {
  const now = new Date();
  const row = await insertSendingDomain(db, workspaceId, domain, now);
  if (row === undefined) throw new Error(`the workspace has the domain ${domain} already`);
  await insertDomainClaim(db, workspaceId, domain, now);
  const key = await newDkimKey(secrets, { domain, ...automaticKey, createdAt: now });
  await insertDkimKey(db, workspaceId, key);
  await updateDkimKeyVerification(db, workspaceId, key.id, { verified: true, failures: null, now });
  const verified = { ownership: true, spf: true, dmarc: true, return_path: false };
  await updateDomainVerification(db, workspaceId, row.id, { verified, failedChecks: {}, now });
  await updateDkimVerified(db, workspaceId, domain, null);
}
