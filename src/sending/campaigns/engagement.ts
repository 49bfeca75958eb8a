/**
 * What follows from opens and clicks: the recipient is marked, the person's figures and those of the list and the
 * campaign move, all in the transaction that writes the events. Rows are locked in the order recipients, people, days,
 * counters of campaigns.
 */
import { countEngagements } from "../../audience/subscribers/engagement-store.ts";
import type { Engaged } from "../../messages/engagement.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import { countCampaignEngagements, engagementScores, updateEngagedRecipients } from "./engagement-store.ts";

export async function countEngaged(tx: Queryable, engaged: readonly Engaged[], now: Date): Promise<void> {
  const ofCampaigns = engaged.filter(({ campaignId }) => campaignId !== null);
  const ofPeople = ofCampaigns.filter(({ isMachine }) => !isMachine);
  const recipients = ofPeople.length === 0 ? [] : await updateEngagedRecipients(tx, ofPeople);
  if (recipients.length > 0) {
    const scores = await engagementScores(tx, recipients, now);
    const people = recipients.map((recipient, at) => ({ ...recipient, score: scores[at] ?? 0 }));
    await countEngagements(tx, people, now);
  }
  if (ofCampaigns.length > 0) await countCampaignEngagements(tx, ofCampaigns, recipients);
}
