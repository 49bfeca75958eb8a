/**
 * The expansion steps that this process is making. The next step of a campaign may start while the one before it is
 * still being written (audience/expand.ts): an idle worker starts it as the follower of the running step.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Predecessor } from "#sending/campaigns/audience/expand.ts";

export interface CampaignToExpand {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
}

/** A running step after which another step of the same campaign may start. */
export interface Followable {
  readonly campaign: CampaignToExpand;
  readonly behind: Predecessor;
}

interface RunningStep {
  readonly campaign: CampaignToExpand;
  /** Set while the step may be followed. */
  behind?: Predecessor | undefined;
}

export class RunningSteps {
  readonly #steps = new Set<RunningStep>();
  #changed = Promise.withResolvers<void>();

  /** The workspaces whose campaigns are being expanded. */
  workspaces(): WorkspaceId[] {
    return [...this.#steps].map(({ campaign }) => campaign.workspace_id);
  }

  campaigns(): string[] {
    return [...this.#steps].map(({ campaign }) => campaign.id);
  }

  /**
   * Runs a step and returns its result: whether it was made.
   * @param step calls `onChosen` when another step may follow
   */
  async make(
    campaign: CampaignToExpand,
    step: (onChosen: (to: string) => void) => Promise<boolean>,
  ): Promise<boolean> {
    const own: RunningStep = { campaign };
    const end = Promise.withResolvers<boolean>();
    let isMade = false;
    this.#steps.add(own);
    try {
      isMade = await step((to) => {
        own.behind = { to, isMade: end.promise };
        this.#notify();
      });
      return isMade;
    } finally {
      this.#steps.delete(own);
      end.resolve(isMade);
      this.#notify();
    }
  }

  /** A step that may be followed; each is returned once. */
  takeFollowable(): Followable | undefined {
    for (const step of this.#steps) {
      const { campaign, behind } = step;
      if (behind === undefined) continue;
      step.behind = undefined;
      return { campaign, behind };
    }
    return undefined;
  }

  /** Resolves when a step may be followed or has ended, at the latest after `ms`. */
  async waitForChange(ms: number, signal: AbortSignal): Promise<void> {
    const heard = new AbortController();
    const end = AbortSignal.any([signal, heard.signal]);
    await Promise.race([this.#changed.promise, delay(ms, undefined, { signal: end }).catch(() => {})]);
    heard.abort();
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
