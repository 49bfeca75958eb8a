/**
 * The host of envelope senders. Bounces come to us either way; with a host below the From domain SPF aligns, too
 * (RFC 7489 section 3.1.2). It is used only once its CNAME has been seen.
 */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type DomainOfWorkspace, listCustomReturnPaths } from "./sending-domains/store.ts";

/** Where a domain's own return path is, a CNAME to BOUNCE_DOMAIN. */
export function customReturnPathHost(domain: string): string {
  return `bounce.${domain}`;
}

/** One query for many From domains; the hosts stand in the order of the questions. */
export async function returnPathHosts(
  db: Queryable,
  asked: readonly DomainOfWorkspace[],
  bounceDomain: string,
): Promise<string[]> {
  if (asked.length === 0) return [];
  const ready = await listCustomReturnPaths(db, asked);
  return asked.map(({ domain }, position) => (ready[position] ? customReturnPathHost(domain) : bounceDomain));
}

/** Of a domain whose own leads to us; null for every other. */
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
