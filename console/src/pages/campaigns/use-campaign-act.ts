/** The acts on a campaign that happen at once, with what follows each; what a state does not allow, the API refuses in words. */
import type { Operations, Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { offerUndo } from "../../parts/undo.tsx";

export type ActName = "pause" | "resume" | "unschedule" | "duplicate";

type Target = Pick<Schema<"CampaignSummary">, "id" | "name" | "scheduled_at">;

interface Order {
  readonly act: ActName;
  readonly campaign: Target;
}

export const actsOnce: Readonly<
  Record<ActName, { readonly name: string; readonly operation: keyof Operations }>
> = {
  pause: { name: "Pause", operation: "pauseCampaign" },
  resume: { name: "Resume", operation: "resumeCampaign" },
  unschedule: { name: "Stop and edit", operation: "unscheduleCampaign" },
  duplicate: { name: "Duplicate", operation: "duplicateCampaign" },
};

const SOON_MS = 60_000;

/** Whether it leaves within a minute: such a time is no plan for a draft. */
export function isSoon({ scheduled_at }: Pick<Target, "scheduled_at">): boolean {
  return scheduled_at !== null && Date.parse(scheduled_at) < Date.now() + SOON_MS;
}

export function useCampaignAct() {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const run = async ({ act, campaign }: Order) => {
    const { id } = campaign;
    if (act === "pause") return api.pauseCampaign({ id });
    if (act === "resume") return api.resumeCampaign({ id });
    if (act === "duplicate") return api.duplicateCampaign({ id });
    const draft = await api.unscheduleCampaign({ id });
    if (!isSoon(campaign) || !mayCall(workspace, "updateCampaign")) return draft;
    return api.updateCampaign({ id, query: { without: "content" }, body: { scheduled_at: null } });
  };
  const act = useAct({
    run: async (order: Order) => ({ ...order, made: await run(order) }),
    changes: ["campaign", "campaigns", "campaign-progress"],
    done: ({ made: { name, status } }) => `${name} is ${status === "draft" ? "a draft" : status}`,
    onDone: ({ act: done, campaign, made }) => {
      if (done === "pause") {
        offerUndo(`${campaign.name} is paused`, () => act.mutate({ act: "resume", campaign }));
      }
      if (made.status === "draft") void navigate({ to: `/${workspace.id}/campaigns/${made.id}` });
    },
  });
  return act;
}
