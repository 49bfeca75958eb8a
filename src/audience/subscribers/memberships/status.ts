/** The four statuses of a membership, from best to worst. */

export const subscriberStatuses = ["active", "unsubscribed", "bounced", "complained"] as const;
export type SubscriberStatus = (typeof subscriberStatuses)[number];

/** Numbers of people by status; as a change, the differences. */
export type StatusCounts = Readonly<Record<SubscriberStatus, number>>;

/** Statuses that belong to the person and apply to all their lists: the address bounced, or its owner complained. */
export const personWideStatuses = ["bounced", "complained"] as const satisfies readonly SubscriberStatus[];
