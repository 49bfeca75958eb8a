/**
 * One seed of the ledger simulation: operations by chance on a workspace of its own, with crashes and with two
 * sessions at once, each followed by a look at the books beside the model (ledger-model.ts).
 */
import { isDeepStrictEqual } from "node:util";
import sql from "sql-template-tag";
import { type MovedMessage, unclassified } from "../../src/messages/outcome.ts";
import type { Database, Queryable, Transaction } from "../../src/platform/database/pool.ts";
import { ApiError } from "../../src/platform/errors.ts";
import { asWorkspaceId, newId, type WorkspaceId } from "../../src/platform/ids.ts";
import { createAcceptor } from "../../src/sending/accept.ts";
import { coveredOf, takeMadeSql } from "../../src/sending/allowance.ts";
import { giveBack } from "../../src/sending/give-back.ts";
import { getReading, settle, takeUpTo } from "../../src/workspace/billing/meter.ts";
import { type Plan, type Plans, plans as realPlans } from "../../src/workspace/billing/plans.ts";
import { cancelSubscription, renewSubscription, subscribe } from "../../src/workspace/billing/subscribe.ts";
import { topUp } from "../../src/workspace/billing/top-up.ts";
import { changeWorkspace } from "../../src/workspace/workspaces/change.ts";
import { draft } from "../support/drafts.ts";
import {
  allowancePeriod,
  apply,
  type Kind,
  type Model,
  meterOf,
  modelPlans,
  newModel,
  type Operation,
  type PlanId,
} from "./ledger-model.ts";
import { type Random, randomFrom } from "./random.ts";

/** The product's plans, with allowances that are used up quickly. */
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

const beginnings = [
  "2026-01-31T10:20:30.456Z",
  "2026-02-27T23:59:59.999Z",
  "2024-01-31T00:00:00.000Z",
  "2024-02-29T12:34:56.789Z",
  "2025-12-31T23:30:00.000Z",
  "2026-03-29T00:59:59.000Z",
  "2026-06-15T08:00:00.000Z",
];
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SUPPRESSED = "gone@blocked.test";
/** A transaction that is to crash does so before one of its first statements, or not at all. */
const MOST_STATEMENTS = 9;

class Crash extends Error {}

interface Session {
  readonly db: Database;
  readonly workspaceId: WorkspaceId;
  readonly now: Date;
}

/** @throws an error that says what differed, and after which operations */
export async function runLedgerSeed(db: Database, seed: number, steps: number): Promise<void> {
  const random = randomFrom(seed);
  const workspaceId = await insertWorkspace(db);
  let model = newModel();
  let now = new Date(random.pick(beginnings));
  const story: string[] = [];
  try {
    for (const operation of opening(random)) {
      story.push(`${now.toISOString()} ${told(operation)}`);
      const answer = await perform({ db, workspaceId, now }, operation);
      agree(apply(model, operation, now.getTime()), answer, "the answer");
    }
    for (let step = 0; step < steps; step++) {
      now = advance(model, now, random);
      const session = { db, workspaceId, now };
      const operation = choose(model, random);
      const kind = random.between(1, 10);
      if (kind === 1) {
        const statement = random.between(1, MOST_STATEMENTS);
        story.push(`${now.toISOString()} crash at ${statement}: ${told(operation)}`);
        model = await crash(session, model, operation, statement);
      } else if (kind <= 3) {
        const other = choose({ ...model, outstanding: model.outstanding - givenBack(operation) }, random);
        story.push(`${now.toISOString()} at once: ${told(operation)} and ${told(other)}`);
        model = await atOnce(session, model, [operation, other]);
      } else {
        story.push(`${now.toISOString()} ${told(operation)}`);
        agree(apply(model, operation, now.getTime()), await perform(session, operation), "the answer");
      }
      agree(stateOf(model, now), await booksOf(session), "the books");
    }
  } catch (fault) {
    throw new Error(
      `seed ${seed}: ${fault instanceof Error ? fault.message : String(fault)}\n${story.join("\n")}`,
      {
        cause: fault,
      },
    );
  }
}

async function insertWorkspace(db: Database): Promise<WorkspaceId> {
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

/** Most stories begin with money, and with something that it is used for. */
function opening(random: Random): Operation[] {
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

/** Often nothing; else a little, to the edge of a period, or over several. */
function advance(model: Model, now: Date, random: Random): Date {
  if (random.between(0, 1) === 0) return now;
  const end = model.subscription?.end ?? allowancePeriod(model, now.getTime())[1];
  const toEnd = Math.max(0, end - now.getTime());
  const isOwing = model.subscription?.status === "past_due";
  const edge = isOwing ? [DAY, 7 * DAY - 1, 7 * DAY, 7 * DAY] : [toEnd - 1, toEnd, toEnd, toEnd + 1];
  const leaps = [...edge, 1, 1_000, HOUR, DAY, DAY, 7 * DAY, 32 * DAY, 100 * DAY];
  return new Date(now.getTime() + Math.max(0, random.pick(leaps)));
}

function choose({ outstanding, subscription }: Model, random: Random): Operation {
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

function givenBack(operation: Operation): number {
  return operation.name === "giveBack" ? operation.quantity : 0;
}

function told({ name, ...rest }: Operation): string {
  return `${name} ${JSON.stringify(rest)}`;
}

/** Does it to the product, and says what the caller hears. */
async function perform({ db, workspaceId, now }: Session, operation: Operation): Promise<string> {
  const within = (work: (tx: Transaction) => Promise<unknown>) => db.transaction(work);
  try {
    switch (operation.name) {
      case "accept": {
        const { billable, suppressed } = operation;
        const to = [...Array(suppressed).fill(SUPPRESSED), ...Array(billable).fill("ada@taken.test")];
        if (to.length === 0) return "accepted";
        const acceptor = createAcceptor({ db, clock: { now: () => now }, plans, onCommitted: () => {} });
        // What was made before midnight may be accepted after it.
        const createdAt = new Date(now.getTime() - 1);
        await acceptor.acceptTogether(to.map((address) => draft(workspaceId, address, { createdAt })));
        return "accepted";
      }
      case "step":
        return await db.transaction(async (tx) => {
          const { covered } = await coveredOf(tx, plans, workspaceId, operation.wanted, now);
          await tx.run(sql`
            with mail as (select from generate_series(1, ${covered}::int)),
              meter as (${takeMadeSql(workspaceId, now)}) select`);
          return `took ${covered}`;
        });
      case "validate":
        return await db.transaction(async (tx) => {
          const { taken } = await takeUpTo(tx, plans, workspaceId, "validation", operation.wanted, now);
          return `took ${taken}`;
        });
      case "giveBack": {
        const moved = Array.from({ length: operation.quantity }, () => unsent(workspaceId, now));
        await within((tx) => giveBack(tx, moved, now));
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
        await changeWorkspace(
          db,
          workspaceId,
          { plan: operation.plan },
          { clock: { now: () => now }, plans },
        );
        return "done";
      case "renew":
        await within((tx) => renewSubscription(tx, plans, workspaceId, now));
        return "done";
      case "read":
        await within((tx) => settle(tx, plans, workspaceId, now));
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

/** All of it has happened, or nothing. */
async function crash(
  session: Session,
  model: Model,
  operation: Operation,
  statement: number,
): Promise<Model> {
  try {
    const answer = await perform({ ...session, db: crashing(session.db, statement) }, operation);
    agree(apply(model, operation, session.now.getTime()), answer, "the answer");
  } catch (fault) {
    if (!(fault instanceof Crash)) throw fault;
  }
  return model;
}

/** The database, until the given statement: what is open then is rolled back. */
function crashing(db: Database, statement: number): Database {
  let left = statement;
  const counted = (of: Queryable): Queryable => {
    const step = async <Result>(run: () => Promise<Result>): Promise<Result> => {
      left -= 1;
      if (left <= 0) throw new Crash();
      return run();
    };
    return {
      rows: (text, name) => step(() => of.rows(text, name)),
      row: (text) => step(() => of.row(text)),
      run: (text) => step(() => of.run(text)),
    };
  };
  return {
    ...db,
    ...counted(db),
    transaction: (work) => db.transaction((tx) => work({ ...tx, ...counted(tx) })),
  };
}

/** Two sessions: it is as if one had come after the other. */
async function atOnce(session: Session, model: Model, both: readonly [Operation, Operation]): Promise<Model> {
  const answers = await Promise.all(both.map((operation) => perform(session, operation)));
  const books = await booksOf(session);
  const orders = [
    [0, 1],
    [1, 0],
  ] as const;
  const outcomes = orders.map((order) => {
    const tried = structuredClone(model);
    const heard = ["", ""];
    for (const at of order) heard[at] = apply(tried, both[at], session.now.getTime());
    return { tried, heard, books: stateOf(tried, session.now) };
  });
  const fitting = outcomes.find(
    ({ heard, books: expected }) => isDeepStrictEqual(heard, answers) && isDeepStrictEqual(expected, books),
  );
  if (fitting === undefined) {
    const expected = outcomes.map(({ heard, books: state }) => ({ heard, state }));
    throw new Error(`no order explains ${shown({ answers, books })}, but ${shown(expected)}`);
  }
  return fitting.tried;
}

function stateOf(model: Model, now: Date) {
  const { subscription } = model;
  const used = (kind: Kind) => meterOf(model, kind, now.getTime()).used;
  return {
    balance: money(model.balance),
    plan: model.plan,
    used: { email: used("email"), validation: used("validation") },
    subscription: subscription && {
      plan: subscription.plan,
      interval: subscription.interval,
      status: subscription.status,
      start: subscription.start,
      end: subscription.end,
      isCancelled: subscription.isCancelled,
    },
  };
}

function money(micros: bigint): string {
  return `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, "0")}`;
}

/** What the product says; throws where its own figures do not fit together. */
async function booksOf({ db, workspaceId, now }: Session): Promise<ReturnType<typeof stateOf>> {
  const { account, used } = await getReading(db, plans, workspaceId, now);
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
  const { subscription } = account;
  return {
    balance: account.balance,
    plan: account.plan as PlanId,
    used: { email: used.email, validation: used.validation },
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

function agree(expected: unknown, actual: unknown, what: string): void {
  if (!isDeepStrictEqual(expected, actual)) {
    throw new Error(`${what}: ${shown(actual)} instead of ${shown(expected)}`);
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value);
}
