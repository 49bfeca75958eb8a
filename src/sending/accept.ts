/**
 * Acceptance: the moment a message becomes ours. Whoever sends (the API, the platform itself, later campaigns and
 * submission) hands in drafts; log row, content and queue row are one statement, one transaction with the answer to an
 * Idempotency-Key, and only after its commit does anybody get a 201. A message whose recipient is suppressed is accepted
 * too, and is over: it stands in the log and never in the queue.
 *
 * Drafts that arrive while a commit is under way go into the next one: micro-batches without a timer, so that a
 * lone message waits for nothing and a flood shares its commits. A row that the database refuses fails alone, or with
 * those that it was to be accepted together with.
 */
import sql, { empty, type Sql } from "sql-template-tag";
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

/**
 * Two commits under way keep the disk busy, but two halves cost PostgreSQL a millisecond more than a whole: the second
 * waits until it is worth it.
 */
const BATCHES_IN_FLIGHT = 2;
const WORTH_A_SECOND = 64;
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
  /** All of them or, when one is refused, none. @throws ApiError as `accept` does */
  acceptTogether(drafts: readonly Draft[]): Promise<void>;
  /** Would it be accepted? @throws ApiError as `accept` does */
  check(draft: Draft): Promise<void>;
}

interface Waiting {
  /** Accepted together or not at all. */
  readonly drafts: readonly Draft[];
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
  readonly announceSuppressed?: AnnounceSuppressed;
}

/**
 * A part of the accepting statement that hears of the rows it writes to the log (a relation), and so of the messages that
 * are suppressed at once.
 */
export type AnnounceSuppressed = (log: Sql) => Sql;

export function createAcceptor(deps: AcceptorDeps, limits: Readonly<typeof LIMITS> = LIMITS): Acceptor {
  const { db, clock, plans } = deps;
  const waiting: Waiting[] = [];
  /** Those whose account somebody else held. With them in its batch everybody would have to go the long way. */
  const again: Waiting[] = [];
  let isRetrying = false;
  let inFlight = 0;
  /** Content that waits or is being stored. */
  let heldBytes = 0;
  let isWatched = false;

  const start = () => {
    while (waiting.length >= (inFlight === 0 ? 1 : WORTH_A_SECOND) && inFlight < BATCHES_IN_FLIGHT) {
      inFlight += 1;
      void commit({ ...deps, retry }, takeBatch(waiting)).finally(() => {
        inFlight -= 1;
        start();
      });
    }
    const [first] = waiting;
    if (first === undefined || isWatched) return;
    isWatched = true;
    setTimeout(() => {
      isWatched = false;
      refuseLate(waiting);
      start();
    }, first.deadline - performance.now()).unref();
  };

  const retry = (busy: readonly Waiting[]) => {
    again.push(...busy);
    retrySoon();
  };

  const retrySoon = () => {
    if (isRetrying || again.length === 0) return;
    isRetrying = true;
    setTimeout(async () => {
      refuseLate(again);
      if (again.length > 0) await commit({ ...deps, retry }, takeBatch(again));
      isRetrying = false;
      retrySoon();
    }, BUSY_MS);
  };

  const acceptor: Acceptor = {
    async check({ sender, message }) {
      if (sender && !(await maySendAsEach(db, [sender]))(sender)) throw foreignSender(message);
      await requireOneMore(db, plans, message.workspaceId, clock.now());
    },
    accept: (draft) => acceptor.acceptTogether([draft]),
    async acceptTogether(drafts) {
      const bytes = memoryOf(drafts);
      if (waiting.length + again.length >= limits.messages || heldBytes + bytes > limits.bytes) {
        throw new ApiError(
          "RATE_LIMIT_EXCEEDED",
          "Too many messages are being accepted at this moment: retry shortly",
          { headers: { "Retry-After": "1" } },
        );
      }
      heldBytes += bytes;
      try {
        await new Promise<void>((resolve, reject) => {
          waiting.push({ drafts, bytes, deadline: performance.now() + limits.waitMs, resolve, reject });
          start();
        });
      } finally {
        heldBytes -= bytes;
      }
    },
  };
  return acceptor;
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
    if (await insertAtOnce(deps, draftsOf(batch))) {
      for (const { resolve } of batch) resolve();
      onCommitted();
      return;
    }
    rest = await refuseForeignSenders(db, batch);
    if (rest.length === 0) return;
    const { refused, busy } = await insertHeld(deps, rest);
    for (const one of rest) {
      const refusal = refused.get(one);
      if (refusal !== undefined) one.reject(refusal);
      else if (!busy.includes(one)) one.resolve();
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
}

/** Takes those out who have waited too long. */
function refuseLate(waiting: Waiting[]): void {
  const now = performance.now();
  for (const one of waiting.splice(0)) {
    if (one.deadline > now) waiting.push(one);
    else one.reject(overloaded("The message could not be stored in time: retry shortly"));
  }
}

function draftsOf(waiting: readonly Waiting[]): Draft[] {
  return waiting.flatMap(({ drafts }) => drafts);
}

/** A value the database does not take (SQLSTATE classes 22 and 23): one row's fault, and not its neighbours'. */
function isAboutContent(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && /^2[23]/.test(String(fault.code));
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  let count = 0;
  let messages = 0;
  for (const { bytes: size, drafts } of waiting) {
    messages += drafts.length;
    if (count > 0 && (messages > BATCH_MESSAGES || bytes + size > BATCH_BYTES)) break;
    bytes += size;
    count += 1;
  }
  return waiting.splice(0, count);
}

function sizeOf({ html, text, attachments, submission }: NewMessage): number {
  const attached = attachments.reduce((sum, attachment) => sum + attachment.content.length, 0);
  return (html?.length ?? 0) + (text?.length ?? 0) + attached + (submission?.raw.length ?? 0);
}

/** What drafts accepted together hold: of a submission they share one. */
function memoryOf(drafts: readonly Draft[]): number {
  const different = new Map(drafts.map(({ message }) => [message.submission?.id ?? message.id, message]));
  return [...different.values()].reduce((sum, message) => sum + sizeOf(message), 0);
}

/** One question for the whole batch; those who may not send learn it now, the rest go on. */
async function refuseForeignSenders(db: Queryable, batch: readonly Waiting[]): Promise<Waiting[]> {
  const questions = draftsOf(batch).flatMap(({ sender }) => sender ?? []);
  const answers = await maySendAsEach(db, questions);
  return batch.filter(({ drafts, reject }) => {
    const foreign = drafts.find(({ sender }) => sender !== null && !answers(sender));
    if (foreign === undefined) return true;
    reject(foreignSender(foreign.message));
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
  { db, clock, plans, announceSuppressed }: AcceptorDeps,
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
      refused.set(one, new ApiError("CONFLICT", "Another request with this Idempotency-Key was quicker"));
    }
    return { refused, busy };
  });
}

interface Coverage {
  /** Until the transaction ends. */
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
  const messages = draftsOf(batch).map(({ message }) => message);
  const uncovered = await findUncovered(tx, plans, messages, now);
  const refused = new Map<Waiting, ApiError>();
  for (const one of batch) {
    const [refusal] = one.drafts.flatMap(({ message }) => uncovered.refused.get(message) ?? []);
    if (refusal === undefined) continue;
    if (one.drafts.length > 1) {
      // All of them are refused for some, and leave room for others.
      const rest = await coverEach(
        tx,
        plans,
        batch.filter((other) => other !== one),
        now,
      );
      return { ...rest, refused: rest.refused.set(one, refusal) };
    }
    refused.set(one, refusal);
  }
  const isBusy = ({ drafts }: Waiting) => drafts.some(({ message }) => uncovered.busy.has(message));
  const left = batch.filter((one) => !refused.has(one));
  return { covered: left.filter((one) => !isBusy(one)), refused, busy: left.filter(isBusy) };
}

/**
 * What nearly every batch is: nobody has an Idempotency-Key, everybody may send and is far from the limits of the plan.
 * Then all of that is asked and all of it inserted in one round trip; otherwise nothing is done, and the answer is
 * false.
 */
async function insertAtOnce(
  { db, clock, announceSuppressed }: AcceptorDeps,
  drafts: readonly Draft[],
): Promise<boolean> {
  if (drafts.some(({ idempotency }) => idempotency !== undefined)) return false;
  const senders = maySendAsAllSql(drafts.flatMap(({ sender }) => sender ?? []));
  const now = clock.now();
  const covered = areCoveredSql(
    drafts.map(({ message }) => message),
    now,
  );
  const condition = sql`(select may_send and is_wide from senders, allowances)`;
  const inserts = insertsOf(drafts, condition, announceSuppressed, now);
  const [answer] = await db.rows<{ is_done: boolean }>(
    sql`
      with senders as materialized (${senders}), allowances as materialized (${covered}), ${inserts}
      select may_send and is_wide as is_done from senders, allowances`,
    "accept messages",
  );
  return answer?.is_done === true;
}

/** Log, contents and queue in one statement, whoever sends. They are metered at `now`, or at the time that they bear. */
export async function insertDrafts(
  db: Queryable,
  drafts: readonly Draft[],
  announceSuppressed?: AnnounceSuppressed,
  now?: Date,
): Promise<void> {
  if (drafts.length === 0) return;
  const name = announceSuppressed ? "insert and announce messages" : "insert messages";
  await db.rows(sql`with ${insertsOf(drafts, sql`true`, announceSuppressed, now)} select`, name);
}

function insertsOf(
  drafts: readonly Draft[],
  condition: Sql,
  announceSuppressed?: AnnounceSuppressed,
  now?: Date,
): Sql {
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
    meter as (${takeAcceptedSql(now ?? messages[0]?.createdAt ?? new Date())})
    ${announceSuppressed ? sql`, announced as (${announceSuppressed(sql`log`)})` : empty}`;
}
