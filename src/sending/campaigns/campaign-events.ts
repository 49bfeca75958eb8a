/** Events of campaigns that were sent or paused, for webhooks. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findCampaignState } from "./store.ts";
import { type PauseReason, pauseCampaign } from "./transitions-store.ts";

export interface CampaignEvent {
  readonly workspaceId: WorkspaceId;
  readonly campaignId: string;
  readonly name: string;
  readonly became: "sent" | "paused";
  /** Why the service paused it; null when a person did. */
  readonly reason: PauseReason | null;
  readonly time: Date;
}

/** Called in the transaction that changes the status of the campaigns. */
export type OnCampaignEvents = (tx: Queryable, events: readonly CampaignEvent[]) => Promise<void>;

/** Pauses a campaign (pauseCampaign) and announces it, in the transaction `tx`. */
export async function pauseAndAnnounce(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  { reason, now, onCampaignEvents }: PauseOptions,
): Promise<boolean> {
  if (!(await pauseCampaign(tx, workspaceId, campaignId, reason, now))) return false;
  if (onCampaignEvents === undefined) return true;
  const campaign = await findCampaignState(tx, workspaceId, campaignId);
  // A deleted campaign was cancelled instead of paused, which is not announced.
  if (campaign !== undefined) {
    const { name } = campaign;
    await onCampaignEvents(tx, [{ workspaceId, campaignId, name, became: "paused", reason, time: now }]);
  }
  return true;
}

export interface PauseOptions {
  readonly reason: PauseReason | null;
  readonly now: Date;
  readonly onCampaignEvents: OnCampaignEvents | undefined;
}
