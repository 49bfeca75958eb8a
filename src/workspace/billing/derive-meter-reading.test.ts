import fc from "fast-check";
import { expect, test } from "vitest";
import {
  afterUse,
  type MeterReading,
  type MeterRow,
  meterReadingOf,
  quotaOf,
} from "./derive-meter-reading.ts";
import type { Account } from "./plan-of-account.ts";
import { type MeterKind, type Plans, plans as realPlans } from "./plans.ts";

const now = new Date("2026-03-15T12:34:56Z");
const KIND: MeterKind = "email";
const BALANCE = 1_000;
const allowances = { free: 3, growth: 10, scale: 25 } as const;
type Name = keyof typeof allowances;
const names = Object.keys(allowances) as Name[];
/** A dollar for each beyond. */
const plans: Plans = {
  ...realPlans,
  ...Object.fromEntries(
    names.map((name) => [
      name,
      {
        ...realPlans[name],
        allowances: { ...realPlans[name].allowances, email: allowances[name] },
        rates: { ...realPlans[name].rates, email: "1" },
      },
    ]),
  ),
};

interface Move {
  readonly plan: Name;
  readonly taken: number;
  readonly back: number;
}

/** The meter after each move, read from its row every time, as the database keeps it. */
function meterAfter(moves: readonly Move[]): MeterReading[] {
  let row: MeterRow = { kind: KIND, used: 0, paid: "0", covered: 0, used_in_hour: 0 };
  let balance = String(BALANCE);
  return moves.map(({ plan, taken, back }) => {
    const account: Account = { balance, is_prepaid: true, plan, hourly_cap: null, subscription: null };
    const given_back = Math.min(back, row.used + taken);
    const before = meterReadingOf(account, plans, now, [row]);
    const { reading } = afterUse(before, [{ kind: KIND, hour: before.hour, last: now, taken, given_back }]);
    row = {
      kind: KIND,
      used: reading.used.email,
      paid: reading.paid.email,
      covered: reading.covered.email,
      used_in_hour: reading.usedInHour.email,
    };
    balance = reading.account.balance;
    return reading;
  });
}

const quantity = fc.nat({ max: 12 });
/** Either: what is taken and given back in one reading is added up, which is the database tests' affair. */
const use = fc.oneof(
  fc.record({ taken: quantity, back: fc.constant(0) }),
  fc.record({ taken: fc.constant(0), back: quantity }),
);
const anyMoves = fc.array(
  fc.tuple(fc.constantFrom(...names), use).map(([plan, used]) => ({ plan, ...used })),
  { maxLength: 20 },
);

test("over any changes of plan, never more is paid for than once lay beyond an allowance", () => {
  fc.assert(
    fc.property(anyMoves, (moves) => {
      let most = 0;
      for (const [at, reading] of meterAfter(moves).entries()) {
        most = Math.max(most, reading.used.email - allowances[moves[at]?.plan ?? "free"]);
        const paid = Number(reading.paid.email);
        expect(paid).toBeGreaterThanOrEqual(0);
        expect(paid).toBeLessThanOrEqual(most);
        expect(Number(reading.account.balance)).toBe(BALANCE - paid);
      }
    }),
  );
});

test("over any changes of plan, whatever lies beyond what is included is paid for", () => {
  fc.assert(
    fc.property(anyMoves, (moves) => {
      for (const reading of meterAfter(moves)) {
        const { used, allowance } = quotaOf(reading, KIND);
        expect(Number(reading.paid.email)).toBeGreaterThanOrEqual(used - (allowance ?? used));
      }
    }),
  );
});

test("while one plan holds, what was used in the end decides the price, in whatever order it came and went", () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.array(use, { minLength: 1 }), (plan, uses) => {
      const after = meterAfter(uses.map((one) => ({ plan, ...one }))).at(-1);
      expect(Number(after?.paid.email)).toBe(Math.max(0, (after?.used.email ?? 0) - allowances[plan]));
    }),
  );
});

test("what came back under a bigger plan, paid for before, is neither paid back nor paid for again", () => {
  const paid = meterAfter([
    { plan: "growth", taken: 14, back: 0 },
    { plan: "scale", taken: 0, back: 4 },
    { plan: "growth", taken: 4, back: 0 },
    { plan: "growth", taken: 1, back: 0 },
    { plan: "growth", taken: 0, back: 2 },
  ]).map((reading) => Number(reading.paid.email));
  expect(paid).toEqual([4, 4, 4, 5, 3]);
});
