/** Learns from the stream that the open draft was sent or deleted elsewhere: in another tab, by another person or a program. */
import type { Data } from "@posthaste/client";
import { useEffect } from "react";
import { useLive } from "../../../api/live.ts";
import { usePlace } from "../../../api/session.tsx";
import type { OpenDraft } from "./use-draft.ts";

type Live = Pick<Data<"getCampaignProgress">, "status">;

/** @param onChanged loads the campaign again, which closes the editor; changes that are not saved are offered as a copy before */
export function useSentElsewhere({ campaign, state, autosave }: OpenDraft, onChanged: () => void): void {
  const { workspace } = usePlace();
  const live = useLive<Live | null>(workspace.id, `campaign:${campaign.id}`);
  const isDraft = live === undefined || live?.status === "draft";
  const isSaved = state.status === "saved";
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each change of the state
  useEffect(() => {
    if (isDraft) return;
    if (isSaved) onChanged();
    // The service refuses it, and the editor says what becomes of the changes.
    else void autosave.saveNow();
  }, [isDraft]);
}
