/**
 * Counts opens and clicks for the recipient, the subscriber, the list, and the campaign or autoresponder, in the transaction
 * that writes the events. Rows are locked in the order recipients, subscribers, days, counters.
 */
import { countEngagements } from "#audience/subscribers/engagement-store.ts";
import type { Engaged } from "#messages/record-engagement.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type BulkOrigin, stepCounters, tablesOf } from "#sending/bulk-origin-tables-store.ts";
import {
  countCampaignEngagements,
  countEngagementTotals,
  type EngagedRecipient,
  engagementScores,
  updateEngagedRecipients,
} from "./engagement-store.ts";
import { findStepsOfMail } from "./steps-of-mail-store.ts";

export async function countEngaged(tx: Queryable, engaged: readonly Engaged[], now: Date): Promise<void> {
  const ofCampaigns = engaged.filter(({ campaignId }) => campaignId !== null);
  const ofAutoresponders = engaged.filter(({ autoresponderId }) => autoresponderId !== null);
  const campaignRecipients = await markRecipients(tx, "campaign", ofCampaigns);
  const autoresponderRecipients = await markRecipients(tx, "autoresponder", ofAutoresponders);
  const recipients = [...campaignRecipients, ...autoresponderRecipients];
  if (recipients.length > 0) {
    const scores = await engagementScores(tx, recipients, now);
    const people = recipients.map((recipient, at) => ({ ...recipient, score: scores[at] ?? 0 }));
    await countEngagements(tx, people, now);
  }
  if (ofCampaigns.length > 0) {
    await countEngagementTotals(tx, tablesOf.campaign, ofCampaigns, campaignRecipients);
    await countCampaignEngagements(tx, ofCampaigns);
  }
  if (ofAutoresponders.length > 0) {
    await countEngagementTotals(tx, tablesOf.autoresponder, ofAutoresponders, autoresponderRecipients);
    const stepOf = await findStepsOfMail(tx, ofAutoresponders);
    await countEngagementTotals(
      tx,
      stepCounters,
      ofAutoresponders.map((one) => ({ ...one, autoresponderId: stepOf(one) })),
      autoresponderRecipients.map((one) => ({ ...one, originId: stepOf(one) })),
    );
  }
}

/** Opens and clicks by machines do not mark a recipient. */
async function markRecipients(
  tx: Queryable,
  origin: BulkOrigin,
  engaged: readonly Engaged[],
): Promise<EngagedRecipient[]> {
  const ofPeople = engaged.filter(({ isMachine }) => !isMachine);
  return ofPeople.length === 0 ? [] : updateEngagedRecipients(tx, origin, ofPeople);
}
