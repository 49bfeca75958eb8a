/**
 * Unsubscribes a recipient by a link of a mail: from the list that the mail was sent to, or from every list if it was sent to
 * none. A second request changes nothing, and neither does one for a deleted list or subscriber. Bounced and complained
 * subscribers keep their status. The first unsubscription by a mail can be undone for an hour; unsubscriptions before or after
 * it are not affected.
 */
import { lockMailingList } from "#audience/mailing-lists/store.ts";
import { updateStatuses } from "#audience/subscribers/memberships/membership-changes.ts";
import { recordUnsubscribed } from "#messages/record-engagement.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import type { TrackedMail } from "./link-tokens.ts";
import {
  findRecipient,
  leavingSql,
  lockRecipient,
  type MailRecipient,
  returningSql,
} from "./tracked-mail-store.ts";

/** An unsubscription by a mail: from one list, or from all (null). */
export interface Unsubscription extends TrackedMail {
  readonly subscriberId: string;
  readonly address: string;
  readonly mailingListId: string | null;
}

/** Reacts to an unsubscription in the same transaction; resolves to whether it was the first one by this mail. */
export type OnUnsubscribed = (tx: Queryable, unsubscription: Unsubscription, now: Date) => Promise<boolean>;

/** Reacts in the same transaction when an unsubscription is undone. */
export type OnResubscribed = (tx: Queryable, unsubscription: Unsubscription, now: Date) => Promise<void>;

const UNDO_MS = HOUR_MS;

/** Whether the unsubscription by this mail can still be undone. */
export function mayUndo({ left_at, is_as_left, subscriber_id }: MailRecipient, now: Date): boolean {
  return (
    subscriber_id !== null && is_as_left && left_at !== null && now.getTime() - left_at.getTime() < UNDO_MS
  );
}

/**
 * Undoes the unsubscription by this mail. Memberships keep their original date of joining, so no autoresponder starts again,
 * and a running series continues. The mail's count of unsubscriptions stays.
 *
 * @returns whether there was something to undo
 */
export function undoUnsubscribe(
  deps: { readonly db: Database; readonly clock: Clock; readonly onResubscribed: OnResubscribed },
  mail: TrackedMail,
): Promise<boolean> {
  const { workspaceId } = mail;
  const undo = async (tx: Queryable) => {
    await lockRecipient(tx, mail);
    const recipient = await findRecipient(tx, mail);
    const now = deps.clock.now();
    if (recipient === undefined || !mayUndo(recipient, now)) return false;
    const { mailing_list_id: mailingListId, subscriber_id, left_at, address } = recipient;
    if (subscriber_id === null || left_at === null) return false;
    if (mailingListId !== null) await lockMailingList(tx, workspaceId, mailingListId);
    const moves = returningSql(workspaceId, { subscriberId: subscriber_id, mailingListId, leftAt: left_at });
    const returned = await updateStatuses(tx, workspaceId, moves, now, "restore");
    if (returned === 0) return false;
    await deps.onResubscribed(tx, { ...mail, subscriberId: subscriber_id, address, mailingListId }, now);
    return true;
  };
  return deps.db.transaction(undo, { mayRepeat: true });
}

/** Resolves to the recipient before the change; undefined when the mail is not in the log. */
export async function unsubscribe(
  deps: { readonly db: Database; readonly clock: Clock; readonly onUnsubscribed: OnUnsubscribed },
  mail: TrackedMail,
): Promise<MailRecipient | undefined> {
  const { workspaceId, messageId } = mail;
  const leave = async (tx: Queryable) => {
    await lockRecipient(tx, mail);
    const recipient = await findRecipient(tx, mail);
    if (recipient === undefined || recipient.subscriber_id === null || !recipient.is_subscribed) {
      return recipient;
    }
    const { mailing_list_id: listId, subscriber_id: subscriberId } = recipient;
    if (listId !== null) await lockMailingList(tx, workspaceId, listId);
    const now = deps.clock.now();
    const left = await updateStatuses(tx, workspaceId, leavingSql(workspaceId, subscriberId, listId), now);
    const unsubscription = { ...mail, subscriberId, address: recipient.address, mailingListId: listId };
    if (left > 0 && (await deps.onUnsubscribed(tx, unsubscription, now))) {
      await recordUnsubscribed(tx, workspaceId, messageId, now);
    }
    return recipient;
  };
  return deps.db.transaction(leave, { mayRepeat: true });
}
