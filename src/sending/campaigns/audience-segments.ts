/** The segments that define a campaign's audience. They cannot be deleted while the campaign is not complete. */

import type { Conditions } from "#audience/segments/conditions/conditions.ts";
import { referencesIn } from "#audience/segments/conditions/load-and-bind.ts";
import type { Campaign } from "./campaign.ts";

export type AudienceOf = Pick<
  Campaign,
  "recipient_type" | "mailing_list_id" | "segment_id" | "segment_conditions"
>;

/** The segment that the campaign goes to, or those that its conditions refer to; each once. */
export function segmentsOf(campaign: AudienceOf): string[] {
  if (campaign.recipient_type === "segment") return campaign.segment_id === null ? [] : [campaign.segment_id];
  const conditions = conditionsOf(campaign);
  return conditions === null ? [] : [...new Set(referencesIn(conditions, "segment").map(({ id }) => id))];
}

/** The conditions of a custom audience, which read-campaign-body.ts has checked; null for other audiences. */
export function conditionsOf({ recipient_type, segment_conditions }: AudienceOf): Conditions | null {
  return recipient_type === "custom" ? (segment_conditions as unknown as Conditions) : null;
}
