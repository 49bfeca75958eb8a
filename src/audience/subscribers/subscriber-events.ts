/** Events about single subscribers, for webhooks. Imports, and changes of a whole list, cause none. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Member } from "./subscriber-shapes.ts";

export interface SubscriberEvent {
  readonly workspaceId: WorkspaceId;
  readonly kind: "created" | "updated" | "unsubscribed";
  readonly subscriberId: string;
  readonly email: string;
  /** The list; null when the person left all lists at once. */
  readonly mailingListId: string | null;
  readonly status: string;
  readonly time: Date;
}

/** Called in the transaction that makes the change. */
export type OnSubscriberEvent = (tx: Queryable, event: SubscriberEvent) => Promise<void>;

/** As OnSubscriberEvent, for many people at once. */
export type OnSubscriberEvents = (tx: Queryable, events: readonly SubscriberEvent[]) => Promise<void>;

/** The event of a change; undefined when nothing is different. */
export function eventOfChange(
  workspaceId: WorkspaceId,
  before: Member,
  after: Member,
  time: Date,
): SubscriberEvent | undefined {
  const told = ({ status, first_name, last_name, custom_fields }: Member) =>
    JSON.stringify([status, first_name, last_name, custom_fields]);
  if (told(before) === told(after)) return undefined;
  const hasLeft = before.status !== after.status && after.status === "unsubscribed";
  return subscriberEvent(workspaceId, hasLeft ? "unsubscribed" : "updated", after, time);
}

export function subscriberEvent(
  workspaceId: WorkspaceId,
  kind: SubscriberEvent["kind"],
  { subscriber_id: subscriberId, mailing_list_id: mailingListId, email, status }: Member,
  time: Date,
): SubscriberEvent {
  return { workspaceId, kind, subscriberId, mailingListId, email, status, time };
}
