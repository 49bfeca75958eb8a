/** The kinds of suppressions of SendGrid, by the names of their endpoints and files. */
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";

/** Blocks are not among them: they are refusals of a message, and SendGrid goes on sending to these addresses. */
export const suppressionKinds: Readonly<
  Record<string, { readonly list: string; readonly status: SubscriberStatus }>
> = {
  unsubscribes: { list: "SendGrid: global unsubscribes", status: "unsubscribed" },
  bounces: { list: "SendGrid: bounces", status: "bounced" },
  invalid_emails: { list: "SendGrid: invalid addresses", status: "bounced" },
  spam_reports: { list: "SendGrid: spam reports", status: "complained" },
};

export const BLOCKS_NOTE =
  "Blocks of SendGrid suppress no one: they are refusals of single messages, not faults of addresses";

/** A person who left a group may want the mail of others, so nothing is said of memberships. */
export function groupList(name: string): string {
  return `SendGrid group: ${name}`;
}
