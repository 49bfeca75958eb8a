/** The four states of a membership (contract, section 3), and which of two is the worse. */

export const subscriberStatuses = ["active", "unsubscribed", "bounced", "complained"] as const;
export type SubscriberStatus = (typeof subscriberStatuses)[number];

/** How many there are in each state; as a change, how many more or fewer. */
export type StatusCounts = Readonly<Record<SubscriberStatus, number>>;

/** Statuses that hold for the person, on every list: the address does not work, or its owner called us spam. */
export const holdingStatuses = ["bounced", "complained"] as const satisfies readonly SubscriberStatus[];
