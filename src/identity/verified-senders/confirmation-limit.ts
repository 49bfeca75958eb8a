/**
 * Limits how soon a workspace may send another confirmation mail to the same mailbox. The pause is counted by mailbox
 * and not by sender, so deleting a sender and adding it again does not shorten it. The number of mails a day is limited
 * together with all platform mail (platform-mail-limits.ts).
 */
import { mailboxOf } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { insertConfirmationMail, lockConfirmationMails } from "./store.ts";

/**
 * Records a confirmation mail, or refuses it. Locks the workspace's confirmation mails until the transaction ends.
 * @param pauseMs the shortest time since the workspace's last mail to the same mailbox
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
