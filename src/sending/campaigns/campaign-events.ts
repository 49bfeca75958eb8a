/** Which campaigns were sent or paused, for those who want to hear of it. */
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

/** Told in the transaction that moves the campaigns. */
export type OnCampaignEvents = (tx: Queryable, news: readonly CampaignEvent[]) => Promise<void>;

/** Pauses as pauseCampaign does, and tells; `tx` is a transaction. */
export async function pauseAndAnnounce(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  { reason, now, onCampaignEvents }: PauseOptions,
): Promise<boolean> {
  if (!(await pauseCampaign(tx, workspaceId, campaignId, reason, now))) return false;
  if (onCampaignEvents === undefined) return true;
  const campaign = await findCampaignState(tx, workspaceId, campaignId);
  // One that was deleted is not paused but over, and nobody waits for it.
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
