/** Who a campaign is for, as a relation of subscribers: the members of a list, of a segment, or whoever meets conditions. */
import type { Sql } from "sql-template-tag";
import { listMailingLists } from "../../audience/mailing-lists/store.ts";
import type { Conditions } from "../../audience/segments/conditions.ts";
import { membersOf, membersOfEach } from "../../audience/segments/members-of.ts";
import { countIn, withDeadline } from "../../audience/segments/members-store.ts";
import { findSegment } from "../../audience/segments/store.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import type { Campaign } from "./campaign.ts";
import { anyOfSql, listMembersSql } from "./recipients-store.ts";

const MOST_ESTIMATE_MS = 2_000;

export type AudienceOf = Pick<
  Campaign,
  "recipient_type" | "mailing_list_id" | "segment_id" | "segment_conditions"
>;

/** Where the people of an audience come from. */
export interface Audience {
  /** A select in brackets with the column id, of subscribers, each once. */
  readonly people: Sql;
  /** The list whose members they are; null for the whole workspace. */
  readonly list: { readonly id: string; readonly name: string } | null;
  readonly segmentName: string | null;
}

/** At this moment; undefined when its list or segment is not there. */
export async function findAudience(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaign: AudienceOf,
  now: Date,
): Promise<Audience | undefined> {
  const { recipient_type, mailing_list_id, segment_id } = campaign;
  if (recipient_type === "segment") {
    const segment = segment_id && (await findSegment(db, workspaceId, undefined, segment_id));
    if (!segment) return undefined;
    const list = { id: segment.mailing_list_id, name: segment.mailing_list_name };
    const people = await membersOf(db, workspaceId, list.id, { segmentId: segment.id }, now);
    return { people, list, segmentName: segment.name };
  }
  // Conditions were read when they were given (read-campaign.ts).
  const conditions =
    recipient_type === "custom" ? (campaign.segment_conditions as unknown as Conditions) : null;
  const lists = await listMailingLists(db, workspaceId);
  if (mailing_list_id === null && conditions !== null) {
    const targets = lists.map(({ id }) => ({ mailing_list_id: id, conditions }));
    const relations = await membersOfEach(db, workspaceId, targets, now);
    return { people: anyOfSql(relations), list: null, segmentName: null };
  }
  const list = lists.find(({ id }) => id === mailing_list_id);
  if (list === undefined) return undefined;
  const people =
    conditions === null
      ? listMembersSql(workspaceId, list.id)
      : await membersOf(db, workspaceId, list.id, { conditions }, now);
  return { people, list, segmentName: null };
}

/** As many as there are now; 0 while nobody is named, or when it takes too long to say. */
export async function estimateAudience(
  db: Database,
  workspaceId: WorkspaceId,
  campaign: AudienceOf,
  now: Date,
): Promise<number> {
  try {
    return await withDeadline(db, workspaceId, MOST_ESTIMATE_MS, async (tx) => {
      const audience = await findAudience(tx, workspaceId, campaign, now);
      return audience === undefined ? 0 : countIn(tx, audience.people);
    });
  } catch (fault) {
    if (fault instanceof ApiError) return 0;
    throw fault;
  }
}
