import type { Findings } from "./findings.ts";

export const validationStatuses = [
  "valid",
  "invalid",
  "catch-all",
  "disposable",
  "role-based",
  "unknown",
] as const;
export type ValidationStatus = (typeof validationStatuses)[number];

export interface Score {
  readonly status: ValidationStatus;
  /** 0 (safe) to 10 (risky). */
  readonly risk_score: number;
}

export const RISK: Readonly<Record<ValidationStatus, number>> = {
  valid: 2,
  "role-based": 4,
  "catch-all": 5,
  unknown: 6,
  disposable: 8,
  invalid: 10,
};
const CONFIRMED = 0;
const FULL_MAILBOX = 1;
const NEW_DOMAIN = 1;
const COMPLAINER = 9;
const HONEYPOT = 10;
const MOST = 10;

/**
 * The status and the risk score of an address. Of several statuses that apply, the first of this order counts: invalid,
 * disposable, role-based, catch-all, unknown, valid. The score is that of the status (RISK; 0 for a valid address that its
 * server confirmed), plus 1 for a full mailbox and 1 for a new domain. It is at least 9 for an address that complained about
 * this workspace's mail, and 10 for a spam trap.
 */
export function riskScoreOf(findings: Findings, isComplainer: boolean): Score {
  const { probe, isHoneypot, isNewDomain } = findings;
  const status = statusOf(findings);
  const base = status === "valid" && probe !== null ? CONFIRMED : RISK[status];
  const own = base + (probe?.isMailboxFull ? FULL_MAILBOX : 0) + (isNewDomain ? NEW_DOMAIN : 0);
  const least = isHoneypot ? HONEYPOT : isComplainer ? COMPLAINER : 0;
  return { status, risk_score: Math.min(MOST, Math.max(own, least)) };
}

function statusOf({ domain, probe, isDisposable, isRoleBased, isCatchAll }: Findings): ValidationStatus {
  if (domain === null || domain.outcome === "undeliverable" || probe?.result === "rejected") return "invalid";
  if (isDisposable) return "disposable";
  if (isRoleBased) return "role-based";
  if (isCatchAll) return "catch-all";
  if (domain.outcome === "unknown" || (probe !== null && probe.result !== "accepted")) return "unknown";
  return "valid";
}
