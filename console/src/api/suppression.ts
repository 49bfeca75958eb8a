/** Suppression lists, and why addresses get no mail. */
import type { Data, Schema } from "@posthaste/client";
import { queryOptions } from "@tanstack/react-query";
import { mayCall, type usePlace } from "./session.tsx";

export type SuppressionList = Schema<"SuppressionList">;
export type Finding = Data<"findSuppressions">["results"][number];
export type Block = Finding["blocks"][number];
type Place = ReturnType<typeof usePlace>;

export function suppressionListsQuery({ api, workspace }: Place) {
  return queryOptions({
    queryKey: ["suppression-lists", workspace.id],
    queryFn: async ({ signal }) => (await api.listSuppressionLists({ signal })).suppression_lists,
    enabled: mayCall(workspace, "listSuppressionLists"),
  });
}

/** Why addresses may or may not be mailed, in the order given. */
export function findingsQuery({ api, workspace }: Place, addresses: readonly string[]) {
  return queryOptions({
    queryKey: ["findings", workspace.id, addresses],
    queryFn: async ({ signal }) =>
      (await api.findSuppressions({ body: { addresses: [...addresses] }, signal })).results,
    enabled: addresses.length > 0 && mayCall(workspace, "findSuppressions"),
  });
}
