/** How the activity feed of a campaign and the history of a subscriber show events of the message log. */

/** The event types of the log that are shown. */
export const shownTypes = [
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "unsubscribed",
  "complained",
] as const;

/** Their names in the API: `delivered` is called `sent`. */
export const activityTypes = ["sent", "opened", "clicked", "bounced", "unsubscribed", "complained"] as const;

export interface ActivityEvent {
  readonly type: (typeof shownTypes)[number];
  readonly detail: string | null;
  readonly mx_host: string | null;
  readonly times: number;
}

export interface Activity {
  readonly type: (typeof activityTypes)[number];
  /** A sentence for people. */
  readonly description: string;
  /** The number of events: opens, or clicks on one link, at the same time are one row of the log. */
  readonly times: number;
}

export function describeActivity({ times, ...event }: ActivityEvent): Activity {
  return { ...inWords(event), times };
}

function inWords({ type, detail, mx_host }: Omit<ActivityEvent, "times">): Omit<Activity, "times"> {
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
