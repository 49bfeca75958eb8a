/**
 * The steps of expansions that this process is making. A campaign's next step may begin while the one before it is still
 * being written (audience/expand.ts): whoever has nothing else to do follows it.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Predecessor } from "#sending/campaigns/audience/expand.ts";

export interface CampaignToExpand {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
}

/** A step that may be followed by one of the same campaign. */
export interface Followable {
  readonly campaign: CampaignToExpand;
  readonly behind: Predecessor;
}

export interface RunningSteps {
  /** Whose campaigns are being expanded. */
  workspaces(): WorkspaceId[];
  campaigns(): string[];
  /** Makes a step, and says what it said: whether it was made. It calls `onChosen` when it may be followed. */
  make(
    campaign: CampaignToExpand,
    step: (onChosen: (to: string) => void) => Promise<boolean>,
  ): Promise<boolean>;
  /** A step that may be followed, to one caller only. */
  takeFollowable(): Followable | undefined;
  /** Until a step may be followed or is over, or for so long. */
  waitForNews(ms: number, signal: AbortSignal): Promise<void>;
}

interface UnderWay {
  readonly campaign: CampaignToExpand;
  /** While it may be followed. */
  behind?: Predecessor | undefined;
}

export function createRunningSteps(): RunningSteps {
  const underWay = new Set<UnderWay>();
  let news = Promise.withResolvers<void>();
  const tell = () => {
    news.resolve();
    news = Promise.withResolvers();
  };
  return {
    workspaces: () => [...underWay].map(({ campaign }) => campaign.workspace_id),
    campaigns: () => [...underWay].map(({ campaign }) => campaign.id),
    async make(campaign, step) {
      const own: UnderWay = { campaign };
      const end = Promise.withResolvers<boolean>();
      let isMade = false;
      underWay.add(own);
      try {
        isMade = await step((to) => {
          own.behind = { to, isMade: end.promise };
          tell();
        });
        return isMade;
      } finally {
        underWay.delete(own);
        end.resolve(isMade);
        tell();
      }
    },
    takeFollowable() {
      for (const step of underWay) {
        const { campaign, behind } = step;
        if (behind === undefined) continue;
        step.behind = undefined;
        return { campaign, behind };
      }
      return undefined;
    },
    async waitForNews(ms, signal) {
      const heard = new AbortController();
      const end = AbortSignal.any([signal, heard.signal]);
      await Promise.race([news.promise, delay(ms, undefined, { signal: end }).catch(() => {})]);
      heard.abort();
    },
  };
}
