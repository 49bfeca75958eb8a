/**
 * Acceptance: the moment a message becomes ours. Whoever sends (the API, the platform itself, later campaigns and
 * submission) hands in drafts; log row, content and queue row are one statement, one transaction with the answer to an
 * Idempotency-Key, and only after its commit does anybody get a 201. A message whose recipient is suppressed is accepted
 * too, and is over: it stands in the log and never in the queue.
 *
 * Drafts that arrive while a commit is under way go into the next one: micro-batches without a timer, so that a
 * lone message waits for nothing and a flood shares its commits. A row that the database refuses fails alone.
 */
import sql, { type Sql } from "sql-template-tag";
import { entriesFor, verdictOn } from "../audience/suppression-lists/judge.ts";
import { enqueueSql, type Priority } from "../delivery/store.ts";
import { maySendAsAllSql, maySendAsEach, type SenderQuestion } from "../identity/may-send-as.ts";
import { insertMessagesSql, isKept, type NewMessage } from "../messages/store.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Queryable } from "../platform/database/pool.ts";
import { ApiError, invalid, overloaded } from "../platform/errors.ts";
import { type Reservation, updateAnswers } from "../platform/http/idempotency.ts";
import type { Plans } from "../workspace/billing/plans.ts";
import { areCoveredSql, findUncovered, recipientOf, requireOneMore, takeAcceptedSql } from "./allowance.ts";

/** Retried for this long, then given up (mail-practice: 72 h). */
const EXPIRES_AFTER_MS = 72 * 60 * 60 * 1000;

/** Two commits under way keep the disk busy; more only make every one of them later. */
const BATCHES_IN_FLIGHT = 2;
const BATCH_MESSAGES = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Before an account is asked for again that somebody else held. */
const BUSY_MS = 20;

/** Beyond these we say so, instead of letting callers wait for their time-out or running out of memory. */
const LIMITS = { messages: 20_000, bytes: 256 * 1024 * 1024, waitMs: 20_000 };

export interface Draft {
  readonly message: NewMessage;
  readonly priority: Priority;
  /** Who must be allowed to send: null for the platform's own mail. */
  readonly sender: SenderQuestion | null;
  readonly idempotency?: { readonly held: Reservation; readonly data: unknown } | undefined;
}

export interface Acceptor {
  /**
   * Resolves once the message is on disk.
   * @throws ApiError VALIDATION_ERROR when the workspace may not send as that address, PLAN_LIMIT_REACHED or
   * INSUFFICIENT_BALANCE when nothing covers it, CONFLICT when another request took the Idempotency-Key over,
   * RATE_LIMIT_EXCEEDED at the hourly cap, and that or 503 when there is more to accept than we can
   */
  accept(draft: Draft): Promise<void>;
  /** Would it be accepted? @throws ApiError as `accept` does */
  check(draft: Draft): Promise<void>;
}

interface Waiting {
  readonly draft: Draft;
  readonly bytes: number;
  /** When it is too late to begin, on the clock of performance.now(). */
  readonly deadline: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export interface AcceptorDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  /** Tells the delivery workers that there is something to do. */
  readonly onCommitted: () => void;
}

export function createAcceptor(deps: AcceptorDeps, limits: Readonly<typeof LIMITS> = LIMITS): Acceptor {
  const { db, clock, plans } = deps;
  const waiting: Waiting[] = [];
  let inFlight = 0;
  /** Content that waits or is being stored. */
  let heldBytes = 0;
  let isWatched = false;

  const start = () => {
    while (inFlight < BATCHES_IN_FLIGHT && waiting.length > 0) {
      inFlight += 1;
      void commit({ ...deps, retry }, takeBatch(waiting)).finally(() => {
        inFlight -= 1;
        start();
      });
    }
    const [first] = waiting;
    if (first === undefined || isWatched) return;
    isWatched = true;
    setTimeout(refuseLate, first.deadline - performance.now()).unref();
  };

  const retry = (again: readonly Waiting[]) => {
    setTimeout(() => {
      waiting.unshift(...again);
      start();
    }, BUSY_MS);
  };

  /** Those who have waited longest stand in front. */
  const refuseLate = () => {
    isWatched = false;
    const now = performance.now();
    const inTime = waiting.findIndex(({ deadline }) => deadline > now);
    for (const { reject } of waiting.splice(0, inTime === -1 ? waiting.length : inTime)) {
      reject(overloaded("The message could not be stored in time: retry shortly"));
    }
    start();
  };

  return {
    async check({ sender, message }) {
      if (sender && !(await maySendAsEach(db, [sender]))(sender)) throw foreignSender(message);
      await requireOneMore(db, plans, message.workspaceId, clock.now());
    },
    async accept(draft) {
      const bytes = sizeOf(draft.message);
      if (waiting.length >= limits.messages || heldBytes + bytes > limits.bytes) {
        throw new ApiError(
          "RATE_LIMIT_EXCEEDED",
          "Too many messages are being accepted at this moment: retry shortly",
          { headers: { "Retry-After": "1" } },
        );
      }
      heldBytes += bytes;
      try {
        await new Promise<void>((resolve, reject) => {
          waiting.push({ draft, bytes, deadline: performance.now() + limits.waitMs, resolve, reject });
          start();
        });
      } finally {
        heldBytes -= bytes;
      }
    },
  };
}

interface Committing extends AcceptorDeps {
  /** Puts those back whose account is held by somebody else at this moment. */
  readonly retry: (waiting: readonly Waiting[]) => void;
}

/** Everybody in the batch learns what became of theirs, or tries again; never throws. */
async function commit(deps: Committing, batch: readonly Waiting[]): Promise<void> {
  const { db, onCommitted, retry } = deps;
  let rest = batch;
  try {
    if (await insertAtOnce(deps, batch.map(draftOf))) {
      for (const { resolve } of batch) resolve();
      onCommitted();
      return;
    }
    rest = await refuseForeignSenders(db, batch);
    if (rest.length === 0) return;
    const { refused, busy } = await insertHeld(deps, rest.map(draftOf));
    for (const { draft, resolve, reject } of rest) {
      const refusal = refused.get(draft);
      if (refusal !== undefined) reject(refusal);
      else if (!busy.has(draft.message)) resolve();
    }
    const again = rest.filter(({ draft }) => busy.has(draft.message));
    if (again.length > 0) retry(again);
    onCommitted();
  } catch (fault) {
    if (rest.length > 1 && isAboutContent(fault)) {
      const middle = Math.ceil(rest.length / 2);
      await commit(deps, rest.slice(0, middle));
      await commit(deps, rest.slice(middle));
    } else for (const { reject } of rest) reject(fault);
  }
}

function draftOf({ draft }: Waiting): Draft {
  return draft;
}

/** A value the database does not take (SQLSTATE classes 22 and 23): one row's fault, and not its neighbours'. */
function isAboutContent(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && /^2[23]/.test(String(fault.code));
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const { bytes: size } of waiting) {
    if (count === BATCH_MESSAGES || (count > 0 && bytes + size > BATCH_BYTES)) break;
    bytes += size;
    count += 1;
  }
  return waiting.splice(0, count);
}

function sizeOf({ html, text, attachments }: NewMessage): number {
  const attached = attachments.reduce((sum, attachment) => sum + attachment.content.length, 0);
  return (html?.length ?? 0) + (text?.length ?? 0) + attached;
}

/** One question for the whole batch; those who may not send learn it now, the rest go on. */
async function refuseForeignSenders(db: Queryable, batch: readonly Waiting[]): Promise<Waiting[]> {
  const questions = batch.flatMap(({ draft }) => draft.sender ?? []);
  const answers = await maySendAsEach(db, questions);
  return batch.filter(({ draft, reject }) => {
    if (draft.sender === null || answers(draft.sender)) return true;
    reject(foreignSender(draft.message));
    return false;
  });
}

function foreignSender({ fromEmail }: NewMessage): ApiError {
  const message = `from_email ${fromEmail} is not on a verified sending domain and is no verified sender of this workspace`;
  return invalid({ field: "from_email", message });
}

/**
 * Inserts the drafts that are covered and stores their answers, together or not at all.
 * @returns those left out: refused because nothing covers them, or because the Idempotency-Key was taken over meanwhile
 * and the other request sends it; or to be tried again
 */
async function insertHeld(
  { db, clock, plans }: AcceptorDeps,
  drafts: readonly Draft[],
): Promise<{ readonly refused: ReadonlyMap<Draft, ApiError>; readonly busy: ReadonlySet<NewMessage> }> {
  return db.transaction(async (tx) => {
    const messages = drafts.map(({ message }) => message);
    const { refused: uncovered, busy } = await findUncovered(tx, plans, messages, clock.now());
    const covered = drafts.filter(({ message }) => !uncovered.has(message) && !busy.has(message));
    const answers = covered.flatMap(({ idempotency }) =>
      idempotency ? { held: idempotency.held, answer: idempotency.held.answerFor(idempotency.data) } : [],
    );
    const holding = answers.length === 0 ? new Set<string>() : await updateAnswers(tx, answers);
    const isOurs = ({ idempotency }: Draft) => !idempotency || holding.has(idempotency.held.token);
    await insertDrafts(tx, covered.filter(isOurs));
    const refused = new Map<Draft, ApiError>();
    for (const draft of drafts) {
      const refusal = uncovered.get(draft.message);
      if (refusal !== undefined) refused.set(draft, refusal);
    }
    for (const draft of covered.filter((one) => !isOurs(one))) {
      refused.set(draft, new ApiError("CONFLICT", "Another request with this Idempotency-Key was quicker"));
    }
    return { refused, busy };
  });
}

/**
 * What nearly every batch is: nobody has an Idempotency-Key, everybody may send and is far from the limits of the plan.
 * Then all of that is asked and all of it inserted in one round trip; otherwise nothing is done, and the answer is
 * false.
 */
async function insertAtOnce({ db, clock }: AcceptorDeps, drafts: readonly Draft[]): Promise<boolean> {
  if (drafts.some(({ idempotency }) => idempotency !== undefined)) return false;
  const senders = maySendAsAllSql(drafts.flatMap(({ sender }) => sender ?? []));
  const covered = areCoveredSql(
    drafts.map(({ message }) => message),
    clock.now(),
  );
  const inserts = insertsOf(drafts, sql`(select may_send and is_wide from senders, allowances)`);
  const [answer] = await db.rows<{ is_done: boolean }>(
    sql`
      with senders as materialized (${senders}), allowances as materialized (${covered}), ${inserts}
      select may_send and is_wide as is_done from senders, allowances`,
    "accept messages",
  );
  return answer?.is_done === true;
}

/** Log, contents and queue in one statement, whoever sends. */
export async function insertDrafts(db: Queryable, drafts: readonly Draft[]): Promise<void> {
  if (drafts.length === 0) return;
  await db.rows(sql`with ${insertsOf(drafts, sql`true`)} select`, "insert messages");
}

function insertsOf(drafts: readonly Draft[], condition: Sql): Sql {
  const messages = drafts.map(({ message }) => message);
  const recipients = messages.map(recipientOf);
  const judging = {
    addresses: recipients.map(({ address }) => address),
    verdict: sql`lateral (
      select detail from (
        select m.workspace_id, m.address, m.domain, m.source = 'platform' as is_platform,
          null::uuid as mailing_list_id, null::uuid as segment_id) asked
      cross join ${verdictOn(sql`asked`, { found: sql`suppressions` })} as verdict)`,
  };
  const queue = enqueueSql(
    drafts.map(({ message, priority }) => ({
      workspaceId: message.workspaceId,
      messageId: message.id,
      priority,
      domain: message.domain,
      bytes: sizeOf(message),
      expiresAt: new Date(message.createdAt.getTime() + EXPIRES_AFTER_MS),
    })),
    sql`${condition} and ${isKept}`,
  );
  return sql`
    suppressions as materialized (${entriesFor(recipients)}),
    ${insertMessagesSql(messages, { condition, judging })}, queue as (${queue}),
    meter as (${takeAcceptedSql(messages[0]?.createdAt ?? new Date())})`;
}
