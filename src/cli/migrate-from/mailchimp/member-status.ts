/** What the states of a contact in Mailchimp are here. */
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";

/** The suppression list of addresses that bounced, and that of people who complained. */
export const CLEANED = "Mailchimp: cleaned (bounced)";
export const COMPLAINTS = "Mailchimp: abuse reports";

/** Null for contacts that do not come. Only those who may be mailed by Mailchimp are active. */
export function statusOfMember(status: string): SubscriberStatus | null {
  if (status === "subscribed") return "active";
  if (status === "cleaned") return "bounced";
  return status === "archived" ? null : "unsubscribed";
}
