/** What the links of a mail begin with. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findTrackingDomain, findUsableBelow, type TrackingDomainRow } from "./store.ts";

/** Whether links may begin with it. */
export function isUsableForLinks({
  is_verified,
  https_fault,
}: Pick<TrackingDomainRow, "is_verified" | "https_fault">): boolean {
  return is_verified && https_fault === null;
}

/**
 * The chosen tracking domain, while it is verified and nothing is wrong with HTTPS there; PUBLIC_URL otherwise, so that links always lead somewhere. People
 * reach tracking domains by HTTPS.
 * @param publicUrl without a slash at its end
 */
export async function trackingBase(
  db: Queryable,
  workspaceId: WorkspaceId,
  urlDomainId: string | null,
  publicUrl: string,
): Promise<string> {
  const domain = urlDomainId === null ? undefined : await findTrackingDomain(db, workspaceId, urlDomainId);
  return domain !== undefined && isUsableForLinks(domain) ? `https://${domain.domain}` : publicUrl;
}

/** The same of mail that has no choice: its links stand on a name below that of its sender, where there is one. */
export async function trackingBaseBelow(
  db: Queryable,
  workspaceId: WorkspaceId,
  fromDomain: string,
  publicUrl: string,
): Promise<string> {
  const domain = await findUsableBelow(db, workspaceId, fromDomain);
  return domain === undefined ? publicUrl : `https://${domain.domain}`;
}
