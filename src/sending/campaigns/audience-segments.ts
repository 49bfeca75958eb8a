/** Which segments say who gets a campaign: they have to be there until it is over. */
import { referencesIn } from "#audience/segments/conditions/binder.ts";
import type { Conditions } from "#audience/segments/conditions/conditions.ts";
import type { Campaign } from "./campaign.ts";

export type AudienceOf = Pick<
  Campaign,
  "recipient_type" | "mailing_list_id" | "segment_id" | "segment_conditions"
>;

/** The segment it goes to, or those that its conditions name; each once. */
export function segmentsOf(campaign: AudienceOf): string[] {
  if (campaign.recipient_type === "segment") return campaign.segment_id === null ? [] : [campaign.segment_id];
  const conditions = conditionsOf(campaign);
  return conditions === null ? [] : [...new Set(referencesIn(conditions, "segment").map(({ id }) => id))];
}

/** Of a custom audience; they were read when they were given (read-campaign.ts). */
export function conditionsOf({ recipient_type, segment_conditions }: AudienceOf): Conditions | null {
  return recipient_type === "custom" ? (segment_conditions as unknown as Conditions) : null;
}
