/** Plans, subscription, balance and ledger over HTTP. Money is a decimal string in US dollars. */
import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { storeResponseIn } from "#platform/http/idempotency/idempotency.ts";
import { choiceField, idField, pageFields } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { quotaOf } from "./derive-meter-reading.ts";
import { formatMoney } from "./format-money.ts";
import { gateways, transactionStatuses } from "./ledger-store.ts";
import { getMeterReading, settleAccount } from "./meter.ts";
import { capacityOf, remainingOf } from "./meter-arithmetic.ts";
import { billing } from "./permission.ts";
import type { CanceledSubscription, Subscription } from "./plan-of-account.ts";
import { offeredPlans, type Plans } from "./plans.ts";
import { countTransactions, listCharges, listTransactions, spentSince } from "./read-ledger-store.ts";
import {
  CURRENCY,
  Overview,
  PlanShape,
  SubscriptionAnswer,
  SubscriptionInput,
  shownPlan,
  shownSubscription,
  shownTransaction,
  TransactionShape,
  Usage,
} from "./shapes.ts";
import { storageUsage } from "./storage-limit.ts";
import { cancelSubscription, subscribe } from "./subscribe.ts";
import { transactionLines } from "./transactions-csv.ts";

/** A balance below this is reported as low: about 1,250 emails beyond the allowance. */
const LOW_BALANCE = 1;
const RECENT_CHARGES = 20;

const filterFields = {
  status: choiceField(transactionStatuses, "Only transactions with this status."),
  gateway: choiceField(gateways, "Only transactions of this payment provider."),
  before: idField(
    "Only transactions older than the one with this id. Pass the last id of a page to get the next one, unaffected by new transactions.",
  ),
};

export interface BillingDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
}

export function billingEndpoints({ db, clock, plans }: BillingDeps): Endpoint[] {
  const read = need(billing, "read");
  const write = need(billing, "write");
  const shown = (row: Subscription | CanceledSubscription) => shownSubscription(row, plans);
  return [
    endpoint({
      id: "getBillingOverview",
      method: "GET",
      path: "/billing/overview",
      summary: "Balance, plan, remaining emails of the month, and storage used",
      needs: read,
      answer: Overview,
      message: "Billing overview",
      handle: async ({ caller }) => overviewOf(db, plans, caller.workspaceId, clock.now()),
    }),
    endpoint({
      id: "getBillingUsage",
      method: "GET",
      path: "/billing/usage",
      summary: "Spending of this month, and the newest charges",
      needs: read,
      answer: Usage,
      message: "Billing usage",
      async handle({ caller: { workspaceId } }) {
        const now = clock.now();
        // Charges the usage that is metered but not yet in the ledger.
        const { account, plan } = await db.transaction((tx) => settleAccount(tx, plans, workspaceId, now));
        const monthStart = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
        const [this_month, recent_charges] = await Promise.all([
          spentSince(db, workspaceId, monthStart),
          listCharges(db, workspaceId, RECENT_CHARGES),
        ]);
        return {
          balance: formatMoney(account.balance),
          plan: shownPlan(plan),
          this_month: {
            email: formatMoney(this_month.email),
            validation: formatMoney(this_month.validation),
            subscription: formatMoney(this_month.subscription),
          },
          recent_charges: recent_charges.map((charge) => ({
            ...charge,
            unit_rate: charge.unit_rate && formatMoney(charge.unit_rate),
            amount: formatMoney(charge.amount),
          })),
        };
      },
    }),
    endpoint({
      id: "getSubscription",
      method: "GET",
      path: "/billing/subscription",
      summary: "The subscription; null on pay as you go",
      needs: read,
      answer: SubscriptionAnswer,
      message: "Subscription",
      async handle({ caller }) {
        const { account } = await getMeterReading(db, plans, caller.workspaceId, clock.now());
        return { subscription: account.subscription && shown(account.subscription) };
      },
    }),
    endpoint({
      id: "listPlans",
      method: "GET",
      path: "/billing/plans",
      summary: "Plans that can be subscribed to",
      needs: read,
      answer: Type.Array(PlanShape),
      message: "Plans",
      handle: async () => offeredPlans.map((id) => shownPlan(plans[id])),
    }),
    endpoint({
      id: "subscribe",
      method: "POST",
      path: "/billing/subscription",
      summary:
        "Subscribe, or change plan or interval; applies at once, and the price difference is taken from the balance",
      needs: write,
      confirmed: true,
      body: SubscriptionInput,
      answer: SubscriptionAnswer,
      message: ({ subscription }) => `Subscribed to ${subscription?.plan.name}`,
      idempotent: true,
      openWhileSuspended: true,
      errors: ["BAD_REQUEST", "CONFLICT", "INSUFFICIENT_BALANCE"],
      handle: ({ caller, body: { plan_id, billing_interval }, idempotency }) =>
        db.transaction(async (tx) => {
          const request = { plan_id, billing_interval };
          const next = await subscribe(tx, plans, caller.workspaceId, request, clock.now());
          return storeResponseIn(tx, idempotency, { subscription: shown(next) });
        }),
    }),
    endpoint({
      id: "cancelSubscription",
      method: "POST",
      path: "/billing/subscription/cancel",
      summary: "Cancel the subscription at the end of its current period",
      needs: write,
      confirmed: true,
      answer: SubscriptionAnswer,
      message: ({ subscription }) =>
        `The subscription ends on ${subscription?.current_period_end.toISOString().slice(0, 10)}`,
      openWhileSuspended: true,
      errors: ["CONFLICT", "NOT_FOUND"],
      async handle({ caller }) {
        const next = await db.transaction((tx) =>
          cancelSubscription(tx, plans, caller.workspaceId, clock.now()),
        );
        return { subscription: shown(next) };
      },
    }),
    endpoint({
      id: "listTransactions",
      method: "GET",
      path: "/billing/transactions",
      summary: "The ledger, newest first",
      needs: read,
      query: { ...pageFields(), ...filterFields },
      answer: pageOf("transactions", TransactionShape),
      message: "Transactions",
      async handle({ caller: { workspaceId }, query }) {
        const [transactions, total] = await Promise.all([
          listTransactions(db, workspaceId, query, { limit: query.limit, offset: offsetOf(query) }),
          countTransactions(db, workspaceId, query),
        ]);
        return { transactions: transactions.map(shownTransaction), pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "exportTransactions",
      method: "GET",
      path: "/billing/transactions/export",
      mayTakeLong: "reading",
      summary: "The ledger as a CSV file",
      needs: read,
      query: filterFields,
      answer: fileShape("text/csv", "One row a transaction, newest first."),
      handle: async ({ caller, query }) => {
        const name = `transactions-${clock.now().toISOString().slice(0, 10)}.csv`;
        return new FileAnswer(name, Readable.from(transactionLines(db, caller.workspaceId, query)));
      },
    }),
  ];
}

async function overviewOf(
  db: Database,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<Static<typeof Overview>> {
  const reading = await getMeterReading(db, plans, workspaceId, now);
  const { account, plan, period, used } = reading;
  const allowance = plan.allowances.email;
  const emails_used = Math.max(0, used.email);
  const quota = { ...quotaOf(reading, "email"), used: emails_used };
  return {
    balance: formatMoney(account.balance),
    currency: CURRENCY,
    plan: { id: plan.id, name: plan.name },
    subscription_status: account.subscription?.status ?? null,
    email_allowance: allowance,
    emails_used,
    emails_remaining: remainingOf(quota),
    period_start: period.start,
    period_end: period.end,
    storage: await storageUsage(db, plan, workspaceId),
    // The hourly cap is not a matter of money, so it is not counted here.
    low_balance: quota.isPaying && capacityOf(quota) !== null && Number(account.balance) < LOW_BALANCE,
  };
}
