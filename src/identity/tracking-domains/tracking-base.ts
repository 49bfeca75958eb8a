/** What the links of a mail begin with. */
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import { findTrackingDomain } from "./store.ts";

/**
 * The chosen tracking domain, while it is verified; PUBLIC_URL otherwise, so that links always lead somewhere. People
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
  return domain?.is_verified ? `https://${domain.domain}` : publicUrl;
}
