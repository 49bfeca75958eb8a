/**
 * How soon a workspace may have another confirmation mail sent to one mailbox. The pause knows mails and not senders:
 * deleting a sender and adding it again is no way around it. How many mails a day there may be is limited with all
 * platform mail.
 */
import { mailboxOf } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { insertConfirmationMail, lockConfirmationMails } from "./store.ts";

/**
 * Notes one more mail, or refuses it. The transaction holds a lock of the workspace's confirmation mails until its end.
 * @param pauseMs how long the workspace's last mail to the same mailbox must be ago
 * @throws ApiError RATE_LIMIT_EXCEEDED
 */
export async function noteConfirmationMail(
  tx: Queryable,
  workspaceId: WorkspaceId,
  email: string,
  now: Date,
  pauseMs: number,
): Promise<void> {
  const mailbox = mailboxOf(email);
  const quietSince = new Date(now.getTime() - pauseMs);
  const forgetBefore = new Date(now.getTime() - DAY_MS);
  await lockConfirmationMails(tx, workspaceId);
  const last = await insertConfirmationMail(tx, workspaceId, mailbox, { now, quietSince, forgetBefore });
  if (last === undefined) return;
  throw tooSoon(last, pauseMs, now);
}

/** @param last when the workspace's last link was sent to this mailbox */
export function tooSoon(last: Date, pauseMs: number, now: Date): ApiError {
  const wait = Math.max(1, Math.ceil((last.getTime() + pauseMs - now.getTime()) / 1000));
  return new ApiError(
    "RATE_LIMIT_EXCEEDED",
    `A link was sent to this mailbox less than ${pauseMs / 1000} s ago: look there first, or wait ${wait} s`,
    { headers: { "Retry-After": String(wait) } },
  );
}
