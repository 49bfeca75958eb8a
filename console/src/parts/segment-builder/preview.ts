/**
 * Counts a draft while it is edited: a moment after the last change, one request at a time, the older one given up. The last
 * counts stay until new ones come.
 */

import { PosthasteError, type Schema } from "@posthaste/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mayCall, usePlace } from "../../api/session.tsx";
import { useSettled } from "../use-settled.ts";
import {
  type Conditions,
  faultsByRule,
  type ReadDraft,
  rulesByPath,
  type SegmentDraft,
  textOf,
} from "./draft.ts";
import { useConditions } from "./queries.ts";

const SETTLED_MS = 400;
const BUSY_MS = 1_000;

interface Counted {
  readonly count: number;
  readonly samples: readonly Schema<"Member">[] | undefined;
  /** Of each rule alone, by `textOf`; null when there was no time. */
  readonly ofRules: ReadonlyMap<string, number | null>;
}

export interface Preview {
  readonly read: ReadDraft | undefined;
  /** What was counted last. */
  readonly counted: Counted | undefined;
  /** Whether the counts are those of an earlier draft. */
  readonly isOld: boolean;
  readonly error: unknown;
  readonly faults: ReadonlyMap<string, string>;
  readonly retry: () => void;
}

export function useSegmentPreview(listId: string, draft: SegmentDraft): Preview {
  const { api, workspace } = usePlace();
  const read = useConditions(listId, draft);
  const wanted = read?.conditions && JSON.stringify(read.conditions);
  const settled = useSettled(wanted, SETTLED_MS);
  const conditions = settled === undefined ? undefined : (JSON.parse(settled) as Conditions);
  const samples = mayCall(workspace, "listSegmentMembers");
  const { data, error, isPlaceholderData, refetch } = useQuery({
    queryKey: ["segment-preview", workspace.id, listId, settled],
    queryFn: async ({ signal }): Promise<Counted> => {
      if (conditions === undefined) throw new Error("nothing is counted without a finished rule");
      const body = { conditions, samples, rule_counts: true };
      const answer = await api.previewSegment({ id: listId, body, signal });
      const rules = new Map(rulesByPath(conditions));
      const ofRules = (answer.rule_counts ?? []).flatMap(({ path, subscriber_count }) => {
        const rule = rules.get(path);
        return rule ? [[textOf(rule), subscriber_count] as const] : [];
      });
      return { count: answer.subscriber_count, samples: answer.samples, ofRules: new Map(ofRules) };
    },
    enabled: conditions !== undefined,
    placeholderData: keepPreviousData,
    // Another count of the workspace has its turn: this one waits for its own.
    retry: (_times, fault) => fault instanceof PosthasteError && fault.status === 429,
    retryDelay: (_times, fault) => ((fault as PosthasteError).retryAfter ?? 0) * 1_000 || BUSY_MS,
  });
  // A refused or failed count leaves the last one in view.
  const [last, setLast] = useState(data);
  if (data !== undefined && data !== last) setLast(data);
  return {
    read,
    counted: wanted === undefined ? undefined : (data ?? last),
    isOld: wanted !== settled || isPlaceholderData || data === undefined,
    error: wanted === settled ? error : null,
    faults: faultsByRule(error, conditions),
    retry: () => void refetch(),
  };
}

/**
 * For conditions that no person meets although each of their rules is met by some people: how many there would be without each of the
 * outermost rules.
 */
export function useWithoutEach(listId: string, conditions: Conditions | undefined, isNeeded: boolean) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["segment-without", workspace.id, listId, JSON.stringify(conditions)],
    queryFn: async ({ signal }) => {
      const { logic, rules } = conditions as Conditions;
      const counts: number[] = [];
      for (const left of rules) {
        const others = { logic, rules: rules.filter((one) => one !== left) };
        const { subscriber_count } = await api.previewSegment({
          id: listId,
          body: { conditions: others },
          signal,
        });
        counts.push(subscriber_count);
      }
      return counts;
    },
    enabled: isNeeded && conditions !== undefined && conditions.rules.length > 1,
  }).data;
}
