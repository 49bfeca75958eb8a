/** Random choices of the ledger simulation: first operations, time steps, and next operations. */
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";
import { allowancePeriod, type Model, type Operation } from "./ledger-model.ts";
import type { Random } from "./random.ts";

/** Shortly before ends of months, of years and of leap days, and before a change to summer time. */
const beginnings = [
  "2026-01-31T10:20:30.456Z",
  "2026-02-27T23:59:59.999Z",
  "2024-01-31T00:00:00.000Z",
  "2024-02-29T12:34:56.789Z",
  "2025-12-31T23:30:00.000Z",
  "2026-03-29T00:59:59.000Z",
  "2026-06-15T08:00:00.000Z",
];

export function beginning(random: Random): Date {
  return new Date(random.pick(beginnings));
}

/** Most runs begin with a top-up and something that uses the balance. */
export function opening(random: Random): Operation[] {
  const cents = random.pick([100, 3_600, 4_000, 7_200, 10_000, 130_000]);
  const plan = random.pick(["growth", "growth", "scale"] as const);
  const begin: readonly Operation[] = [
    { name: "topUp", cents },
    { name: "subscribe", plan, interval: random.pick(["monthly", "monthly", "yearly"]) },
    { name: "step", wanted: random.pick([5, 30, 4_000]) },
    random.pick([
      { name: "cancel" },
      { name: "subscribe", plan: plan === "scale" ? "growth" : "scale", interval: undefined },
    ]),
  ];
  return begin.slice(0, random.between(0, begin.length));
}

/** The next time: often unchanged, otherwise a little later, at the edge of a period, or several periods later. */
export function advance(model: Model, now: Date, random: Random): Date {
  if (random.between(0, 1) === 0) return now;
  const end = model.subscription?.end ?? allowancePeriod(model, now.getTime())[1];
  const toEnd = Math.max(0, end - now.getTime());
  const isOwing = model.subscription?.status === "past_due";
  const edge = isOwing
    ? [DAY_MS, 7 * DAY_MS - 1, 7 * DAY_MS, 7 * DAY_MS]
    : [toEnd - 1, toEnd, toEnd, toEnd + 1];
  const leaps = [...edge, 1, 1_000, HOUR_MS, DAY_MS, DAY_MS, 7 * DAY_MS, 32 * DAY_MS, 100 * DAY_MS];
  return new Date(now.getTime() + Math.max(0, random.pick(leaps)));
}

/** A random operation that is possible in the state of the model. */
export function choose({ outstanding, subscription }: Model, random: Random): Operation {
  const renew: Operation = { name: "renew" };
  if (subscription?.status === "past_due" && random.between(0, 1) === 0) return renew;
  const interval = () => random.pick([["monthly"], ["monthly"], ["yearly"], []] as const)[0];
  const giveBackSome = (): Operation => ({
    name: "giveBack",
    quantity: Math.min(outstanding, random.pick([1, 3, 40, 3_000])),
  });
  const setPlan = (): Operation => ({
    name: "setPlan",
    plan: random.pick(["free", "free", "growth", "scale"] as const),
  });
  if (subscription === null && random.between(0, 3) === 0) return setPlan();
  const operations: readonly (() => Operation)[] = [
    () => ({ name: "accept", billable: random.between(0, 3), suppressed: random.between(0, 1) }),
    () => ({ name: "accept", billable: 1, suppressed: 0 }),
    () => ({ name: "step", wanted: random.pick([1, 5, 30, 4_000, 20_000]) }),
    () => ({ name: "validate", wanted: random.between(1, 6) }),
    giveBackSome,
    giveBackSome,
    () => ({ name: "topUp", cents: random.pick([1, 100, 3_500, 4_000, 9_500, 50_000, 130_000]) }),
    () => ({ name: "subscribe", plan: random.pick(["growth", "scale"] as const), interval: interval() }),
    () => ({ name: "cancel" }),
    () => renew,
    () => renew,
    () => renew,
    () => (random.between(0, 1) === 0 ? { name: "read" } : setPlan()),
  ];
  return random.pick(operations)();
}
