/**
 * Writes down what a live check came to: flags of the domain and of its keys, and the claim that comes with proved
 * ownership. One transaction around the domain's row, so that checks which end together do not mix.
 */

import { listDkimKeysOfDomain, updateDkimKeyVerification } from "#identity/dkims/store.ts";
import type {
  Failures,
  StateAfterCheck,
  VerificationState,
} from "#identity/dns-checks/verification-status.ts";
import {
  type CheckedDomain,
  type CountedCheck,
  countedChecks,
  insertDomainClaim,
  lockSendingDomain,
  removeDomainClaim,
  type SendingDomain,
  updateDkimVerified,
  updateDomainVerification,
} from "#identity/sending-domains/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { DomainChecks } from "./check-dns.ts";

/**
 * Returns the domain as it was and as it is now, or undefined when it was deleted while the DNS was asked.
 * @throws ApiError CONFLICT when ownership is proved of a domain that another workspace holds; nothing has changed
 */
export async function recordChecks(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  checks: DomainChecks,
  judge: StateAfterCheck,
  now: Date,
): Promise<{ readonly before: SendingDomain; readonly after: SendingDomain } | undefined> {
  const before = await lockSendingDomain(tx, workspaceId, domain);
  if (before === undefined) return undefined;
  const standings = judgeDomain(before, checks, judge, now);
  await settleClaim(tx, workspaceId, domain, standings.ownership.verified, now);
  await updateDomainVerification(tx, workspaceId, before.id, {
    verified: mapChecks((check) => standings[check].verified),
    failedChecks: failuresOf(standings),
    now,
  });
  await settleKeys(tx, workspaceId, domain, checks, judge, now);
  const after = await updateDkimVerified(tx, workspaceId, domain);
  return after && { before, after };
}

type Standings = Record<CountedCheck, VerificationState>;

function judgeDomain(
  domain: CheckedDomain,
  checks: DomainChecks,
  judge: StateAfterCheck,
  now: Date,
): Standings {
  const flags: Record<CountedCheck, boolean> = {
    ownership: domain.is_verified,
    spf: domain.spf_verified,
    dmarc: domain.dmarc_verified,
    return_path: domain.return_path_verified,
  };
  return mapChecks((name) => {
    const standing = { verified: flags[name], failures: domain.failed_checks[name] ?? null };
    const check = checks[name];
    return check === null ? standing : judge(standing, check.status, now);
  });
}

/** Whoever proved ownership first holds the domain for as long as the proof stands. */
async function settleClaim(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  isProved: boolean,
  now: Date,
): Promise<void> {
  if (!isProved) await removeDomainClaim(tx, workspaceId, domain);
  else if (!(await insertDomainClaim(tx, workspaceId, domain, now))) {
    throw new ApiError("CONFLICT", `Another workspace has proved that ${domain} is its own`);
  }
}

async function settleKeys(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  checks: DomainChecks,
  judge: StateAfterCheck,
  now: Date,
): Promise<void> {
  const statuses = new Map(checks.keys.map(({ key, check }) => [key.id, check.status]));
  for (const key of await listDkimKeysOfDomain(tx, workspaceId, domain)) {
    const status = statuses.get(key.id);
    if (status === undefined) continue;
    const standing = { verified: key.verified_at !== null, failures: key.failed_checks };
    await updateDkimKeyVerification(tx, workspaceId, key.id, { ...judge(standing, status, now), now });
  }
}

function failuresOf(standings: Standings): CheckedDomain["failed_checks"] {
  const failures: Partial<Record<CountedCheck, Failures>> = {};
  for (const check of countedChecks) {
    const counted = standings[check].failures;
    if (counted !== null) failures[check] = counted;
  }
  return failures;
}

function mapChecks<Value>(value: (check: CountedCheck) => Value): Record<CountedCheck, Value> {
  return {
    ownership: value("ownership"),
    spf: value("spf"),
    dmarc: value("dmarc"),
    return_path: value("return_path"),
  };
}
