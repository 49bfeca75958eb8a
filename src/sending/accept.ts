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
import { addressOf, entriesFor, type Recipient, verdictOn } from "../audience/suppression-lists/judge.ts";
import { enqueueSql, type Priority } from "../delivery/store.ts";
import { maySendAsAllSql, maySendAsEach, type SenderQuestion } from "../identity/may-send-as.ts";
import { insertMessagesSql, isKept, type NewMessage } from "../messages/store.ts";
import type { Database, Queryable } from "../platform/database/pool.ts";
import { ApiError, invalid, overloaded } from "../platform/errors.ts";
import { type Reservation, updateAnswers } from "../platform/http/idempotency.ts";

/** Retried for this long, then given up (mail-practice: 72 h). */
const EXPIRES_AFTER_MS = 72 * 60 * 60 * 1000;

/** Two commits under way keep the disk busy; more only make every one of them later. */
const BATCHES_IN_FLIGHT = 2;
const BATCH_MESSAGES = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

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
   * @throws ApiError VALIDATION_ERROR when the workspace may not send as that address, CONFLICT when another request
   * took the Idempotency-Key over, RATE_LIMIT_EXCEEDED or 503 when there is more to accept than we can
   */
  accept(draft: Draft): Promise<void>;
  /** Would it be accepted? @throws ApiError VALIDATION_ERROR as `accept` does */
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

/** @param onCommitted tells the delivery workers that there is something to do. */
export function createAcceptor(
  db: Database,
  onCommitted: () => void,
  limits: Readonly<typeof LIMITS> = LIMITS,
): Acceptor {
  const waiting: Waiting[] = [];
  let inFlight = 0;
  /** Content that waits or is being stored. */
  let heldBytes = 0;
  let isWatched = false;

  const start = () => {
    while (inFlight < BATCHES_IN_FLIGHT && waiting.length > 0) {
      inFlight += 1;
      void commit(db, takeBatch(waiting), onCommitted).finally(() => {
        inFlight -= 1;
        start();
      });
    }
    const [first] = waiting;
    if (first === undefined || isWatched) return;
    isWatched = true;
    setTimeout(refuseLate, first.deadline - performance.now()).unref();
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

/** Everybody in the batch learns what became of theirs; never throws. */
async function commit(db: Database, batch: readonly Waiting[], onCommitted: () => void): Promise<void> {
  let rest = batch;
  try {
    if (
      await insertAtOnce(
        db,
        batch.map(({ draft }) => draft),
      )
    ) {
      for (const { resolve } of batch) resolve();
      onCommitted();
      return;
    }
    rest = await refuseForeignSenders(db, batch);
    if (rest.length === 0) return;
    const accepted = await insertHeld(
      db,
      rest.map(({ draft }) => draft),
    );
    for (const { draft, resolve, reject } of rest) {
      if (accepted.has(draft)) resolve();
      else reject(new ApiError("CONFLICT", "Another request with this Idempotency-Key was quicker"));
    }
    onCommitted();
  } catch (fault) {
    if (rest.length > 1 && isAboutContent(fault)) {
      const middle = Math.ceil(rest.length / 2);
      await commit(db, rest.slice(0, middle), onCommitted);
      await commit(db, rest.slice(middle), onCommitted);
    } else for (const { reject } of rest) reject(fault);
  }
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
 * Inserts the drafts and stores their answers, together or not at all, and says which those were: a draft whose
 * Idempotency-Key was taken over meanwhile is left out, for the other request sends it.
 */
async function insertHeld(db: Database, drafts: readonly Draft[]): Promise<ReadonlySet<Draft>> {
  const answers = drafts.flatMap(({ idempotency }) =>
    idempotency ? { held: idempotency.held, answer: idempotency.held.answerFor(idempotency.data) } : [],
  );
  if (answers.length === 0) {
    await insertDrafts(db, drafts);
    return new Set(drafts);
  }
  return db.transaction(async (tx) => {
    const holding = await updateAnswers(tx, answers);
    const ours = drafts.filter(({ idempotency }) => !idempotency || holding.has(idempotency.held.token));
    await insertDrafts(tx, ours);
    return new Set(ours);
  });
}

/**
 * What nearly every batch is: nobody has an Idempotency-Key, and everybody may send. Then the right to send is asked and
 * all of it inserted in one round trip; otherwise nothing is done, and the answer is false.
 */
async function insertAtOnce(db: Queryable, drafts: readonly Draft[]): Promise<boolean> {
  if (drafts.some(({ idempotency }) => idempotency !== undefined)) return false;
  const senders = maySendAsAllSql(drafts.flatMap(({ sender }) => sender ?? []));
  const inserts = insertsOf(drafts, sql`(select may_send from senders)`);
  const [answer] = await db.rows<{ may_send: boolean }>(
    sql`with senders as materialized (${senders}), ${inserts} select may_send from senders`,
    "accept messages",
  );
  return answer?.may_send === true;
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
    ${insertMessagesSql(messages, { condition, judging })}, queue as (${queue})`;
}

function recipientOf(message: NewMessage): Recipient {
  const { workspaceId, domain } = message;
  return { workspaceId, address: addressOf(message), domain };
}
