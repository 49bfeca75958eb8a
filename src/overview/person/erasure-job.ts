/**
 * The background job that erases one person. It suppresses the address first, so that nothing new is sent, then cancels
 * and erases messages in batches, and deletes the person last: a run that was interrupted is repeated and finds what is
 * left.
 */
import { removeSignupRequestsOf } from "#audience/signup-forms/store.ts";
import { removeMembers } from "#audience/subscribers/memberships/membership-changes.ts";
import { findSubscriber, lockSubscriber } from "#audience/subscribers/store.ts";
import { insertEntries, listSuppressionsOf } from "#audience/suppression-lists/entry-store.ts";
import { ensureSystemList, lockSuppressionList } from "#audience/suppression-lists/store.ts";
import { removeCapturedOf } from "#delivery/capture/store.ts";
import { lockInQueue, removeQueueEntries } from "#delivery/queue/queue-store.ts";
import { eraseAddress } from "#hygiene/validations/store.ts";
import { hasWaitingReceived } from "#inbound/received/process-store.ts";
import { removeReceivedFrom } from "#inbound/received/remove-store.ts";
import { removeSoftBounces } from "#inbound/soft-bounces/store.ts";
import { eraseRecipient, listQueuedTo, listToErase } from "#messages/erase-recipient-store.ts";
import { cancellation, type OnMoved } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import { type JobHandler, PutBack } from "#platform/jobs/attempt.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import { personalMailSql } from "./activities-store.ts";

export const ERASURE_JOB = "subscriber_erasure";

export interface ErasureInput {
  readonly subscriber_id: string;
  readonly suppress: boolean;
  /** Name of the API key or person who started it. */
  readonly started_by: string;
}

const BATCH = 500;
/** How soon the job looks again at messages that are being sent, and at received mail that is not parsed. */
const AGAIN_SECONDS = 15;

/** What stays, for the result of the job. */
const KEPT = [
  "Counters, and messages without recipient, content and replies: reports stay correct.",
  "Entries on suppression lists: they keep mail from the address.",
  "The text, the files and the subject of one mail to several recipients, until all of them are erased or its retention ends. It names the person no more in To, Cc and Reply-To.",
  "Complete messages that a client submitted by SMTP, copies for other recipients in the local inbox, and mail that came back, until the end of their retention: one may concern several people.",
  "Mail that other people have sent to inbound routes, even if it is about the person, until the end of its retention.",
  "Files of imports and exports, webhook deliveries, and stored answers of idempotent requests, until they expire.",
  "The address, as long as a campaign of the workspace is choosing its recipients.",
];

const noCounts = {
  messages: 0,
  message_contents: 0,
  cancelled: 0,
  memberships: 0,
  signup_requests: 0,
  validations: 0,
  received_emails: 0,
  /** 1 if the address is on a suppression list. */
  is_suppressed: 0,
};

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly onMoved: OnMoved;
}

export function erasureHandler({ db, clock, onMoved }: Dependencies): JobHandler<ErasureInput> {
  return async ({ job, report, requireTurn, signal }) => {
    const { workspaceId, input } = job;
    const { subscriber_id: id, suppress, started_by } = input;
    // Counts of an earlier run stay.
    const counts = { ...noCounts, ...job.counts };
    const person = await findSubscriber(db, workspaceId, id);
    if (person !== undefined) {
      const { email } = person;
      const mail = { email, others: personalMailSql(workspaceId, id) };
      if (suppress) await suppressAddress(db, workspaceId, email, started_by, clock.now());
      // Stored with the counts, because a later run may not find the person any more.
      counts.is_suppressed = (await listSuppressionsOf(db, workspaceId, email)).length > 0 ? 1 : 0;
      report({ counts });
      const isSending = await cancelWaiting(mail);
      for (;;) {
        signal.throwIfAborted();
        const ids = await listToErase(db, workspaceId, mail, BATCH);
        if (ids.length === 0) break;
        const erased = await db.transaction(
          async (tx) => {
            await removeCapturedOf(tx, workspaceId, ids);
            return eraseRecipient(tx, workspaceId, ids);
          },
          { mayRepeat: true },
        );
        counts.messages += erased.messages;
        counts.message_contents += erased.message_contents;
        report({ counts });
        requireTurn();
      }
      const isParsing = await hasWaitingReceived(db, workspaceId, job.id);
      if (isSending || isParsing) throw new PutBack(AGAIN_SECONDS);
      // Before the transaction: it looks through all validations of the workspace, and must not hold a lock meanwhile.
      counts.validations += await eraseAddress(db, workspaceId, email);
      counts.received_emails += await removeInBatches(
        signal,
        (most) => removeReceivedFrom(db, workspaceId, email, most),
        BATCH,
      );
      report({ counts });
      const removed = await db.transaction(
        async (tx) => {
          if ((await lockSubscriber(tx, workspaceId, id)) === undefined) return undefined;
          const memberships = await removeMembers(tx, workspaceId, null, [id], clock.now());
          await removeSoftBounces(tx, workspaceId, email);
          const signup_requests = await removeSignupRequestsOf(tx, workspaceId, email);
          return { memberships, signup_requests };
        },
        { mayRepeat: true },
      );
      Object.assign(counts, removed);
    }
    report({ total: 1, processed: 1, succeeded: 1, counts });
    const { is_suppressed: suppressed, ...erased } = counts;
    const is_suppressed = suppressed === 1;
    return { result: { subscriber_id: id, started_by, erased, is_suppressed, kept: KEPT } };

    /** Cancels the messages that wait, in batches. @returns whether others are being sent */
    async function cancelWaiting(mail: Parameters<typeof listQueuedTo>[2]): Promise<boolean> {
      let isSending = false;
      for (let after = nilId; ; ) {
        const ids = await listQueuedTo(db, workspaceId, mail, { after, limit: BATCH });
        for (const messageId of ids) {
          signal.throwIfAborted();
          const place = await db.transaction((tx) => cancelIfWaiting(tx, messageId));
          isSending ||= place === "leased";
          if (place === "waiting") counts.cancelled += 1;
        }
        report({ counts });
        const last = ids.at(-1);
        if (last === undefined || ids.length < BATCH) return isSending;
        after = last;
        requireTurn();
      }
    }

    async function cancelIfWaiting(tx: Queryable, messageId: string) {
      const place = await lockInQueue(tx, workspaceId, messageId);
      if (place === "waiting") {
        await removeQueueEntries(tx, [{ workspaceId, messageId }]);
        const outcome = cancellation({ workspaceId, messageId }, clock.now(), "The recipient was erased");
        await recordOutcomes(tx, [outcome], onMoved);
      }
      return place;
    }
  };
}

/** Adds the address to the system list, unless it is on it. */
function suppressAddress(
  db: Database,
  workspaceId: WorkspaceId,
  email: string,
  createdBy: string,
  createdAt: Date,
): Promise<void> {
  return db.transaction(
    async (tx) => {
      const listId = await ensureSystemList(tx, workspaceId);
      await lockSuppressionList(tx, workspaceId, listId);
      const entry = { value: email, normalized: email, type: "email" } as const;
      await insertEntries(tx, { workspaceId, listId }, [entry], { createdBy, createdAt });
    },
    { mayRepeat: true },
  );
}
