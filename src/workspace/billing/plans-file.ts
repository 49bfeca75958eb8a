/** Reads PLANS_FILE: the operator's figures replace those of plans.ts. */
import { Big } from "big.js";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { type PlanName, planNames } from "#workspace/workspaces/workspace.ts";
import { type Plan, type Plans, plans } from "./plans.ts";

const closed = { additionalProperties: false };
const line = Type.String({ minLength: 1, maxLength: 200 });
/** US dollars: prices of plans have two decimals, rates up to six. */
const price = Type.Optional(Type.String({ pattern: "^\\d{1,7}\\.\\d{2}$" }));
const amount = (maximum: number) =>
  Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum }), Type.Null()]));
const allowance = amount(1e12);
const rate = Type.Optional(
  Type.Union([Type.String({ pattern: "^(?=.*[1-9])\\d{1,4}(\\.\\d{1,6})?$" }), Type.Null()]),
);

const Change = Type.Object(
  {
    name: Type.Optional(line),
    description: Type.Optional(line),
    features: Type.Optional(Type.Array(line, { maxItems: 20 })),
    allowances: Type.Optional(
      Type.Object({ email: allowance, validation: allowance, blacklist_check: allowance }, closed),
    ),
    rates: Type.Optional(Type.Object({ email: rate, validation: rate, blacklist_check: rate }, closed)),
    storage: Type.Optional(
      Type.Object({ bytes: amount(1e15), subscribers: allowance, suppression_entries: allowance }, closed),
    ),
  },
  closed,
);
/** Free has no price, and that of Enterprise is by agreement. */
const PricedChange = Type.Object({ ...Change.properties, price_monthly: price, price_yearly: price }, closed);
const PlansFile = Type.Object(
  {
    free: Type.Optional(Change),
    growth: Type.Optional(PricedChange),
    scale: Type.Optional(PricedChange),
    enterprise: Type.Optional(Change),
  },
  closed,
);

/**
 * Null changes nothing.
 * @throws an Error for the operator that names the field
 */
export function readPlans(file: unknown): Plans {
  const given = file ?? {};
  if (!Value.Check(PlansFile, given)) {
    const [fault] = Value.Errors(PlansFile, given);
    throw new Error(`PLANS_FILE: ${fault?.instancePath || "/"} ${fault?.message ?? "is wrong"}`);
  }
  const changed = planNames.map((id): [PlanName, Plan] => [id, changedPlan(plans[id], given[id] ?? {})]);
  return { ...plans, ...Object.fromEntries(changed) };
}

function changedPlan(plan: Plan, change: Static<typeof PricedChange>): Plan {
  const allowances = { ...plan.allowances, ...change.allowances };
  const rates = { ...plan.rates, ...change.rates };
  const storage = { ...plan.storage, ...change.storage };
  const hasNewFigures = change.allowances !== undefined || change.rates !== undefined;
  const description = hasNewFigures ? describe(allowances.email, rates.email) : plan.description;
  // Without a price of its own, a year costs twelve months.
  const yearly = change.price_monthly && { price_yearly: new Big(change.price_monthly).times(12).toFixed(2) };
  return { ...plan, description, ...yearly, ...change, allowances, rates, storage };
}

function describe(emails: number | null, rate: string | null): string {
  if (emails === null) return "Emails without a limit.";
  const beyond = rate === null ? "none beyond them" : `$${rate} for each beyond them`;
  return `${emails.toLocaleString("en-US")} emails a month, ${beyond}.`;
}
