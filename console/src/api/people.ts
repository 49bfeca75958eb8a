/** One person. */
import type { Schema } from "@posthaste/client";
import { queryOptions } from "@tanstack/react-query";
import type { usePlace } from "./session.tsx";

export type Person = Schema<"SubscriberDetail">;

export function personQuery({ api, workspace }: ReturnType<typeof usePlace>, id: string) {
  return queryOptions({
    queryKey: ["person", workspace.id, id],
    queryFn: ({ signal }) => api.getSubscriber({ id, signal }),
  });
}
