/** The product's side of the ledger simulation: runs operations as callers do, and reads the figures. */

import sql from "sql-template-tag";
import { type MovedMessage, unclassified } from "#messages/message/outcome.ts";
import type { Database, Transaction } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { asWorkspaceId, newId, type WorkspaceId } from "#platform/ids.ts";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import { refundUnsent } from "#sending/acceptance/refund-store.ts";
import { coveredByAllowance, takeBulkMailSql } from "#sending/acceptance/take-allowance.ts";
import { stubClock } from "#test/support/clock.ts";
import { draft } from "#test/support/drafts.ts";
import { quotaOf } from "#workspace/billing/derive-meter-reading.ts";
import { getMeterReading, settleAccount, takeUpTo } from "#workspace/billing/meter.ts";
import { type Plan, type Plans, plans as realPlans } from "#workspace/billing/plans.ts";
import { cancelSubscription, renewSubscription, subscribe } from "#workspace/billing/subscribe.ts";
import { topUp } from "#workspace/billing/top-up.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import type { Books } from "./ledger-books.ts";
import { type Kind, modelPlans, type Operation, type PlanId } from "./ledger-model.ts";

/** The product's plans with small allowances. */
const withAllowances = (id: PlanId): Plan => ({
  ...realPlans[id],
  allowances: { ...realPlans[id].allowances, ...modelPlans[id].allowance },
});
const plans: Plans = {
  ...realPlans,
  free: withAllowances("free"),
  growth: withAllowances("growth"),
  scale: withAllowances("scale"),
};

const SUPPRESSED = "gone@blocked.test";

export interface Session {
  readonly db: Database;
  readonly workspaceId: WorkspaceId;
  readonly now: Date;
}

export async function insertWorkspace(db: Database): Promise<WorkspaceId> {
  const id = asWorkspaceId(newId());
  const listId = newId();
  await db.run(sql`
    with workspace as (insert into workspaces (id, name) values (${id}, 'Simulation')),
      list as (
        insert into suppression_lists (workspace_id, id, name, suppression_scope, created_at, updated_at)
        values (${id}, ${listId}, 'Ours', 'global', now(), now()))
    insert into suppression_entries (workspace_id, suppression_list_id, id, entry_value, normalized_value, entry_type,
      reason, created_by, created_at)
    values (${id}, ${listId}, ${newId()}, ${SUPPRESSED}, ${SUPPRESSED}, 'email', 'manual', 'Simulation', now())`);
  return id;
}

/** Runs the operation in the product and returns the answer that a caller gets. */
export async function perform({ db, workspaceId, now }: Session, operation: Operation): Promise<string> {
  const within = (work: (tx: Transaction) => Promise<unknown>) => db.transaction(work);
  try {
    switch (operation.name) {
      case "accept": {
        const { billable, suppressed } = operation;
        const to = [...Array(suppressed).fill(SUPPRESSED), ...Array(billable).fill("ada@taken.test")];
        if (to.length === 0) return "accepted";
        const acceptor = createAcceptor({ db, clock: stubClock(now), plans, onCommitted: () => {} });
        // A draft created before midnight may be accepted after it.
        const createdAt = new Date(now.getTime() - 1);
        await acceptor.acceptTogether(to.map((address) => draft(workspaceId, address, { createdAt })));
        return "accepted";
      }
      case "step":
        return await db.transaction(async (tx) => {
          const { covered } = await coveredByAllowance(tx, plans, workspaceId, operation.wanted, now);
          await tx.run(sql`
            with mail as (select from generate_series(1, ${covered}::int)),
              meter as (${takeBulkMailSql(sql`mail`, workspaceId, now)}) select`);
          return `took ${covered}`;
        });
      case "validate":
        return await db.transaction(async (tx) => {
          const { taken } = await takeUpTo(tx, plans, workspaceId, "validation", operation.wanted, now);
          return `took ${taken}`;
        });
      case "giveBack": {
        const moved = Array.from({ length: operation.quantity }, () => unsent(workspaceId, now));
        await within((tx) => refundUnsent(tx, moved, now));
        return "done";
      }
      case "topUp": {
        const money = {
          amount: (operation.cents / 100).toFixed(2),
          gateway: "manual",
          description: "",
        } as const;
        await within((tx) => topUp(tx, plans, workspaceId, money, now));
        return "done";
      }
      case "subscribe": {
        const wish = { plan_id: operation.plan, billing_interval: operation.interval };
        await within((tx) => subscribe(tx, plans, workspaceId, wish, now));
        return "done";
      }
      case "cancel":
        await within((tx) => cancelSubscription(tx, plans, workspaceId, now));
        return "done";
      case "setPlan":
        await changeWorkspace(db, workspaceId, { plan: operation.plan }, { clock: stubClock(now), plans });
        return "done";
      case "renew":
        await within((tx) => renewSubscription(tx, plans, workspaceId, now));
        return "done";
      case "read":
        await within((tx) => settleAccount(tx, plans, workspaceId, now));
        return "done";
    }
  } catch (fault) {
    if (fault instanceof ApiError) return fault.code;
    throw fault;
  }
}

function unsent(workspaceId: WorkspaceId, time: Date): MovedMessage {
  return {
    workspaceId,
    messageId: newId(),
    source: "api",
    originId: null,
    originName: "",
    fromEmail: "shop@sender.test",
    isSms: false,
    localpart: "ada",
    domain: "taken.test",
    from: "queued",
    status: "suppressed",
    time,
    attempts: 0,
    nextAttemptAt: null,
    detail: "",
    code: null,
    enhancedCode: null,
    isAddressFault: false,
    ...unclassified,
  };
}

/** The figures of the product. @throws if they contradict each other */
export async function booksOf({ db, workspaceId, now }: Session): Promise<Books> {
  const reading = await getMeterReading(db, plans, workspaceId, now);
  const ledger = await db.row<{ fault: string | null }>(sql`
    select concat_ws(', ',
      case when coalesce(max(a.balance), 0) <> coalesce(sum(t.amount) filter (where t.status = 'completed'), 0)
        then 'the balance is not the sum of the ledger' end,
      case when coalesce(max(a.balance), 0) < 0 then 'the balance is below zero' end,
      case when bool_or(t.amount <> 0 and t.amount <> -t.quantity * t.unit_rate and t.transaction_type = 'usage'
          or t.amount <> t.quantity * t.unit_rate and t.transaction_type = 'refund')
        then 'an amount is not quantity times rate' end,
      case when count(distinct t.receipt_number) <> count(t.id) then 'a receipt is missing or there twice' end) as fault
    from workspaces w left join billing_accounts a on a.workspace_id = w.id
      left join billing_transactions t on t.workspace_id = w.id
    where w.id = ${workspaceId}`);
  if (ledger?.fault) throw new Error(ledger.fault);
  const { account, used } = reading;
  const { subscription } = account;
  const included = (kind: Kind) => quotaOf(reading, kind).allowance;
  return {
    balance: account.balance,
    plan: account.plan as PlanId,
    used: { email: used.email, validation: used.validation },
    included: { email: included("email"), validation: included("validation") },
    subscription: subscription && {
      plan: subscription.plan_id as PlanId,
      interval: subscription.billing_interval,
      status: subscription.status,
      start: subscription.current_period_start.getTime(),
      end: subscription.current_period_end.getTime(),
      isCancelled: subscription.cancel_at_period_end,
    },
  };
}
