/** Plans, subscription, balance and ledger over HTTP. Money is decimal strings in US dollars. */
import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { storeResponseIn } from "#platform/http/idempotency/idempotency.ts";
import { choiceField, idField, pageFields } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/paging.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { CanceledSubscription, Subscription as SubscriptionRow } from "./account.ts";
import { gateways, transactionStatuses } from "./ledger-store.ts";
import { getReading, settle } from "./meter.ts";
import { shownMoney } from "./money.ts";
import { offeredPlans, type Plans } from "./plans.ts";
import { standingOf } from "./reading.ts";
import { billing } from "./resource.ts";
import {
  CURRENCY,
  Overview,
  Plan,
  planShape,
  SubscriptionAnswer,
  SubscriptionInput,
  subscriptionShape,
  Transaction,
  transactionShape,
  Usage,
} from "./shapes.ts";
import { storedOf } from "./storage.ts";
import { cancelSubscription, subscribe } from "./subscribe.ts";
import { countTransactions, listCharges, listTransactions, spentSince } from "./transaction-store.ts";
import { transactionLines } from "./transactions-file.ts";
import { capacityOf, remainingOf } from "./usage.ts";

/** Below it the balance is called low: the price of a thousand emails beyond the allowance, and some. */
const LOW_BALANCE = 1;
const RECENT_CHARGES = 20;

const filterFields = {
  status: choiceField(transactionStatuses, "Only those in this state."),
  gateway: choiceField(gateways, "Only those that came through this payment provider."),
  before: idField(
    "Only those older than the transaction with this id: with the last one of a page, the first page of what follows is the next one, whatever has come meanwhile.",
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
  const shown = (row: SubscriptionRow | CanceledSubscription) => subscriptionShape(row, plans);
  return [
    endpoint({
      id: "getBillingOverview",
      method: "GET",
      path: "/billing/overview",
      summary: "Balance, plan, what is left of the month's emails, and what is stored",
      needs: read,
      answer: Overview,
      message: "Billing overview",
      handle: async ({ caller }) => overviewOf(db, plans, caller.workspaceId, clock.now()),
    }),
    endpoint({
      id: "getBillingUsage",
      method: "GET",
      path: "/billing/usage",
      summary: "What was spent this month, and the newest charges",
      needs: read,
      answer: Usage,
      message: "Billing usage",
      async handle({ caller: { workspaceId } }) {
        const now = clock.now();
        // What was noted lately goes into the ledger first.
        const { account, plan } = await db.transaction((tx) => settle(tx, plans, workspaceId, now));
        const monthStart = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
        const [this_month, recent_charges] = await Promise.all([
          spentSince(db, workspaceId, monthStart),
          listCharges(db, workspaceId, RECENT_CHARGES),
        ]);
        return {
          balance: shownMoney(account.balance),
          plan: planShape(plan),
          this_month: {
            email: shownMoney(this_month.email),
            validation: shownMoney(this_month.validation),
            subscription: shownMoney(this_month.subscription),
          },
          recent_charges: recent_charges.map((charge) => ({
            ...charge,
            unit_rate: charge.unit_rate && shownMoney(charge.unit_rate),
            amount: shownMoney(charge.amount),
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
        const { account } = await getReading(db, plans, caller.workspaceId, clock.now());
        return { subscription: account.subscription && shown(account.subscription) };
      },
    }),
    endpoint({
      id: "listPlans",
      method: "GET",
      path: "/billing/plans",
      summary: "Plans that can be subscribed to",
      needs: read,
      answer: Type.Array(Plan),
      message: "Plans",
      handle: async () => offeredPlans.map((id) => planShape(plans[id])),
    }),
    endpoint({
      id: "subscribe",
      method: "POST",
      path: "/billing/subscription",
      summary:
        "Subscribe, or change plan or interval: at once, the price difference is taken from the balance",
      needs: write,
      body: SubscriptionInput,
      answer: SubscriptionAnswer,
      message: ({ subscription }) => `Subscribed to ${subscription?.plan.name}`,
      idempotent: true,
      openWhileSuspended: true,
      errors: ["BAD_REQUEST", "CONFLICT", "INSUFFICIENT_BALANCE"],
      handle: ({ caller, body: { plan_id, billing_interval }, idempotency }) =>
        db.transaction(async (tx) => {
          const wish = { plan_id, billing_interval };
          const next = await subscribe(tx, plans, caller.workspaceId, wish, clock.now());
          return storeResponseIn(tx, idempotency, { subscription: shown(next) });
        }),
    }),
    endpoint({
      id: "cancelSubscription",
      method: "POST",
      path: "/billing/subscription/cancel",
      summary: "End the subscription with its current period",
      needs: write,
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
      answer: pageOf("transactions", Transaction),
      message: "Transactions",
      async handle({ caller: { workspaceId }, query }) {
        const [transactions, total] = await Promise.all([
          listTransactions(db, workspaceId, query, { limit: query.limit, offset: offsetOf(query) }),
          countTransactions(db, workspaceId, query),
        ]);
        return { transactions: transactions.map(transactionShape), pagination: pagination(query, total) };
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
  const reading = await getReading(db, plans, workspaceId, now);
  const { account, plan, period, used } = reading;
  const allowance = plan.allowances.email;
  const emails_used = Math.max(0, used.email);
  const standing = { ...standingOf(reading, "email"), used: emails_used };
  return {
    balance: shownMoney(account.balance),
    currency: CURRENCY,
    plan: { id: plan.id, name: plan.name },
    subscription_status: account.subscription?.status ?? null,
    email_allowance: allowance,
    emails_used,
    emails_remaining: remainingOf(standing),
    period_start: period.start,
    period_end: period.end,
    storage: await storedOf(db, plan, workspaceId),
    // A cap of the hour is no matter of money.
    low_balance: standing.isPaying && capacityOf(standing) !== null && Number(account.balance) < LOW_BALANCE,
  };
}
