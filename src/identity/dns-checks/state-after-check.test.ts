import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOUR_MS } from "#platform/time-units.ts";
import type { CheckStatus } from "./dns-check.ts";
import { stateAfterRecheck, stateAfterRequest, type VerificationState } from "./state-after-check.ts";

const start = Date.parse("2026-03-01T00:00:00Z");
const unset: VerificationState = { verified: false, failures: null };
const set: VerificationState = { verified: true, failures: null };

/** A row of automatic checks, a number of hours apart. */
function recheck(
  standing: VerificationState,
  hoursApart: number,
  ...statuses: CheckStatus[]
): VerificationState {
  return statuses.reduce(
    (current, status, index) =>
      stateAfterRecheck(current, status, new Date(start + index * hoursApart * HOUR_MS)),
    standing,
  );
}

describe("a check that somebody asked for", () => {
  test.each(["missing", "mismatch"] as const)("%s drops a flag at once", (status) => {
    expect(stateAfterRequest(set, status, new Date(start))).toEqual(unset);
  });

  test("a verified record sets the flag and forgets earlier failures", () => {
    const failing = recheck(set, 24, "missing", "missing");
    expect(stateAfterRequest(failing, "verified", new Date(start))).toEqual(set);
  });

  test.each([set, unset])("a DNS fault leaves %o as it is", (standing) => {
    expect(stateAfterRequest(standing, "error", new Date(start))).toEqual(standing);
  });
});

describe("the automatic re-check", () => {
  test("drops a flag with the third failure", () => {
    expect(recheck(set, 24, "missing", "mismatch").verified).toBe(true);
    expect(recheck(set, 24, "missing", "mismatch", "missing")).toEqual(unset);
  });

  test("waits until failures have lasted a day, however many there are", () => {
    const failures = Array<CheckStatus>(7).fill("missing");
    expect(recheck(set, 4, ...failures.slice(1)).verified).toBe(true);
    expect(recheck(set, 4, ...failures).verified).toBe(false);
  });

  test("one success in between starts the count anew", () => {
    expect(recheck(set, 24, "missing", "missing", "verified", "missing", "missing").verified).toBe(true);
  });

  test("a flapping record never loses its flag", () => {
    const flapping = Array.from({ length: 20 }, () => ["missing", "mismatch", "verified"] as const).flat();
    expect(recheck(set, 24, ...flapping).verified).toBe(true);
  });

  test("DNS faults do not count, and do not interrupt the count either", () => {
    expect(recheck(set, 24, "error", "error", "error", "error").verified).toBe(true);
    expect(recheck(set, 24, "missing", "error", "missing", "error", "missing").verified).toBe(false);
  });

  test("sets a flag at once", () => {
    expect(recheck(unset, 24, "missing", "verified")).toEqual(set);
  });

  test("a flag is up until three failures follow the last success, whatever came before", () => {
    const status = fc.constantFrom<CheckStatus>("verified", "missing", "mismatch", "error");
    fc.assert(
      fc.property(fc.array(status), (statuses) => {
        const answers = statuses.filter((one) => one !== "error");
        const failuresAtTheEnd = answers.length - 1 - answers.lastIndexOf("verified");
        expect(recheck(set, 24, ...statuses).verified).toBe(failuresAtTheEnd < 3);
      }),
    );
  });
});
