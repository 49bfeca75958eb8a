/** The segments of the workspace. */
import type { Posthaste, Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "./session.tsx";

const FRESH_MS = 60_000;
const PAGE = 200;

/** All segments of the workspace; there are at most 1,000. */
export function useAllSegments() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["segments", workspace.id, "all"],
    queryFn: ({ signal }) => everySegment(api, signal),
    staleTime: FRESH_MS,
  });
}

async function everySegment(api: Posthaste, signal: AbortSignal): Promise<readonly Schema<"Segment">[]> {
  const segments: Schema<"Segment">[] = [];
  for await (const one of api.listSegments({ query: { limit: PAGE }, signal })) segments.push(one);
  return segments;
}
