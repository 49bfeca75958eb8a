/** The verify call: checks the DNS and sets each flag to the result. */

import { Type } from "typebox";
import type { Resolver } from "#dns/resolver-interface.ts";
import { listDkimKeysOfDomain } from "#identity/dkims/store.ts";
import { stateAfterRequest } from "#identity/dns-checks/state-after-check.ts";
import { findSendingDomain } from "#identity/sending-domains/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { notFound, required } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described } from "#platform/shapes.ts";
import { checkDns, type PlatformDomains } from "./check-dns.ts";
import { DomainDnsChecks, dnsChecksOf } from "./dns-status.ts";
import { recordChecks } from "./record-results.ts";
import { changeOf, type OnVerification } from "./verification-change.ts";

export const Verification = Type.Object(
  {
    ownership_verified: Type.Boolean({ description: "Whether ownership is proved." }),
    spf_verified: Type.Boolean({ description: "Whether the SPF record includes this service." }),
    dkim_verified: Type.Boolean({ description: "Whether the record of the signing key is published." }),
    dmarc_verified: Type.Boolean({ description: "Whether the domain has a DMARC record." }),
    return_path_verified: Type.Boolean({
      description: "Whether the domain's own return path works; false while it is switched off.",
    }),
    verified: Type.Boolean({ description: "Ownership is proved: mail may be sent from the domain." }),
    checks: described(DomainDnsChecks, "The result of each check."),
    errors: Type.Array(Type.String(), {
      description: "Failed DNS look-ups; the flags of their checks are unchanged.",
    }),
  },
  { $id: "DomainVerification" },
);

/** @throws ApiError NOT_FOUND; CONFLICT when another workspace has claimed the domain */
export async function verifyDomain(
  deps: {
    readonly db: Database;
    readonly clock: Clock;
    readonly config: PlatformDomains;
    readonly resolverFor: (domain: string) => Resolver;
    readonly onVerification: OnVerification;
  },
  workspaceId: WorkspaceId,
  id: string,
) {
  const { db } = deps;
  const domain = required(await findSendingDomain(db, workspaceId, id), "Sending domain");
  const keys = await listDkimKeysOfDomain(db, workspaceId, domain.domain);
  const checks = await checkDns(deps.resolverFor(domain.domain), domain, keys, deps.config);
  const now = deps.clock.now();
  const settled = await db.transaction(async (tx) => {
    const done = await recordChecks(tx, workspaceId, domain.domain, checks, stateAfterRequest, now);
    if (done !== undefined) await deps.onVerification(tx, changeOf(workspaceId, done, now));
    return done;
  });
  if (settled === undefined) throw notFound("Sending domain");
  const { after } = settled;
  const made = dnsChecksOf(checks);
  return {
    ownership_verified: after.is_verified,
    spf_verified: after.spf_verified,
    dkim_verified: after.dkim_verified,
    dmarc_verified: after.dmarc_verified,
    return_path_verified: after.return_path_verified,
    verified: after.is_verified,
    checks: made,
    errors: Object.values(made).flatMap((check) => (check?.status === "error" ? check.message : [])),
  };
}

/** The `message` of the answer: the result, and what to do. */
export function verificationMessage(result: {
  readonly verified: boolean;
  readonly checks: { readonly ownership: { readonly message: string } };
  readonly errors: readonly string[];
}): string {
  const verdict = result.verified ? "The domain is verified" : "The domain is not verified";
  if (result.errors.length > 0) {
    return `${verdict}; some DNS look-ups failed, and their flags are unchanged`;
  }
  return result.verified ? verdict : `${verdict}: ${result.checks.ownership.message}`;
}
