import { describe, expect, test } from "vitest";
import { meterReadingOf } from "./derive-meter-reading.ts";
import { limitError } from "./limit-error.ts";
import type { Account } from "./plan-of-account.ts";
import { type MeterKind, type Plans, plans as realPlans } from "./plans.ts";

const now = new Date("2026-11-25T22:34:56Z");

/** A plan of two emails, one validation and no blacklist check. */
const small: Plans = {
  ...realPlans,
  free: { ...realPlans.free, allowances: { email: 2, validation: 1, blacklist_check: 0 } },
};

function reading(used: number, kind: MeterKind, plans: Plans, settings: Partial<Account> = {}) {
  const account: Account = {
    balance: "0.000500",
    is_prepaid: false,
    plan: "free",
    hourly_cap: 1,
    subscription: null,
    ...settings,
  };
  return meterReadingOf(account, plans, now, [{ kind, used, paid: "0", covered: 0, used_in_hour: used }]);
}

describe("a refusal names the limit, its figure, until when it holds and what to do", () => {
  test.each([
    [
      "hourly_cap",
      "email",
      2,
      1,
      "The hourly cap of 1 email is reached; it resets at 23:00 UTC. The operator of this instance can raise it",
    ],
    [
      "plan_limit_reached",
      "email",
      2,
      1,
      "The plan Free has 2 emails a month, and all are used until 1 December: subscribe to a bigger plan, or top up to pay as you go",
    ],
    [
      "plan_limit_reached",
      "validation",
      1,
      1,
      "The plan Free has 1 validation a month, and it is used until 1 December: subscribe to a bigger plan, or top up to pay as you go",
    ],
    [
      "plan_limit_reached",
      "email",
      1,
      20_000,
      "The plan Free has 2 emails a month, and 1 of them is left until 1 December, fewer than the 20,000 that this takes: subscribe to a bigger plan, or top up to pay as you go",
    ],
    [
      "plan_limit_reached",
      "blacklist_check",
      0,
      1,
      "The plan Free includes no blacklist checks: subscribe to a bigger plan",
    ],
    [
      "insufficient_balance",
      "email",
      2,
      1,
      "The plan Free has 2 emails a month, and all are used until 1 December; the balance of 0.0005 USD does not cover this at 0.0008 USD for each email more: top up",
    ],
  ] as const)("%s of %s after %i, for %i more", (refusal, kind, used, wanted, expected) => {
    expect(limitError(refusal, reading(used, kind, small), kind, now, wanted).message).toBe(expected);
  });

  test("large figures are written with separators", () => {
    const full = reading(3_000, "email", realPlans);
    expect(limitError("plan_limit_reached", full, "email", now).message).toMatch(
      /^The plan Free has 3,000 emails/,
    );
    const capped = reading(0, "email", realPlans, { hourly_cap: 20_000 });
    expect(limitError("hourly_cap", capped, "email", now)).toMatchObject({
      message: expect.stringContaining("The hourly cap of 20,000 emails is reached"),
      headers: { "Retry-After": "1504" },
    });
  });
});
