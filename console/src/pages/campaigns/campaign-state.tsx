/** The state of a campaign as shape and word, and why it stands still. */
import type { Schema } from "@posthaste/client";
import { type Look, StateMark } from "../../parts/state-mark.tsx";

type Campaign = Schema<"CampaignSummary">;
type Status = Campaign["status"];

const looks: Readonly<Record<Status, Look>> = {
  draft: { shape: "○", tone: "text-muted" },
  scheduled: { shape: "◐", tone: "text-info" },
  sending: { shape: "◐", tone: "text-accent" },
  sent: { shape: "●", tone: "text-good" },
  paused: { shape: "▲", tone: "text-warning" },
  cancelled: { shape: "■", tone: "text-muted" },
};

export function CampaignState({ status }: Pick<Campaign, "status">) {
  return <StateMark {...looks[status]} word={status} />;
}
