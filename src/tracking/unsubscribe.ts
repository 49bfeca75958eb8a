/**
 * A recipient leaves by a link of a mail: the list the mail was sent to, or every list when it was sent to none. Leaving
 * twice, or what is gone, changes nothing. Who bounced or complained stays that. Who pressed the button by mistake may take
 * it back for an hour: it is the first leaving by that mail, and nothing that came before or after it.
 */
import { lockMailingList } from "#audience/mailing-lists/store.ts";
import { updateStatuses } from "#audience/subscribers/memberships/membership-changes.ts";
import { recordUnsubscribed } from "#messages/record-engagement.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { findRecipient, leavingSql, lockRecipient, type MailRecipient, returningSql } from "./store.ts";
import type { TrackedMail } from "./tokens.ts";

/** Who left by which mail: one list, or all of them (null). */
export interface Departure extends TrackedMail {
  readonly subscriberId: string;
  readonly address: string;
  readonly mailingListId: string | null;
}

/** What the rest of the house does about it, in the same transaction; says whether it was the first time by this mail. */
export type OnUnsubscribed = (tx: Queryable, departure: Departure, now: Date) => Promise<boolean>;

/** The same when somebody takes it back. */
export type OnReturned = (tx: Queryable, departure: Departure, now: Date) => Promise<void>;

const TAKE_BACK_MS = 3_600_000;

/** Whether somebody who left by this mail may still take it back. */
export function mayReturn({ left_at, is_as_left, subscriber_id }: MailRecipient, now: Date): boolean {
  return (
    subscriber_id !== null &&
    is_as_left &&
    left_at !== null &&
    now.getTime() - left_at.getTime() < TAKE_BACK_MS
  );
}

/**
 * Says whether they are back, with the joining they had: no autoresponder begins anew, and a series they are in goes on.
 * That they left stays in the figures of the mail: it happened.
 */
export function takeBack(
  deps: { readonly db: Database; readonly clock: Clock; readonly onReturned: OnReturned },
  mail: TrackedMail,
): Promise<boolean> {
  const { workspaceId } = mail;
  const comeBack = async (tx: Queryable) => {
    await lockRecipient(tx, mail);
    const recipient = await findRecipient(tx, mail);
    const now = deps.clock.now();
    if (recipient === undefined || !mayReturn(recipient, now)) return false;
    const { mailing_list_id: mailingListId, subscriber_id, left_at, address } = recipient;
    if (subscriber_id === null || left_at === null) return false;
    if (mailingListId !== null) await lockMailingList(tx, workspaceId, mailingListId);
    const moves = returningSql(workspaceId, { subscriberId: subscriber_id, mailingListId, leftAt: left_at });
    const returned = await updateStatuses(tx, workspaceId, moves, now, "restore");
    if (returned === 0) return false;
    await deps.onReturned(tx, { ...mail, subscriberId: subscriber_id, address, mailingListId }, now);
    return true;
  };
  return deps.db.transaction(comeBack, { mayRepeat: true });
}

/** The recipient as of before; undefined when the mail is not in the log. */
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
    const departure = { ...mail, subscriberId, address: recipient.address, mailingListId: listId };
    if (left > 0 && (await deps.onUnsubscribed(tx, departure, now))) {
      await recordUnsubscribed(tx, workspaceId, messageId, now);
    }
    return recipient;
  };
  return deps.db.transaction(leave, { mayRepeat: true });
}
