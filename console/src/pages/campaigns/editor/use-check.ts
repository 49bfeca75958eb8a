/** The check of the saved version. It runs by itself when nothing was saved for a moment; the former result stays meanwhile. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { usePlace } from "../../../api/session.tsx";
import type { OpenDraft } from "./use-draft.ts";
import { isBusy } from "./use-render.ts";

const AFTER_SAVE_MS = 1_000;
const RETRY_MS = 5_000;

export function useCheck({ campaign: { id, message_type }, state: { revision } }: OpenDraft) {
  const { api, workspace } = usePlace();
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["campaign-check", workspace.id, id, revision],
    queryFn: async ({ signal }) => {
      await quiet(signal);
      return api.checkCampaign({ id, signal });
    },
    placeholderData: keepPreviousData,
    // The service renders and checks mail only.
    enabled: message_type === "email",
    retry: (_count, fault) => isBusy(fault),
    retryDelay: RETRY_MS,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { check: data, error, isChecking: isFetching, again: () => void refetch() };
}

/** Waits, unless a newer version is saved meanwhile. */
function quiet(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, AFTER_SAVE_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
