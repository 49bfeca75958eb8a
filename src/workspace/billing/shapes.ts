/** Shapes of plans, subscription, overview, usage and transactions in answers. */
import { type Static, Type } from "typebox";
import { CreatedAt, described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { planNames } from "#workspace/workspaces/workspace.ts";
import { formatMoney } from "./format-money.ts";
import { gateways, transactionStatuses, transactionTypes } from "./ledger-store.ts";
import { billingIntervals } from "./periods.ts";
import { type CanceledSubscription, type Subscription, subscriptionStatuses } from "./plan-of-account.ts";
import { type Plan, type Plans, STORED_CONTENTS, type StorageKind, storageKinds } from "./plans.ts";
import type { TransactionRow } from "./read-ledger-store.ts";

export const CURRENCY = "USD";
const Money = Type.String({ description: "US dollars, an exact decimal." });
const Count = nullable(Type.Integer({ description: "Null is no limit." }));

export const PlanShape = Type.Object(
  {
    id: Type.Enum([...planNames], { description: "The plan, as `plan_id` of a subscription names it." }),
    name: Type.String({ description: "Name for display." }),
    description: Type.String({ description: "One sentence for display." }),
    price_monthly: nullable(
      described(
        Money,
        "Price of a month in US dollars, an exact decimal; null if it cannot be subscribed to by the month.",
      ),
    ),
    price_yearly: nullable(
      described(
        Money,
        "Price of a year in US dollars, an exact decimal; null if it cannot be subscribed to by the year.",
      ),
    ),
    currency: Type.Literal(CURRENCY, { description: "Currency of all prices: US dollars." }),
    billing_intervals: Type.Array(Type.Enum([...billingIntervals]), {
      description: "The intervals in which the plan can be paid.",
    }),
    email_allowance: described(Count, "Emails a month that the plan includes; null is no limit."),
    validation_allowance: described(
      Count,
      "Email validations a month that the plan includes; null is no limit.",
    ),
    blacklist_check_allowance: described(
      Count,
      "Blacklist checks a month that the plan includes; null is no limit.",
    ),
    overage_rate: nullable(
      described(
        Money,
        "Price of one email or validation beyond the allowance in US dollars; null if none can be bought.",
      ),
    ),
    storage: Type.Object(
      {
        bytes: described(Count, `Bytes of ${STORED_CONTENTS}; null is no limit.`),
        subscribers: described(Count, "People of the workspace, each counted once; null is no limit."),
        suppression_entries: described(Count, "Entries of all suppression lists; null is no limit."),
      },
      { description: "How much the workspace may store at one time." },
    ),
    hard_stop: Type.Boolean({
      description: "Whether sending stops at the allowance until the workspace has a balance.",
    }),
    is_custom: Type.Boolean({
      description: "By agreement with the operator; cannot be subscribed to over the API.",
    }),
    features: Type.Array(Type.String(), { description: "What the plan offers, for display." }),
  },
  { $id: "Plan" },
);

const SubscriptionShape = Type.Object(
  {
    plan_id: Type.Enum([...planNames], { description: "The plan that is subscribed to." }),
    status: Type.Enum([...subscriptionStatuses, "canceled"], {
      description: "canceled: only in the answer to a cancellation that ends it at once.",
    }),
    billing_interval: Type.Enum([...billingIntervals], { description: "How often it is paid." }),
    current_period_start: described(Timestamp, "Start of the period that is paid, in UTC."),
    current_period_end: described(
      Timestamp,
      "End of the period that is paid, in UTC; the subscription renews or ends then.",
    ),
    cancel_at_period_end: Type.Boolean({
      description: "Whether it ends with the current period instead of renewing.",
    }),
    past_due_since: nullable(
      described(Timestamp, "Since when a renewal could not be paid; null if everything is paid."),
    ),
    plan: described(PlanShape, "The plan with its allowances and prices."),
  },
  { $id: "Subscription" },
);

export const SubscriptionAnswer = Type.Object({
  subscription: nullable(described(SubscriptionShape, "The subscription; null on pay as you go.")),
});

export const SubscriptionInput = Type.Object(
  {
    plan_id: Type.Enum([...planNames], {
      description: "The plan to subscribe to: one of `GET /billing/plans`.",
    }),
    billing_interval: Type.Optional(
      Type.Enum([...billingIntervals], {
        description: "Omitted: unchanged, or monthly for a new subscription.",
      }),
    ),
  },
  { $id: "SubscriptionInput" },
);

const StoredShape = Type.Object({
  used: Type.Integer({ description: "How much is stored now." }),
  limit: described(Count, "How much the plan allows; null is no limit."),
});

const storageMeanings: Readonly<Record<StorageKind, string>> = {
  bytes: `Bytes of ${STORED_CONTENTS}.`,
  subscribers: "People of the workspace, each counted once.",
  suppression_entries: "Entries of all suppression lists.",
};

export const Overview = Type.Object(
  {
    balance: described(Money, "Prepaid balance in US dollars, an exact decimal."),
    currency: Type.Literal(CURRENCY, { description: "Currency of all amounts: US dollars." }),
    plan: Type.Object(
      {
        id: Type.Enum([...planNames], { description: "The plan, as in `GET /billing/plans`." }),
        name: Type.String({ description: "Its name for display." }),
      },
      { description: "The plan in force." },
    ),
    subscription_status: nullable(
      Type.Enum([...subscriptionStatuses], {
        description: "State of the subscription; null on pay as you go.",
      }),
    ),
    email_allowance: described(Count, "Emails that the plan includes in this period; null is no limit."),
    emails_used: Type.Integer({
      description: "Emails accepted in this period, without those that were returned.",
    }),
    emails_remaining: described(Count, "Emails of the allowance that are left; null is no limit."),
    period_start: described(Timestamp, "Start of the period in which usage counts, in UTC."),
    period_end: described(
      Timestamp,
      "End of the period in which usage counts, in UTC; the allowance starts again then.",
    ),
    storage: Type.Object(
      Object.fromEntries(
        storageKinds.map((kind) => [kind, described(StoredShape, storageMeanings[kind])]),
      ) as Record<StorageKind, typeof StoredShape>,
      {
        description: `Storage in use: bytes of ${STORED_CONTENTS}; and rows.`,
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
    balance: described(Money, "Prepaid balance in US dollars, an exact decimal."),
    plan: described(PlanShape, "The plan in force, with its allowances and prices."),
    this_month: Type.Object(
      {
        email: described(Money, "Charges for emails in US dollars."),
        validation: described(Money, "Charges for validations in US dollars."),
        subscription: described(Money, "Charges for the subscription in US dollars."),
      },
      { description: "What this month has cost, by kind." },
    ),
    recent_charges: Type.Array(
      Type.Object({
        id: described(Id, "Id of the ledger entry."),
        transaction_type: Type.Enum([...transactionTypes], { description: "What was charged." }),
        description: Type.String({ description: "The charge in words, for people." }),
        quantity: nullable(
          Type.Integer({ description: "Number of units charged; null if it is not a charge by number." }),
        ),
        unit_rate: nullable(
          described(Money, "Price of one unit in US dollars; null if it is not a charge by number."),
        ),
        amount: described(Money, "The charge in US dollars, an exact decimal."),
        created_at: CreatedAt,
      }),
      { description: "The newest charges, newest first." },
    ),
  },
  { $id: "BillingUsage" },
);

export const TransactionShape = Type.Object(
  {
    id: described(Id, "Id of the ledger entry."),
    gateway: nullable(
      Type.Enum([...gateways], { description: "How it was paid; null if no payment is behind it." }),
    ),
    transaction_type: Type.Enum([...transactionTypes], { description: "What the entry is for." }),
    amount: Type.String({ description: "Signed: positive amounts add to the balance." }),
    currency: Type.String({ description: "Currency of the amount: `USD`." }),
    status: Type.Enum([...transactionStatuses], {
      description: "State of the entry; only completed ones count in the balance.",
    }),
    receipt_number: nullable(Type.String({ description: "Null until completed." })),
    description: Type.String({ description: "The entry in words, for people." }),
    created_at: CreatedAt,
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
