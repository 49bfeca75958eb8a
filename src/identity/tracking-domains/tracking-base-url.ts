/** The base URL of tracked links. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  findTrackingDomain,
  findUsable,
  findUsableBelow,
  listTrackingDomains,
  type TrackingDomainRow,
} from "./store.ts";

/** Whether links may use the domain. */
export function isUsableForLinks({
  is_verified,
  https_fault,
}: Pick<TrackingDomainRow, "is_verified" | "https_fault">): boolean {
  return is_verified && https_fault === null;
}

/**
 * The chosen tracking domain (by HTTPS) while it is verified and works over HTTPS, otherwise PUBLIC_URL, so that links
 * always work.
 * @param publicUrl without a trailing slash
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

/** As trackingBase, for mail without a choice: a usable tracking domain below its From domain, otherwise PUBLIC_URL. */
export async function trackingBaseBelow(
  db: Queryable,
  workspaceId: WorkspaceId,
  fromDomain: string,
  publicUrl: string,
): Promise<string> {
  const domain = await findUsableBelow(db, workspaceId, fromDomain);
  return domain === undefined ? publicUrl : `https://${domain.domain}`;
}

/** As trackingBase, for what belongs to no mail: the oldest usable tracking domain, otherwise PUBLIC_URL. */
export async function trackingBaseOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  publicUrl: string,
): Promise<string> {
  const domain = await findUsable(db, workspaceId);
  return domain === undefined ? publicUrl : `https://${domain.domain}`;
}

/** PUBLIC_URL and every usable tracking domain. */
export async function listTrackingBases(
  db: Queryable,
  workspaceId: WorkspaceId,
  publicUrl: string,
): Promise<string[]> {
  const domains = await listTrackingDomains(db, workspaceId);
  return [publicUrl, ...domains.filter(isUsableForLinks).map(({ domain }) => `https://${domain}`)];
}
