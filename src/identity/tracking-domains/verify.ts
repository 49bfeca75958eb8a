/**
 * One look at a tracking domain's record, whoever asks for it. Links use a domain only while its record is right: mail
 * that goes out meanwhile has the service's own links, which always work, so a domain that broke falls at once. What
 * the DNS did not answer changes nothing.
 */
import type { Resolver } from "../../mail/resolver.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import { checkAlias } from "../check-alias.ts";
import type { DnsCheck } from "../dns-check.ts";
import { judgeOnRequest } from "../standing.ts";
import { type TrackingDomainRow, updateTrackingVerified } from "./store.ts";

export interface VerifyDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Where tracking domains have to lead. */
  readonly target: string;
  /** Asks a domain's own name servers first. */
  readonly resolverFor: (domain: string) => Resolver;
}

/** Undefined in place of the domain when it was deleted or renamed while the DNS was asked. */
export async function verifyTrackingDomain(
  deps: VerifyDeps,
  workspaceId: WorkspaceId,
  domain: TrackingDomainRow,
): Promise<{ readonly check: DnsCheck; readonly domain: TrackingDomainRow | undefined }> {
  const check = await checkAlias(deps.resolverFor(domain.domain), domain.domain, deps.target);
  const now = deps.clock.now();
  const { verified } = judgeOnRequest({ verified: domain.is_verified, failures: null }, check.status, now);
  return { check, domain: await updateTrackingVerified(deps.db, workspaceId, domain, verified, now) };
}
