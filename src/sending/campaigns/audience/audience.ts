/** Who a campaign is for, as a relation of subscribers: the members of a list, of a segment, or whoever meets conditions. */

import type { Sql } from "sql-template-tag";
import { listMailingLists } from "#audience/mailing-lists/store.ts";
import { referencesIn } from "#audience/segments/conditions/binder.ts";
import { type Conditions, eachCondition } from "#audience/segments/conditions/conditions.ts";
import { listConditionsOf } from "#audience/segments/conditions/definitions-store.ts";
import { countMembersIn, withDeadline, withTimeLimit } from "#audience/segments/members-store.ts";
import { membersOf, membersOfWorkspace } from "#audience/segments/segment-members.ts";
import { findSegment } from "#audience/segments/store.ts";
import type { IdRange } from "#audience/segments/workspace-members-store.ts";
import { createWorkspaceLimiter, QUERY_BOUNDS } from "#platform/concurrency.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type AudienceOf, conditionsOf, segmentsOf } from "#sending/campaigns/audience-segments.ts";
import { countMailable, type EligibilityTerms, listMembersSql } from "./recipients-store.ts";

const MOST_ESTIMATE_MS = 2_000;

/** Where the people of an audience come from. */
export interface CampaignAudience {
  /** A select in brackets with the column id, of subscribers, each once. */
  readonly people: Sql;
  /** The list whose members they are; null for the whole workspace. */
  readonly list: { readonly id: string; readonly name: string } | null;
  readonly segmentName: string | null;
  readonly terms: EligibilityTerms;
}

/**
 * Conditions without a list. To look for the next of all that meet them anew at every step would take the square of their
 * number: they are gone through by stretches of the workspace's people.
 */
export function isOfWorkspace({ recipient_type, mailing_list_id }: AudienceOf): boolean {
  return recipient_type === "custom" && mailing_list_id === null;
}

/**
 * At this moment; undefined when its list or segment, or one that its conditions name, is not there.
 * @param stretch for an audience of the whole workspace: nobody else is looked at
 */
export async function findAudience(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaign: AudienceOf,
  now: Date,
  stretch?: IdRange,
): Promise<CampaignAudience | undefined> {
  const { recipient_type, mailing_list_id, segment_id } = campaign;
  if (recipient_type === "segment") {
    const segment = segment_id && (await findSegment(db, workspaceId, undefined, segment_id));
    if (!segment) return undefined;
    const list = { id: segment.mailing_list_id, name: segment.mailing_list_name };
    const people = await membersOf(db, workspaceId, list.id, { segmentId: segment.id }, now);
    const isActive = !nameStatus(segment.conditions);
    const terms = { listId: list.id, segmentId: segment.id, isActive };
    return { people, list, segmentName: segment.name, terms };
  }
  const conditions = conditionsOf(campaign);
  const lists = await listMailingLists(db, workspaceId);
  if (conditions !== null && !(await areThere(db, workspaceId, campaign, conditions, lists)))
    return undefined;
  if (mailing_list_id === null && conditions !== null) {
    const people = await membersOfWorkspace(db, workspaceId, lists, { conditions, stretch }, now);
    const terms = { listId: null, segmentId: null, isActive: false };
    return { people, list: null, segmentName: null, terms };
  }
  const list = lists.find(({ id }) => id === mailing_list_id);
  if (list === undefined) return undefined;
  const people =
    conditions === null
      ? listMembersSql(workspaceId, list.id)
      : await membersOf(db, workspaceId, list.id, { conditions }, now);
  const isActive = conditions === null || !nameStatus(conditions);
  return { people, list, segmentName: null, terms: { listId: list.id, segmentId: null, isActive } };
}

/** Segments and lists that conditions name. */
async function areThere(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaign: AudienceOf,
  conditions: Conditions,
  lists: readonly { readonly id: string }[],
): Promise<boolean> {
  const segments = segmentsOf(campaign);
  const found = segments.length === 0 ? [] : await listConditionsOf(db, workspaceId, segments);
  const known = new Set([...found, ...lists].map(({ id }) => id));
  const named = [...segments, ...referencesIn(conditions, "mailing_list").map(({ id }) => id)];
  return named.every((id) => known.has(id));
}

/** Otherwise they hold for active members alone (decisions, section 7 row 8). */
function nameStatus(conditions: Conditions): boolean {
  return [...eachCondition(conditions)].some(([, { field }]) => field === "status");
}

/** A burst of requests about lists, too, leaves connections of the database to others. */
const takeTurn = createWorkspaceLimiter(
  QUERY_BOUNDS,
  "Too many campaigns of this workspace are looked at already: ask fewer at a time",
);

/** Runs what looks at an audience: conditions stand in the line of the workspace's segments, plain lists in their own. */
export function lookAt<Result>(
  db: Database,
  workspaceId: WorkspaceId,
  { recipient_type }: AudienceOf,
  mostMs: number,
  look: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  return recipient_type === "mailing_list"
    ? takeTurn(workspaceId, () => withTimeLimit(db, mostMs, look))
    : withDeadline(db, workspaceId, mostMs, look);
}

/**
 * As many as there are now with the status for mail; 0 while nobody is named, or when it takes too long to say. Suppression
 * is looked at when they are written to.
 */
export async function estimateAudience(
  db: Database,
  workspaceId: WorkspaceId,
  campaign: AudienceOf,
  now: Date,
): Promise<number> {
  try {
    return await lookAt(db, workspaceId, campaign, MOST_ESTIMATE_MS, async (tx) => {
      const audience = await findAudience(tx, workspaceId, campaign, now);
      if (audience === undefined) return 0;
      const { people, terms } = audience;
      return terms.isActive ? countMembersIn(tx, people) : countMailable(tx, workspaceId, people, terms);
    });
  } catch (fault) {
    if (fault instanceof ApiError) return 0;
    throw fault;
  }
}
