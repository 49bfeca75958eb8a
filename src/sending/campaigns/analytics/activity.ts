/** What the feed of a campaign, and the history of a person, show of the log's events. */

/** Types of events, as the log calls them. */
export const shownTypes = [
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "unsubscribed",
  "complained",
] as const;

/** As the feed calls them (contract, section 2). */
export const activityTypes = ["sent", "opened", "clicked", "bounced", "unsubscribed", "complained"] as const;

export interface ActivityEvent {
  readonly type: (typeof shownTypes)[number];
  readonly detail: string | null;
  readonly mx_host: string | null;
}

/** With a sentence for people. */
export function describeActivity({ type, detail, mx_host }: ActivityEvent): {
  type: (typeof activityTypes)[number];
  description: string;
} {
  switch (type) {
    case "delivered":
      return { type: "sent", description: mx_host === null ? "Delivered" : `Delivered to ${mx_host}` };
    case "opened":
      return { type, description: "Opened the mail" };
    case "clicked":
      return { type, description: detail === null ? "Clicked a link" : `Clicked ${detail}` };
    case "bounced":
      return { type, description: detail ? `Bounced: ${detail}` : "Bounced" };
    case "unsubscribed":
      return { type, description: "Unsubscribed" };
    case "complained":
      return { type, description: "Complained" };
  }
}
