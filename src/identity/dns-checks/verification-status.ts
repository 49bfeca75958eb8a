/**
 * What a check does to a flag that was set before. A DNS fault never changes anything; beyond that, whoever presses
 * the button gets what the check says, while the automatic re-check lets a flag fall only when failures persist:
 * records vanish for an hour when a zone is edited, and mail must not stop because of it.
 */
import type { CheckStatus } from "./dns-check.ts";

/** Automatic checks in a row that found the record missing or wrong. */
export interface Failures {
  readonly count: number;
  /** The first of them, ISO 8601: it is kept as JSON. */
  readonly since: string;
}

export interface VerificationState {
  readonly verified: boolean;
  readonly failures: Failures | null;
}

/** Turns a check into the new standing. */
export type StateAfterCheck = (
  standing: VerificationState,
  status: CheckStatus,
  now: Date,
) => VerificationState;

const MOST_FAILURES = 3;
const FAILING_FOR_MS = 24 * 60 * 60 * 1000;

/** Somebody asked for the check: the flag becomes what it says. */
export const stateAfterRequest: StateAfterCheck = (standing, status) =>
  status === "error" ? standing : { verified: status === "verified", failures: null };

/** The automatic re-check: a flag rises at once and falls after three failures over at least a day. */
export const stateAfterRecheck: StateAfterCheck = (standing, status, now) => {
  if (status === "error") return standing;
  if (status === "verified" || !standing.verified) {
    return { verified: status === "verified", failures: null };
  }
  const failures = {
    count: (standing.failures?.count ?? 0) + 1,
    since: standing.failures?.since ?? now.toISOString(),
  };
  const failingFor = now.getTime() - Date.parse(failures.since);
  return failures.count >= MOST_FAILURES && failingFor >= FAILING_FOR_MS
    ? { verified: false, failures: null }
    : { verified: true, failures };
};
