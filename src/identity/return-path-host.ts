/**
 * The host of the envelope sender. Bounces reach us with either; a host below the From domain also aligns SPF (RFC 7489
 * section 3.1.2). It is used once its CNAME has been seen.
 */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type DomainOfWorkspace, listCustomReturnPaths } from "./sending-domains/store.ts";

/** The host of a domain's own return path, a CNAME of BOUNCE_DOMAIN. */
export function customReturnPathHost(domain: string): string {
  return `bounce.${domain}`;
}

/** Hosts of many From domains in one query, in the order of the request. */
export async function returnPathHosts(
  db: Queryable,
  asked: readonly DomainOfWorkspace[],
  bounceDomain: string,
): Promise<string[]> {
  if (asked.length === 0) return [];
  const ready = await listCustomReturnPaths(db, asked);
  return asked.map(({ domain }, position) => (ready[position] ? customReturnPathHost(domain) : bounceDomain));
}

/** The domain's own return path host if its DNS points to us, otherwise null. */
export async function ownReturnPathHost(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<string | null> {
  const [isReady = false] = await listCustomReturnPaths(db, [{ workspaceId, domain }]);
  return isReady ? customReturnPathHost(domain) : null;
}

export async function returnPathHost(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  bounceDomain: string,
): Promise<string> {
  const [host = bounceDomain] = await returnPathHosts(db, [{ workspaceId, domain }], bounceDomain);
  return host;
}
