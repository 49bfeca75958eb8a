/** The draft that is open in the editor, saved by itself, with ⌘S, and when the page is left. */
import { useEffect, useState, useSyncExternalStore } from "react";
import { usePlace } from "../../../api/session.tsx";
import { Autosave } from "./autosave.ts";
import type { AutosaveState } from "./autosave-state.ts";
import { type Campaign, type Draft, draftOf, placesOf } from "./draft.ts";

export interface OpenDraft {
  readonly campaign: Campaign;
  readonly draft: Draft;
  readonly edit: (change: Partial<Draft>) => void;
  readonly state: AutosaveState<Draft>;
  readonly autosave: Autosave<Draft>;
}

export function useDraft(campaign: Campaign): OpenDraft {
  const { api } = usePlace();
  const [autosave] = useState(
    () => new Autosave({ draft: draftOf(campaign), revision: campaign.revision }, placesOf(api, campaign.id)),
  );
  const state = useSyncExternalStore(autosave.subscribe, autosave.state);
  useEffect(() => {
    void autosave.open();
    const save = () => void autosave.saveNow();
    const onHidden = () => document.hidden && save();
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      save();
    };
    document.addEventListener("visibilitychange", onHidden);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("visibilitychange", onHidden);
      document.removeEventListener("keydown", onKey);
      save();
    };
  }, [autosave]);
  return { campaign, draft: state.draft, edit: (change) => autosave.edit(change), state, autosave };
}
