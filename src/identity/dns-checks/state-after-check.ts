/**
 * How the result of a DNS check changes a flag. A failed look-up changes nothing. On request the flag becomes the
 * result. The automatic re-check clears a flag only when failures persist: records can disappear for an hour while a
 * zone is edited, and mail must not stop because of that.
 */

import { DAY_MS } from "#platform/time-units.ts";
import type { CheckStatus } from "./dns-check.ts";

/** Consecutive automatic checks that found the record missing or wrong. */
export interface Failures {
  readonly count: number;
  /** Time of the first, ISO 8601 (stored as JSON). */
  readonly since: string;
}

/** A flag, and the failures counted against it. */
export interface VerificationState {
  readonly verified: boolean;
  readonly failures: Failures | null;
}

/** The state after a check. */
export type StateAfterCheck = (state: VerificationState, status: CheckStatus, now: Date) => VerificationState;

const MOST_FAILURES = 3;
const FAILING_FOR_MS = DAY_MS;

/** A check on request: the flag becomes the result. */
export const stateAfterRequest: StateAfterCheck = (state, status) =>
  status === "error" ? state : { verified: status === "verified", failures: null };

/** The automatic re-check: a flag is set at once and cleared after three failures over at least a day. */
export const stateAfterRecheck: StateAfterCheck = (state, status, now) => {
  if (status === "error") return state;
  if (status === "verified" || !state.verified) {
    return { verified: status === "verified", failures: null };
  }
  const failures = {
    count: (state.failures?.count ?? 0) + 1,
    since: state.failures?.since ?? now.toISOString(),
  };
  const failingFor = now.getTime() - Date.parse(failures.since);
  return failures.count >= MOST_FAILURES && failingFor >= FAILING_FOR_MS
    ? { verified: false, failures: null }
    : { verified: true, failures };
};
