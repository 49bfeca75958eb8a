/**
 * Acceptance: the moment a message becomes ours. Whoever sends (the API, the platform itself, later campaigns and
 * submission) hands in drafts; log row, content, queue row and the answer to an Idempotency-Key are one statement,
 * and only after its commit does anybody get a 201.
 *
 * Drafts that arrive while a commit is under way go into the next one: micro-batches without a timer, so that a
 * lone message waits for nothing and a flood shares its commits.
 */
import sql, { empty, type Sql } from "sql-template-tag";
import { enqueueSql, type Priority } from "../delivery/store.ts";
import { maySendAsEach, type SenderQuestion } from "../identity/may-send-as.ts";
import { insertMessagesSql, type NewMessage } from "../messages/store.ts";
import type { Database, Queryable } from "../platform/database/pool.ts";
import { ApiError, invalid } from "../platform/errors.ts";
import { answersSql, type Reservation } from "../platform/http/idempotency.ts";

/** Retried for this long, then given up (mail-practice: 72 h). */
const EXPIRES_AFTER_MS = 72 * 60 * 60 * 1000;

/** Two commits under way keep the disk busy; more only make every one of them later. */
const BATCHES_IN_FLIGHT = 2;
const BATCH_MESSAGES = 200;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Beyond this we say so at once instead of letting callers wait for their time-out. */
const MOST_WAITING = 20_000;

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
   * @throws ApiError VALIDATION_ERROR when the workspace may not send as that address
   */
  accept(draft: Draft): Promise<void>;
}

interface Waiting {
  readonly draft: Draft;
  readonly bytes: number;
  resolve(): void;
  reject(reason: unknown): void;
}

/** @param onCommitted tells the delivery workers that there is something to do. */
export function createAcceptor(db: Database, onCommitted: () => void): Acceptor {
  const waiting: Waiting[] = [];
  let inFlight = 0;

  const start = () => {
    while (inFlight < BATCHES_IN_FLIGHT && waiting.length > 0) {
      const batch = takeBatch(waiting);
      inFlight += 1;
      void commit(batch).finally(() => {
        inFlight -= 1;
        start();
      });
    }
  };

  const commit = async (batch: Waiting[]) => {
    try {
      const accepted = await refuseForeignSenders(db, batch);
      if (accepted.length > 0)
        await insertDrafts(
          db,
          accepted.map((one) => one.draft),
        );
      for (const one of accepted) one.resolve();
      if (accepted.length > 0) onCommitted();
    } catch (fault) {
      for (const one of batch) one.reject(fault);
    }
  };

  return {
    accept(draft) {
      if (waiting.length >= MOST_WAITING) {
        throw new ApiError(
          "RATE_LIMIT_EXCEEDED",
          "Too many messages are being accepted at this moment: retry shortly",
          {
            headers: { "Retry-After": "1" },
          },
        );
      }
      return new Promise((resolve, reject) => {
        waiting.push({ draft, bytes: sizeOf(draft.message), resolve, reject });
        start();
      });
    },
  };
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
async function refuseForeignSenders(db: Queryable, batch: Waiting[]): Promise<Waiting[]> {
  const questions = batch.flatMap(({ draft }) => draft.sender ?? []);
  const answers = await maySendAsEach(db, questions);
  return batch.filter(({ draft, reject }) => {
    if (draft.sender === null || answers(draft.sender)) return true;
    reject(
      invalid({
        field: "from_email",
        message: `from_email ${draft.message.fromEmail} is not on a verified sending domain and is no verified sender of this workspace`,
      }),
    );
    return false;
  });
}

/** Log, contents, queue and idempotency answers in one statement, which is one transaction and one round trip. */
export async function insertDrafts(db: Queryable, drafts: readonly Draft[]): Promise<void> {
  const { log, contents } = insertMessagesSql(drafts.map((draft) => draft.message));
  const queue = enqueueSql(
    drafts.map(({ message, priority }) => ({
      workspaceId: message.workspaceId,
      messageId: message.id,
      priority,
      domain: message.domain,
      bytes: sizeOf(message),
      expiresAt: new Date(message.createdAt.getTime() + EXPIRES_AFTER_MS),
    })),
  );
  const answered = answersOf(drafts);
  await db.rows(
    sql`with log as (${log}), contents as (${contents}), queue as (${queue})${answered} select`,
    // The text is constant but for the idempotency answers, so that it is parsed once.
    answered === empty ? "accept messages" : undefined,
  );
}

function answersOf(drafts: readonly Draft[]): Sql {
  const answers = drafts.flatMap(({ idempotency }) =>
    idempotency ? { held: idempotency.held, answer: idempotency.held.answerFor(idempotency.data) } : [],
  );
  return answers.length === 0 ? empty : sql`, answers as (${answersSql(answers)})`;
}
