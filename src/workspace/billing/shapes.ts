/** Shapes of plans, subscription, overview, usage and transactions in answers. */
import { type Static, Type } from "typebox";
import { Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { planNames } from "#workspace/workspaces/workspace.ts";
import { formatMoney } from "./format-money.ts";
import { gateways, transactionStatuses, transactionTypes } from "./ledger-store.ts";
import { billingIntervals } from "./periods.ts";
import { type CanceledSubscription, type Subscription, subscriptionStatuses } from "./plan-of-account.ts";
import { type Plan, type Plans, type StorageKind, storageKinds } from "./plans.ts";
import type { TransactionRow } from "./read-ledger-store.ts";

export const CURRENCY = "USD";
const Money = Type.String({ description: "US dollars, an exact decimal." });
const Count = nullable(Type.Integer({ description: "Null is no limit." }));

export const PlanShape = Type.Object(
  {
    id: Type.Enum([...planNames]),
    name: Type.String(),
    description: Type.String(),
    price_monthly: nullable(Money),
    price_yearly: nullable(Money),
    currency: Type.Literal(CURRENCY),
    billing_intervals: Type.Array(Type.Enum([...billingIntervals])),
    email_allowance: Count,
    validation_allowance: Count,
    blacklist_check_allowance: Count,
    overage_rate: nullable(Money),
    storage: Type.Object({ bytes: Count, subscribers: Count, suppression_entries: Count }),
    hard_stop: Type.Boolean({
      description: "Whether sending stops at the allowance until the workspace has a balance.",
    }),
    is_custom: Type.Boolean({
      description: "By agreement with the operator; cannot be subscribed to over the API.",
    }),
    features: Type.Array(Type.String()),
  },
  { $id: "Plan" },
);

const SubscriptionShape = Type.Object(
  {
    plan_id: Type.Enum([...planNames]),
    status: Type.Enum([...subscriptionStatuses, "canceled"], {
      description: "canceled: only in the answer to a cancellation that ends it at once.",
    }),
    billing_interval: Type.Enum([...billingIntervals]),
    current_period_start: Timestamp,
    current_period_end: Timestamp,
    cancel_at_period_end: Type.Boolean(),
    past_due_since: NullableTimestamp,
    plan: PlanShape,
  },
  { $id: "Subscription" },
);

export const SubscriptionAnswer = Type.Object({ subscription: nullable(SubscriptionShape) });

export const SubscriptionInput = Type.Object(
  {
    plan_id: Type.Enum([...planNames]),
    billing_interval: Type.Optional(
      Type.Enum([...billingIntervals], {
        description: "Omitted: unchanged, or monthly for a new subscription.",
      }),
    ),
  },
  { $id: "SubscriptionInput" },
);

const StoredShape = Type.Object({ used: Type.Integer(), limit: Count });

export const Overview = Type.Object(
  {
    balance: Money,
    currency: Type.Literal(CURRENCY),
    plan: Type.Object({ id: Type.Enum([...planNames]), name: Type.String() }),
    subscription_status: nullable(Type.Enum([...subscriptionStatuses])),
    email_allowance: Count,
    emails_used: Type.Integer(),
    emails_remaining: Count,
    period_start: Timestamp,
    period_end: Timestamp,
    storage: Type.Object(
      Object.fromEntries(storageKinds.map((kind) => [kind, StoredShape])) as Record<
        StorageKind,
        typeof StoredShape
      >,
      {
        description: "Storage in use: bytes of message contents, drafts and job files; and rows.",
      },
    ),
    low_balance: Type.Boolean({
      description: "Whether the balance of a paying workspace is nearly used up.",
    }),
  },
  { $id: "BillingOverview" },
);

export const Usage = Type.Object(
  {
    balance: Money,
    plan: PlanShape,
    this_month: Type.Object({ email: Money, validation: Money, subscription: Money }),
    recent_charges: Type.Array(
      Type.Object({
        id: Id,
        transaction_type: Type.Enum([...transactionTypes]),
        description: Type.String(),
        quantity: nullable(Type.Integer()),
        unit_rate: nullable(Money),
        amount: Money,
        created_at: Timestamp,
      }),
    ),
  },
  { $id: "BillingUsage" },
);

export const TransactionShape = Type.Object(
  {
    id: Id,
    gateway: nullable(Type.Enum([...gateways])),
    transaction_type: Type.Enum([...transactionTypes]),
    amount: Type.String({ description: "Signed: positive amounts add to the balance." }),
    currency: Type.String(),
    status: Type.Enum([...transactionStatuses]),
    receipt_number: nullable(Type.String({ description: "Null until completed." })),
    description: Type.String(),
    created_at: Timestamp,
  },
  { $id: "Transaction" },
);

export function shownPlan(plan: Plan): Static<typeof PlanShape> {
  const { id, name, description, price_monthly, price_yearly, allowances, rates, features } = plan;
  return {
    id,
    name,
    description,
    price_monthly,
    price_yearly,
    currency: CURRENCY,
    billing_intervals: price_monthly === null ? [] : [...billingIntervals],
    email_allowance: allowances.email,
    validation_allowance: allowances.validation,
    blacklist_check_allowance: allowances.blacklist_check,
    overage_rate: rates.email,
    storage: plan.storage,
    hard_stop: id === "free",
    is_custom: price_monthly === null,
    features: [...features],
  };
}

export function shownSubscription(
  row: Subscription | CanceledSubscription,
  plans: Plans,
): Static<typeof SubscriptionShape> {
  const { plan_id, status, billing_interval, cancel_at_period_end, past_due_since } = row;
  const { current_period_start, current_period_end } = row;
  const period = { current_period_start, current_period_end };
  const plan = shownPlan(plans[plan_id]);
  return { plan_id, status, billing_interval, ...period, cancel_at_period_end, past_due_since, plan };
}

export function shownTransaction(row: TransactionRow): TransactionRow {
  return { ...row, amount: formatMoney(row.amount) };
}
