/** One message, loaded again while it may change. */
import type { Schema } from "@posthaste/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useLive } from "../../api/live.ts";
import { usePlace } from "../../api/session.tsx";

export type Message = Schema<"Message">;
export type TimelineEntry = Message["timeline"][number];

const WAITING_MS = 2_000;

/** Whether further attempts follow. Exhaustive over the API's statuses. */
const waits: Readonly<Record<Message["status"], boolean>> = {
  queued: true,
  sending: true,
  deferred: true,
  delivered: false,
  bounced: false,
  failed: false,
  suppressed: false,
  cancelled: false,
  complained: false,
};

export function isWaiting({ status }: Message): boolean {
  return waits[status];
}

export function useMessage(id: string) {
  const { api, workspace } = usePlace();
  const queries = useQueryClient();
  const key = ["message", workspace.id, id];
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api.getMessage({ id, signal }),
    refetchInterval: ({ state: { data } }) => (data && isWaiting(data) ? WAITING_MS : false),
  });
  // Counts by status say that some message has moved on, such as to complained.
  const counts = JSON.stringify(useLive(workspace.id, "messages") ?? null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only other counts load the message again
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: key });
  }, [counts]);
  return query;
}
