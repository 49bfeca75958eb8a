/**
 * Commits one batch of drafts: usually in one round trip, otherwise step by step, so that each caller gets the error of its
 * own message.
 */
import sql from "sql-template-tag";
import { maySendAsAllSql, maySendAsEach, type SenderQuestion } from "#identity/may-send-as.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { type ApiError, invalid } from "#platform/errors.ts";
import { takenOver, updateAnswers } from "#platform/http/idempotency/idempotency.ts";
import { NOT_VERIFIED } from "#sending/mail-fields.ts";
import { limitOfError } from "#workspace/billing/limit-error.ts";
import type { OnLimit } from "#workspace/billing/log-reached-limits.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import {
  type AnnounceSuppressed,
  ctes,
  type Draft,
  insertDrafts,
  insertsOf,
  nameFor,
} from "./accept-messages-statement.ts";
import { areCoveredSql, findUncovered } from "./take-allowance.ts";

/** Delay before drafts of a locked account are retried. */
export const BUSY_MS = 20;

export interface Waiting {
  /** The drafts of one entry are accepted together or not at all. */
  readonly drafts: readonly Draft[];
  readonly bytes: number;
  /** No commit begins after this time, on the clock of performance.now(). */
  readonly deadline: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export interface CommitDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  /** Notifies the delivery workers. Must not throw: stored messages would be reported as refused. */
  readonly onCommitted: () => void;
  readonly announceSuppressed?: AnnounceSuppressed;
  /** Called when a message was refused because its workspace's plan and balance do not cover it. */
  readonly onLimit?: OnLimit;
}

export interface Committing extends CommitDeps {
  /** Takes back the drafts whose account another transaction has locked. */
  readonly retry: (waiting: readonly Waiting[]) => void;
}

/**
 * Resolves, rejects or retries every entry of the batch; never throws.
 * @returns how many entries are resolved in the next turn of the event loop. Answering them takes some milliseconds, and
 * the database should work on the next batch meanwhile.
 */
export async function commit(deps: Committing, batch: readonly Waiting[]): Promise<number> {
  const { db, onCommitted, onLimit, retry } = deps;
  let rest = batch;
  try {
    if (await insertInOneStatement(deps, draftsOf(batch))) {
      setImmediate(() => {
        for (const { resolve } of batch) resolve();
      });
      onCommitted();
      return batch.length;
    }
    rest = await refuseUnverifiedSenders(db, batch);
    if (rest.length === 0) return 0;
    const { refused, busy } = await insertStepwise(deps, rest);
    for (const one of rest) {
      const refusal = refused.get(one);
      if (refusal !== undefined) {
        tellLimit(onLimit, one.drafts, refusal);
        one.reject(refusal);
      } else if (!busy.includes(one)) one.resolve();
    }
    if (busy.length > 0) retry(busy);
    onCommitted();
  } catch (fault) {
    if (rest.length > 1 && isAboutContent(fault)) {
      const middle = Math.ceil(rest.length / 2);
      await commit(deps, rest.slice(0, middle));
      await commit(deps, rest.slice(middle));
    } else for (const { reject } of rest) reject(fault);
  }
  return 0;
}

/** Reports the limit that drafts of one workspace were refused for, if it was one. */
export function tellLimit(onLimit: OnLimit | undefined, drafts: readonly Draft[], refusal: ApiError): void {
  const reached = limitOfError(refusal);
  const [first] = drafts;
  if (reached !== undefined && first !== undefined) onLimit?.(first.message.workspaceId, reached);
}

function draftsOf(waiting: readonly Waiting[]): Draft[] {
  return waiting.flatMap(({ drafts }) => drafts);
}

/** Whether the database rejected a value (SQLSTATE classes 22 and 23), which is the fault of one row of the batch. */
function isAboutContent(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && /^2[23]/.test(String(fault.code));
}

/** Rejects the entries with an unverified sender, with one query for the whole batch, and returns the others. */
async function refuseUnverifiedSenders(db: Queryable, batch: readonly Waiting[]): Promise<Waiting[]> {
  const maySendAs = await maySendAsEach(db, draftsOf(batch).flatMap(sendersOf));
  return batch.filter(({ drafts, reject }) => {
    const refusals = drafts.flatMap((draft) => unverifiedAddress(draft, maySendAs) ?? []);
    if (refusals.length > 0) reject(refusals[0]);
    return refusals.length === 0;
  });
}

/** The addresses of a draft that the workspace must be allowed to send as. */
export function sendersOf({ sender, bouncesTo }: Draft): SenderQuestion[] {
  return [sender, bouncesTo].flatMap((question) => question ?? []);
}

/** The error for the draft's sender or bounce address that the workspace may not send as; null when both are allowed. */
export function unverifiedAddress(
  { sender, bouncesTo }: Draft,
  maySendAs: (question: SenderQuestion) => boolean,
): ApiError | null {
  if (sender && !maySendAs(sender)) {
    const message = `from_email ${sender.address} ${NOT_VERIFIED}`;
    return invalid({ field: "from_email", message });
  }
  if (bouncesTo && !maySendAs(bouncesTo)) {
    const message = `bounce_email ${bouncesTo.address} ${NOT_VERIFIED}`;
    return invalid({ field: "bounce_email", message });
  }
  return null;
}

/**
 * Inserts the drafts that are covered and stores their idempotent answers, in one transaction.
 * @returns the entries that were not inserted. `refused`: not covered, or another request took over the Idempotency-Key
 * and sends the message. `busy`: their account is locked, to be retried.
 */
async function insertStepwise(
  { db, clock, plans, announceSuppressed }: CommitDeps,
  batch: readonly Waiting[],
): Promise<{ readonly refused: ReadonlyMap<Waiting, ApiError>; readonly busy: readonly Waiting[] }> {
  return db.transaction(async (tx) => {
    const now = clock.now();
    const { covered, refused, busy } = await coverEach(tx, plans, batch, now);
    const answers = draftsOf(covered).flatMap(({ idempotency }) =>
      idempotency ? { held: idempotency.held, answer: idempotency.held.answerFor(idempotency.data) } : [],
    );
    const holding = answers.length === 0 ? new Set<string>() : await updateAnswers(tx, answers);
    const isOurs = ({ idempotency }: Draft) => !idempotency || holding.has(idempotency.held.token);
    const ours = covered.filter(({ drafts }) => drafts.every(isOurs));
    await insertDrafts(tx, draftsOf(ours), announceSuppressed, now);
    for (const one of covered.filter(({ drafts }) => !drafts.every(isOurs))) {
      refused.set(one, takenOver());
    }
    return { refused, busy };
  });
}

interface Coverage {
  /** Plan and balance cover these drafts until the transaction ends. */
  readonly covered: readonly Waiting[];
  readonly refused: Map<Waiting, ApiError>;
  readonly busy: readonly Waiting[];
}

async function coverEach(
  tx: Queryable,
  plans: Plans,
  batch: readonly Waiting[],
  now: Date,
): Promise<Coverage> {
  const mails = batch.map(({ drafts }) => drafts.map(({ message }) => message));
  const uncovered = await findUncovered(tx, plans, mails, now);
  const covered: Waiting[] = [];
  const busy: Waiting[] = [];
  const refused = new Map<Waiting, ApiError>();
  for (const [at, one] of batch.entries()) {
    const refusal = uncovered.refused.get(at);
    if (refusal !== undefined) refused.set(one, refusal);
    else if (uncovered.busy.has(at)) busy.push(one);
    else covered.push(one);
  }
  return { covered, refused, busy };
}

/**
 * The usual case: no draft has an Idempotency-Key, all senders are allowed, and all workspaces are far from the limits of
 * their plan. One statement checks this and inserts everything; if the check fails, it inserts nothing and the result is
 * false. If a recipient is suppressed a second statement is needed: without the parts for suppressed messages, the
 * statement costs PostgreSQL a fifth less for a batch of thirty and a third less for one message.
 */
export async function insertInOneStatement(deps: InsertDeps, drafts: readonly Draft[]): Promise<boolean> {
  if (drafts.some(({ idempotency }) => idempotency !== undefined)) return false;
  const mayBePlain = drafts.every(({ message }) => message.submission === undefined);
  const plain = mayBePlain ? await tryOneStatement(deps, drafts, true) : null;
  const answer = plain?.is_suppressed === false ? plain : await tryOneStatement(deps, drafts, false);
  return answer.is_done;
}

type InsertDeps = Pick<CommitDeps, "clock" | "announceSuppressed"> & { readonly db: Queryable };

interface OneStatementResult {
  readonly is_done: boolean;
  /** Whether it is false only because a recipient may be suppressed. */
  readonly is_suppressed: boolean;
}

async function tryOneStatement(
  { db, clock, announceSuppressed }: InsertDeps,
  drafts: readonly Draft[],
  isPlain: boolean,
): Promise<OneStatementResult> {
  const now = clock.now();
  const senders = maySendAsAllSql(drafts.flatMap(sendersOf));
  const covered = areCoveredSql(
    drafts.map(({ message }) => message),
    now,
  );
  const isOpen = sql`may_send and is_wide`;
  const noneIsSuppressed = isPlain
    ? sql`not exists (select from ${ctes.suppressions} where suppression_scope = 'global')`
    : sql`true`;
  const checks = sql`${ctes.senders}, ${ctes.allowances}`;
  const condition = sql`(select ${isOpen} and ${noneIsSuppressed} from ${checks})`;
  const inserts = insertsOf(drafts, { condition, isPlain, announceSuppressed, now });
  const [answer] = await db.rows<OneStatementResult>(
    sql`
      with ${ctes.senders} as materialized (${senders}), ${ctes.allowances} as materialized (${covered}), ${inserts}
      select ${isOpen} and ${noneIsSuppressed} as is_done, ${isOpen} and not ${noneIsSuppressed} as is_suppressed
      from ${checks}`,
    nameFor(drafts, isPlain ? "accept messages" : "accept and check messages"),
  );
  return answer ?? { is_done: false, is_suppressed: false };
}
