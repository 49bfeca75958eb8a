/**
 * How often we write to somebody who never asked for it: a confirmation mail goes to whatever address a workspace
 * names, so that without limits it would be a way to fill a stranger's mailbox in our name. The limits know mails and
 * not senders: deleting a sender and adding it again is no way around them.
 */
import { mailboxOf } from "../../mail/address.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import {
  findConfirmationMails,
  insertConfirmationMail,
  lockConfirmationMails,
  removeOldConfirmationMails,
} from "./store.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const DAILY_OF_WORKSPACE = 100;
/** From all workspaces together. */
const DAILY_TO_MAILBOX = 5;
/** When a daily limit is worth another try: it frees up one by one. */
const DAILY_RETRY_SECONDS = 3_600;

/**
 * Counts one more mail, or refuses it. The transaction holds a lock of all confirmation mails until its end.
 * @param pauseMs how long the workspace's last mail to the same mailbox must be ago
 * @throws ApiError RATE_LIMIT_EXCEEDED
 */
export async function countConfirmationMail(
  tx: Queryable,
  workspaceId: WorkspaceId,
  email: string,
  now: Date,
  pauseMs: number,
): Promise<void> {
  const mailbox = mailboxOf(email);
  const dayAgo = new Date(now.getTime() - DAY_MS);
  await lockConfirmationMails(tx);
  await removeOldConfirmationMails(tx, workspaceId, dayAgo);
  const { of_workspace, to_mailbox, last_sent_at } = await findConfirmationMails(
    tx,
    workspaceId,
    mailbox,
    dayAgo,
  );
  const pause = (last_sent_at?.getTime() ?? 0) + pauseMs - now.getTime();
  if (pause > 0) throw refusal("A link was sent to this address less than a minute ago", pause / 1000);
  if (to_mailbox >= DAILY_TO_MAILBOX) {
    throw refusal("This address was sent as many links today as may be", DAILY_RETRY_SECONDS);
  }
  if (of_workspace >= DAILY_OF_WORKSPACE) {
    throw refusal(
      `The workspace asked for ${DAILY_OF_WORKSPACE} links today, and more are not sent`,
      DAILY_RETRY_SECONDS,
    );
  }
  await insertConfirmationMail(tx, workspaceId, mailbox, now);
}

function refusal(sentence: string, seconds: number): ApiError {
  return new ApiError("RATE_LIMIT_EXCEEDED", sentence, {
    headers: { "Retry-After": String(Math.ceil(seconds)) },
  });
}
