/**
 * Stores the results of a DNS check: the flags of the domain and of its keys, and the claim on the domain that proved
 * ownership brings. It locks the domain's row, so that concurrent checks do not mix their results.
 */

import {
  type CheckedDkimKey,
  failingSince,
  listDkimKeysOfDomain,
  updateDkimKeyVerification,
} from "#identity/dkims/store.ts";
import type { Failures, StateAfterCheck, VerificationState } from "#identity/dns-checks/state-after-check.ts";
import {
  type CheckedDomain,
  type CountedCheck,
  countedChecks,
  insertDomainClaim,
  type LosableCheck,
  lockSendingDomain,
  losableChecks,
  removeDomainClaim,
  type SendingDomain,
  updateDkimVerified,
  updateDomainVerification,
  updateLostChecks,
} from "#identity/sending-domains/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { DomainChecks } from "./check-dns.ts";

/**
 * Stores the results of the checks.
 * @returns the domain before and after; undefined when it was deleted during the DNS look-ups
 * @throws ApiError CONFLICT when ownership is proved of a domain that another workspace has claimed; nothing has
 * changed then
 */
export async function recordChecks(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  checks: DomainChecks,
  stateAfter: StateAfterCheck,
  now: Date,
): Promise<{ readonly before: SendingDomain; readonly after: SendingDomain } | undefined> {
  const before = await lockSendingDomain(tx, workspaceId, domain);
  if (before === undefined) return undefined;
  const states = stateOfDomain(before, checks, stateAfter, now);
  await recordClaim(tx, workspaceId, domain, states.ownership.verified, now);
  await updateDomainVerification(tx, workspaceId, before.id, {
    verified: mapChecks((check) => states[check].verified),
    failedChecks: failuresOf(states),
    now,
  });
  const keys = await listDkimKeysOfDomain(tx, workspaceId, domain);
  const dkimSince = failingSince(keys, now);
  await recordKeys(tx, workspaceId, keys, checks, stateAfter, now);
  // A loss is recorded below, with those of the other checks.
  const after = await updateDkimVerified(tx, workspaceId, domain, null);
  if (after === undefined) return undefined;
  await updateLostChecks(tx, workspaceId, before.id, lostAfter(before, after, dkimSince, now));
  return { before, after };
}

const flagOf = {
  ownership: "is_verified",
  spf: "spf_verified",
  dkim: "dkim_verified",
  dmarc: "dmarc_verified",
  return_path: "return_path_verified",
} as const satisfies Record<LosableCheck, keyof SendingDomain>;

/** The verifications that the domain had and does not have now, with the beginning of the failures. */
function lostAfter(
  before: CheckedDomain,
  after: SendingDomain,
  dkimSince: string,
  now: Date,
): CheckedDomain["lost_checks"] {
  const lost: Partial<Record<LosableCheck, string>> = {};
  for (const check of losableChecks) {
    if (after[flagOf[check]]) continue;
    const began = check === "dkim" ? dkimSince : before.failed_checks[check]?.since;
    const since = before[flagOf[check]] ? (began ?? now.toISOString()) : before.lost_checks[check];
    if (since !== undefined) lost[check] = since;
  }
  return lost;
}

type States = Record<CountedCheck, VerificationState>;

function stateOfDomain(
  domain: CheckedDomain,
  checks: DomainChecks,
  stateAfter: StateAfterCheck,
  now: Date,
): States {
  const flags: Record<CountedCheck, boolean> = {
    ownership: domain.is_verified,
    spf: domain.spf_verified,
    dmarc: domain.dmarc_verified,
    return_path: domain.return_path_verified,
  };
  return mapChecks((name) => {
    const state = { verified: flags[name], failures: domain.failed_checks[name] ?? null };
    const check = checks[name];
    return check === null ? state : stateAfter(state, check.status, now);
  });
}

/** The first workspace that proves ownership claims the domain for as long as the proof is published. */
async function recordClaim(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  isProved: boolean,
  now: Date,
): Promise<void> {
  if (!isProved) await removeDomainClaim(tx, workspaceId, domain);
  else if (!(await insertDomainClaim(tx, workspaceId, domain, now))) {
    throw new ApiError("CONFLICT", `Another workspace has proved ownership of ${domain}`);
  }
}

async function recordKeys(
  tx: Queryable,
  workspaceId: WorkspaceId,
  keys: readonly CheckedDkimKey[],
  checks: DomainChecks,
  stateAfter: StateAfterCheck,
  now: Date,
): Promise<void> {
  const statuses = new Map(checks.keys.map(({ key, check }) => [key.id, check.status]));
  for (const key of keys) {
    const status = statuses.get(key.id);
    if (status === undefined) continue;
    const state = { verified: key.verified_at !== null, failures: key.failed_checks };
    await updateDkimKeyVerification(tx, workspaceId, key.id, { ...stateAfter(state, status, now), now });
  }
}

function failuresOf(states: States): CheckedDomain["failed_checks"] {
  const failures: Partial<Record<CountedCheck, Failures>> = {};
  for (const check of countedChecks) {
    const counted = states[check].failures;
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
