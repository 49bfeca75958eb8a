/** The check of a version of a campaign, once for the editor and the sheet before sending. */
import type { Posthaste } from "@posthaste/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { usePlace } from "../../api/session.tsx";
import type { Campaign } from "./editor/draft.ts";
import { isBusy } from "./editor/use-render.ts";

const AFTER_SAVE_MS = 1_000;
const RETRY_MS = 5_000;

interface Options {
  /** Waits until nothing was saved for a moment, and keeps the result of a version for good; otherwise it is of now. */
  readonly isWriting: boolean;
}

/** The former result stays while a newer version is checked. */
export function useCheck({ id }: Pick<Campaign, "id">, revision: number, { isWriting }: Options) {
  const { api, workspace } = usePlace();
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["campaign-check", workspace.id, id, revision],
    queryFn: async ({ signal }) => {
      if (isWriting) await quiet(signal);
      return check(api, id, signal);
    },
    placeholderData: keepPreviousData,
    retry: (_count, fault) => isBusy(fault),
    retryDelay: RETRY_MS,
    staleTime: isWriting ? Number.POSITIVE_INFINITY : 0,
  });
  return {
    check: data?.check,
    /** Milliseconds that the service's clock, which decides when sending begins, is ahead of this one. */
    skew: data?.skew ?? 0,
    error,
    isChecking: isFetching,
    again: () => void refetch(),
  };
}

async function check(api: Posthaste, id: string, signal: AbortSignal) {
  const result = await api.checkCampaign({ id, signal });
  return { check: result, skew: Date.parse(result.checked_at) - Date.now() };
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
