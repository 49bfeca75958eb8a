/**
 * A second, simple implementation of billing for the ledger simulation: it charges unit by unit, counts money in
 * millionths of a dollar, and finds months by counting. It shares no code with the product, so that a bug in one of them
 * shows as a difference.
 */

export type Kind = "email" | "validation";
export type PlanId = "free" | "growth" | "scale";
export type Interval = "monthly" | "yearly";

/** Prices in cents, rates in millionths of a dollar. */
export const modelPlans: Readonly<Record<PlanId, { monthly: bigint; allowance: Record<Kind, number> }>> = {
  free: { monthly: 0n, allowance: { email: 6, validation: 3 } },
  growth: { monthly: 3_500n, allowance: { email: 20, validation: 8 } },
  // So many that the workspace is often far from every limit.
  scale: { monthly: 9_500n, allowance: { email: 30_000, validation: 12 } },
};
const rates: Readonly<Record<Kind, bigint>> = { email: 800n, validation: 800n };
const CENT = 10_000n;
const DAY = 86_400_000;

export interface ModelSubscription {
  plan: PlanId;
  interval: Interval;
  status: "active" | "past_due" | "suspended";
  anchor: number;
  start: number;
  end: number;
  isCancelled: boolean;
  since: number | null;
  retry: number | null;
}

/** Usage beyond the greater of `covered` and the plan's allowance is charged. */
interface Meter {
  used: number;
  paid: bigint;
  covered: number;
}

export interface Model {
  balance: bigint;
  isPrepaid: boolean;
  /** The plan set by the operator. */
  plan: PlanId;
  subscription: ModelSubscription | null;
  /** Keys are the kind and the beginning of the period. */
  meters: Map<string, Meter>;
  /** Metered emails that can still be refunded. */
  outstanding: number;
}

export type Operation =
  | { readonly name: "accept"; readonly billable: number; readonly suppressed: number }
  | { readonly name: "step"; readonly wanted: number }
  | { readonly name: "validate"; readonly wanted: number }
  | { readonly name: "giveBack"; readonly quantity: number }
  | { readonly name: "topUp"; readonly cents: number }
  | { readonly name: "subscribe"; readonly plan: PlanId; readonly interval: Interval | undefined }
  | { readonly name: "cancel" }
  | { readonly name: "setPlan"; readonly plan: PlanId }
  | { readonly name: "renew" }
  | { readonly name: "read" };

export function newModel(): Model {
  return {
    balance: 0n,
    isPrepaid: false,
    plan: "free",
    subscription: null,
    meters: new Map(),
    outstanding: 0,
  };
}

/** Applies the operation and returns the answer that a caller gets. */
export function apply(model: Model, operation: Operation, now: number): string {
  const answer = perform(model, operation, now);
  for (const kind of ["email", "validation"] as const) keepCovered(model, kind, now);
  return answer;
}

/** After a downgrade, unpaid usage of the period stays free, also when it is refunded and used again. */
function keepCovered(model: Model, kind: Kind, now: number): void {
  const meter = meterOf(model, kind, now);
  const free = meter.used - Number(meter.paid / rates[kind]);
  if (free > includedIn(model, kind, now)) meter.covered = free;
}

function perform(model: Model, operation: Operation, now: number): string {
  switch (operation.name) {
    case "accept": {
      const { billable } = operation;
      const tried = structuredClone(model);
      if (take(tried, "email", billable, now) < billable) return refusal(model, now);
      Object.assign(model, tried, { outstanding: model.outstanding + billable });
      return "accepted";
    }
    case "step": {
      const taken = take(model, "email", operation.wanted, now);
      model.outstanding += taken;
      return `took ${taken}`;
    }
    case "validate":
      return `took ${take(model, "validation", operation.wanted, now)}`;
    case "giveBack":
      for (let one = 0; one < operation.quantity; one++) giveBackOne(model, now);
      model.outstanding -= operation.quantity;
      return "done";
    case "topUp":
      model.balance += BigInt(operation.cents) * CENT;
      model.isPrepaid = true;
      payOverdue(model, now);
      return "done";
    case "subscribe":
      return subscribe(model, operation.plan, operation.interval, now);
    case "cancel": {
      const { subscription } = model;
      if (subscription === null) return "NOT_FOUND";
      if (subscription.isCancelled) return "CONFLICT";
      if (subscription.status === "active") subscription.isCancelled = true;
      else model.subscription = null;
      return "done";
    }
    case "setPlan":
      Object.assign(model, { plan: operation.plan, subscription: null });
      return "done";
    case "renew": {
      const { subscription } = model;
      if (subscription === null) return "done";
      const { end, status, retry } = subscription;
      if ((end <= now && status !== "suspended") || (retry !== null && retry <= now))
        pay(model, subscription, now);
      return "done";
    }
    case "read":
      return "done";
  }
}

/** Beginning and end of the allowance's period. */
export function allowancePeriod(model: Model, now: number): [number, number] {
  const subscription = inForce(model, now);
  if (subscription !== null) return periodOf(subscription.anchor, 1, now);
  const date = new Date(now);
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  return [month, addMonths(month, 1)];
}

export function meterOf(model: Model, kind: Kind, now: number): Meter {
  const key = `${kind} ${allowancePeriod(model, now)[0]}`;
  const meter = model.meters.get(key) ?? { used: 0, paid: 0n, covered: 0 };
  model.meters.set(key, meter);
  return meter;
}

/** The allowance of the period: that of the plan, or more if a bigger plan has covered more. */
export function includedIn(model: Model, kind: Kind, now: number): number {
  return Math.max(
    modelPlans[inForce(model, now)?.plan ?? model.plan].allowance[kind],
    meterOf(model, kind, now).covered,
  );
}

function isPayingIn(model: Model, now: number): boolean {
  return model.isPrepaid || (inForce(model, now)?.plan ?? model.plan) !== "free";
}

function inForce({ subscription }: Model, now: number): ModelSubscription | null {
  if (subscription === null || subscription.status === "suspended") return null;
  return subscription.isCancelled && subscription.end <= now ? null : subscription;
}

function take(model: Model, kind: Kind, wanted: number, now: number): number {
  const meter = meterOf(model, kind, now);
  const included = includedIn(model, kind, now);
  const isPaying = isPayingIn(model, now);
  for (let taken = 0; taken < wanted; taken++) {
    if (meter.used - Number(meter.paid / rates[kind]) >= included) {
      if (!isPaying || model.balance < rates[kind]) return taken;
      model.balance -= rates[kind];
      meter.paid += rates[kind];
    }
    meter.used += 1;
  }
  return wanted;
}

function giveBackOne(model: Model, now: number): void {
  const meter = meterOf(model, "email", now);
  if (meter.used > includedIn(model, "email", now)) {
    model.balance += rates.email;
    meter.paid -= rates.email;
    if (meter.paid < 0n) throw new Error("a refund exceeds the payment");
  }
  meter.used -= 1;
}

function refusal(model: Model, now: number): string {
  return isPayingIn(model, now) ? "INSUFFICIENT_BALANCE" : "PLAN_LIMIT_REACHED";
}

function subscribe(model: Model, plan: PlanId, wish: Interval | undefined, now: number): string {
  const current = model.subscription;
  if (current === null && model.plan !== "free") return "CONFLICT";
  const interval = wish ?? current?.interval ?? "monthly";
  const isActive = current !== null && current.status === "active";
  if (isActive && !current.isCancelled && current.plan === plan && current.interval === interval) {
    return "CONFLICT";
  }
  const isPaid = isActive && current.end > now;
  if (isPaid && current.interval === "yearly" && interval === "monthly") return "CONFLICT";
  const next: ModelSubscription = {
    plan,
    interval,
    status: "active",
    anchor: now,
    start: now,
    end: addMonths(now, monthsOf(interval)),
    isCancelled: false,
    since: null,
    retry: null,
  };
  let cents = priceOf(plan, interval);
  if (isPaid) {
    const [whole, left] = [BigInt(current.end - current.start), BigInt(current.end - now)];
    const credit = priceOf(current.plan, current.interval) * left;
    const isSameInterval = current.interval === interval;
    const asked = cents * (isSameInterval ? left : whole) - credit;
    cents = asked <= 0n ? 0n : (2n * asked + whole) / (2n * whole);
    if (isSameInterval)
      Object.assign(next, { anchor: current.anchor, start: current.start, end: current.end });
  }
  if (model.balance < cents * CENT) return "INSUFFICIENT_BALANCE";
  model.balance -= cents * CENT;
  model.subscription = next;
  return "done";
}

function payOverdue(model: Model, now: number): void {
  const { subscription } = model;
  if (subscription === null || subscription.status === "active") return;
  if (model.balance < priceOf(subscription.plan, subscription.interval) * CENT) return;
  if (subscription.status === "suspended") subscription.anchor = now;
  pay(model, subscription, now);
}

function pay(model: Model, subscription: ModelSubscription, now: number): void {
  if (subscription.isCancelled && subscription.end <= now) {
    model.subscription = null;
    return;
  }
  const [start, end] = periodOf(subscription.anchor, monthsOf(subscription.interval), now);
  Object.assign(subscription, { start, end });
  const price = priceOf(subscription.plan, subscription.interval) * CENT;
  if (model.balance >= price) {
    model.balance -= price;
    Object.assign(subscription, { status: "active", since: null, retry: null });
    return;
  }
  subscription.since ??= now;
  const isGivenUp = now - subscription.since >= 7 * DAY;
  subscription.status = isGivenUp ? "suspended" : "past_due";
  subscription.retry = isGivenUp ? null : now + DAY;
}

function priceOf(plan: PlanId, interval: Interval): bigint {
  return modelPlans[plan].monthly * BigInt(monthsOf(interval));
}

function monthsOf(interval: Interval): number {
  return interval === "monthly" ? 1 : 12;
}

function periodOf(anchor: number, months: number, now: number): [number, number] {
  let count = 0;
  while (addMonths(anchor, (count + 1) * months) <= now) count += 1;
  return [addMonths(anchor, count * months), addMonths(anchor, (count + 1) * months)];
}

/** The same day and time in UTC so many months later; the last day of the month if it has no such day. */
function addMonths(time: number, months: number): number {
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay)) + (time % DAY);
}
