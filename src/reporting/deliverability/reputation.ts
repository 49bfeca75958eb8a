/** What is thought of a sender: its figures in a window, and a score from them. */
import { PAUSED_AT } from "#audience/mailing-lists/list-stats.ts";
import type { StatusCounts } from "#messages/counters/counters.ts";
import { fraction } from "#platform/fraction.ts";
import { attemptedOf, deliveredOf } from "#reporting/rates.ts";

export interface Listing {
  readonly last_listed_count: number;
  readonly last_checked_at: Date;
}

/**
 * Half of the score is lost at the bounce rate at which a sender is paused, half at that of complaints.
 * @param listing what the blacklist monitor of the address or domain saw last
 */
export function reputationOf(counts: StatusCounts, listing: Listing | undefined) {
  const sent = attemptedOf(counts);
  const delivered = deliveredOf(counts);
  const rates = {
    delivery_rate: fraction(delivered, sent),
    bounce_rate: fraction(counts.bounced, sent),
    complaint_rate: fraction(counts.complained, delivered),
  };
  const lost = (rate: keyof typeof PAUSED_AT) => 50 * Math.min(1, rates[rate] / PAUSED_AT[rate]);
  return {
    sent,
    delivered,
    bounced: counts.bounced,
    complained: counts.complained,
    ...rates,
    score: Math.round(100 - lost("bounce_rate") - lost("complaint_rate")),
    blacklist_listed_count: listing?.last_listed_count ?? null,
    last_checked_at: listing?.last_checked_at ?? null,
  };
}
