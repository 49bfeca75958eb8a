/** Counts the people who meet conditions, and says on request who some of them are, and how many meet each rule. */
import type { Static } from "typebox";
import { listMembers } from "#audience/subscribers/store.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Rule, Segmentation } from "./conditions/bound-rule.ts";
import { eachRule } from "./conditions/conditions.ts";
import { countMembersIn, listIdsIn, membersRelation, withDeadline } from "./members-store.ts";
import type { SegmentPreview } from "./segment.ts";

const MOST_PREVIEW_MS = 5_000;
/** Time limit of the count of one rule, and for beginning more of them. */
const MOST_RULE_MS = 1_000;
const MOST_RULES_MS = 4_000;
const SAMPLES = 10;

/** @throws ApiError BAD_REQUEST when the conditions take too long, RATE_LIMIT_EXCEEDED when too many previews wait */
export async function previewSegmentation(
  db: Database,
  workspaceId: WorkspaceId,
  segmentation: Segmentation,
  { samples = false, rule_counts = false }: { readonly samples?: boolean; readonly rule_counts?: boolean },
): Promise<Static<typeof SegmentPreview>> {
  const relation = membersRelation(workspaceId, segmentation);
  const { subscriber_count, ids } = await withDeadline(db, workspaceId, MOST_PREVIEW_MS, async (tx) => {
    const count = await countMembersIn(tx, relation);
    const first = { from: null, skip: 0, limit: SAMPLES };
    return { subscriber_count: count, ids: samples && count > 0 ? await listIdsIn(tx, relation, first) : [] };
  });
  return {
    subscriber_count,
    ...(samples && { samples: await listMembers(db, workspaceId, segmentation.mailingListId, ids) }),
    ...(rule_counts && { rule_counts: await countRules(db, workspaceId, segmentation, subscriber_count) }),
  };
}

/**
 * Counts each rule alone until the time is used up; a rule that takes too long has no count.
 * @param all the people who meet all conditions: those of the only rule, if there is one
 */
async function countRules(
  db: Database,
  workspaceId: WorkspaceId,
  segmentation: Segmentation,
  all: number,
): Promise<{ path: string; subscriber_count: number | null }[]> {
  const rules = [...eachRule<Rule>(segmentation.conditions)];
  if (rules.length === 1) return rules.map(([path]) => ({ path, subscriber_count: all }));
  const until = performance.now() + MOST_RULES_MS;
  const counted: { path: string; subscriber_count: number | null }[] = [];
  for (const [path, rule] of rules) {
    const alone = { ...segmentation, conditions: { logic: "and", rules: [rule] } } as const;
    const count = () =>
      withDeadline(db, workspaceId, MOST_RULE_MS, (tx) =>
        countMembersIn(tx, membersRelation(workspaceId, alone)),
      ).catch((fault: unknown) => {
        if (fault instanceof ApiError && fault.code === "BAD_REQUEST") return null;
        throw fault;
      });
    counted.push({ path, subscriber_count: performance.now() < until ? await count() : null });
  }
  return counted;
}
