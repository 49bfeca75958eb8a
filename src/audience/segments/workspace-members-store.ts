/**
 * Whoever meets conditions on any list of a workspace, as a relation. What the conditions come to on most lists is the same,
 * and is asked once for all of them: a hundred lists asked one by one look through the same people a hundred times.
 */
import sql, { empty, join, type Sql } from "sql-template-tag";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { and, type Predicate } from "./conditions/predicate.ts";
import { isActiveOn } from "./conditions/reference-kinds.ts";
import { doesRead, predicateOf, type Segmentation, statusesOf } from "./conditions/rule.ts";

/** People by their ids: behind one, and up to another or to the end. */
export interface IdRange {
  readonly after: string;
  readonly to: string | undefined;
}

interface Place {
  readonly workspaceId: WorkspaceId;
  /** Nobody else is looked at. */
  readonly stretch: IdRange | undefined;
  /** How many lists the workspace has. */
  readonly lists: number;
}

/** Lists on which the conditions come to the same for members of a status. */
interface Question {
  readonly status: SubscriberStatus;
  readonly met: Predicate;
  /** Whether it looks at the row `m` of memberships. */
  readonly isOfMembership: boolean;
  readonly listIds: string[];
}

/**
 * A select in brackets with the column id, of subscribers, each once. Only active members, unless the conditions name the
 * status: a person has one then, and who is active on one list is not meant by those who left another.
 * @param segmentations the same conditions, bound on every list of the workspace
 */
export function workspaceMembersRelation(
  workspaceId: WorkspaceId,
  segmentations: readonly Segmentation[],
  stretch: IdRange | undefined,
): Sql {
  const place = { workspaceId, stretch, lists: segmentations.length };
  const selects = questionsOf(workspaceId, segmentations).map((question) => selectOf(question, place));
  if (selects.length === 0) return sql`(select null::uuid as id where false)`;
  const people = stretch ? sql`with stretch as (${stretchOf(workspaceId, stretch)})` : empty;
  return sql`(${people} ${join(selects, " union ")})`;
}

function questionsOf(workspaceId: WorkspaceId, segmentations: readonly Segmentation[]): Question[] {
  const questions = new Map<string, Question>();
  for (const segmentation of segmentations) {
    const { mailingListId, conditions } = segmentation;
    for (const status of statusesOf(segmentation)) {
      const place = { workspaceId, mailingListId, status, membership: sql`m`, depth: 0 };
      const isTheirStatus = doesRead(conditions, "status") ? sql`s.status = ${status}` : true;
      const met = and([isTheirStatus, predicateOf(conditions, place)]);
      if (met === false) continue;
      const isOfMembership = status !== "active" || doesRead(conditions, "membership");
      const key = JSON.stringify([status, isOfMembership, met === true || [met.text, met.values]]);
      const known = questions.get(key);
      if (known === undefined) questions.set(key, { status, met, isOfMembership, listIds: [mailingListId] });
      else known.listIds.push(mailingListId);
    }
  }
  return [...questions.values()];
}

function selectOf(question: Question, { workspaceId, stretch, lists }: Place): Sql {
  const { status, met, isOfMembership, listIds } = question;
  const people = stretch ? sql`stretch s` : sql`subscribers s`;
  const isTheirs = and([sql`s.workspace_id = ${workspaceId}`, met]);
  if (!isOfMembership) {
    return sql`select s.id from ${people} where ${isTheirs} and ${isActiveOnAny(listIds, lists)}`;
  }
  return sql`
    select s.id from ${people} join memberships m on m.workspace_id = ${workspaceId} and m.subscriber_id = s.id
    where m.mailing_list_id = any (${listIds}::uuid[]) and m.status = ${status}
      ${stretch ? sql`and ${isWithin(sql`m.subscriber_id`, stretch)}` : empty} and ${isTheirs}`;
}

/** Whether the person of the row `s` is active on any of so many lists. */
function isActiveOnAny(listIds: readonly string[], lists: number): Sql {
  if (listIds.length === lists) return sql`s.active_lists <> ''`;
  return sql`(${join(listIds.map(isActiveOn), " or ")})`;
}

/** Read once, by all selects together, by the primary key, whatever statistics say of the workspace, and whatever index the conditions could use. */
const stretchOf = (workspaceId: WorkspaceId, stretch: IdRange): Sql => sql`
  select s.* from (${withWorkspace(workspaceId, sql`(select) one`)}) k cross join lateral (
    select * from subscribers where workspace_id = k.workspace and ${isWithin(sql`id`, stretch)} offset 0) s`;

const isWithin = (id: Sql, { after, to }: IdRange): Sql =>
  sql`${id} > ${after} ${to === undefined ? empty : sql`and ${id} <= ${to}`}`;
