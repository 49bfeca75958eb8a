/** What uses a segment and keeps it from being deleted: unfinished campaigns, other segments, suppression lists. */
import parameters from "operation:listCampaigns";
import type { Query } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useAllSegments } from "../../api/segments.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { fieldOf, rulesByPath } from "../../parts/segment-builder/draft.ts";
import { useSegmentFields } from "../../parts/segment-builder/queries.ts";

export interface SegmentUse {
  readonly kind: "campaign" | "segment" | "suppression list";
  readonly name: string;
  /** Its page, below the workspace. */
  readonly to: string;
}

type Status = NonNullable<Query<"listCampaigns">["status"]>;

/** Campaigns in these have their recipients, and need the segment no longer. */
const ended: ReadonlySet<Status> = new Set(["sent", "cancelled"]);
const PAGE = 200;
const FRESH_MS = 60_000;

export function useSegmentUses(segmentId: string): {
  readonly uses: readonly SegmentUse[];
  readonly isLoaded: boolean;
} {
  const { api, workspace } = usePlace();
  const segments = useAllSegments();
  const own = segments.data?.find(({ id }) => id === segmentId);
  const fields = useSegmentFields(own?.mailing_list_id ?? "");
  const campaigns = useQuery({
    queryKey: ["campaigns", workspace.id, "unfinished"],
    queryFn: async ({ signal }) => {
      const statuses = (parameters.find(({ name }) => name === "status")?.enum ?? []) as readonly Status[];
      const pages = await Promise.all(
        statuses
          .filter((status) => !ended.has(status))
          .map((status) => api.listCampaigns({ query: { status, limit: PAGE }, signal })),
      );
      return pages.flatMap((page) => page.campaigns);
    },
    enabled: mayCall(workspace, "listCampaigns"),
    staleTime: FRESH_MS,
  });
  const lists = useQuery({
    queryKey: ["suppression-lists", workspace.id, "scopes"],
    queryFn: ({ signal }) => api.listSuppressionLists({ signal }),
    enabled: mayCall(workspace, "listSuppressionLists"),
    staleTime: FRESH_MS,
  });
  const names = (one: NonNullable<typeof segments.data>[number]) =>
    rulesByPath(one.conditions).some(
      ([, rule]) =>
        fields.data !== undefined &&
        fieldOf(fields.data, rule.field)?.type === "segment" &&
        "value" in rule &&
        rule.value === segmentId,
    );
  const uses: readonly SegmentUse[] = [
    ...(campaigns.data ?? [])
      .filter((one) => one.segment_id === segmentId)
      .map(({ id, name }) => ({ kind: "campaign" as const, name, to: `campaigns/${id}` })),
    ...(segments.data ?? []).filter(names).map(({ id, name, mailing_list_id }) => ({
      kind: "segment" as const,
      name,
      to: `lists/${mailing_list_id}/segments/${id}`,
    })),
    ...(lists.data?.suppression_lists ?? [])
      .filter((one) => one.segment_id === segmentId)
      .map(({ id, name }) => ({ kind: "suppression list" as const, name, to: `suppression/${id}` })),
  ];
  return { uses, isLoaded: !segments.isLoading && !campaigns.isLoading && !lists.isLoading };
}
