/**
 * The people who meet conditions on any list of a workspace, as a relation. On most lists the conditions compile to the
 * same SQL, which is evaluated once for all of them: a hundred lists evaluated one by one would scan the same people a
 * hundred times.
 */
import sql, { empty, join, type Sql } from "sql-template-tag";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  doesRead,
  predicateOf,
  type RuleGroup,
  type Segmentation,
  statusesOf,
} from "./conditions/bound-rule.ts";
import { and, type Predicate } from "./conditions/combine-predicates.ts";
import { isActiveOn } from "./conditions/reference-kinds.ts";
import { peopleSql } from "./members-store.ts";

/** A range of person ids: after one, up to another or to the end. */
export interface IdRange {
  readonly after: string;
  readonly to: string | undefined;
}

interface Place {
  readonly workspaceId: WorkspaceId;
  /** Only people in this range are considered. */
  readonly stretch: IdRange | undefined;
  /** How many lists the workspace has. */
  readonly lists: number;
}

/** Lists on which the conditions compile to the same SQL for members of a status. */
interface Question {
  readonly status: SubscriberStatus;
  readonly met: Predicate;
  /** Whether it reads the row `m` of memberships. */
  readonly isOfMembership: boolean;
  /** Conditions that read all that it reads of people. */
  readonly conditions: RuleGroup;
  readonly listIds: string[];
}

/**
 * A select in brackets with the column id of subscribers, each once. Only active members, unless the conditions name
 * the status: then the person's own status counts, so that an active member of one list does not match as unsubscribed
 * from another.
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
      const question = { status, met, isOfMembership, conditions };
      if (known === undefined) questions.set(key, { ...question, listIds: [mailingListId] });
      else known.listIds.push(mailingListId);
    }
  }
  return [...questions.values()];
}

function selectOf(question: Question, { workspaceId, stretch, lists }: Place): Sql {
  const { status, met, isOfMembership, conditions, listIds } = question;
  const people = peopleSql(conditions, stretch && sql`stretch s`);
  const isTheirs = and([sql`s.workspace_id = ${workspaceId}`, met]);
  if (!isOfMembership) {
    return sql`select s.id from ${people} where ${isTheirs} and ${isActiveOnAny(listIds, lists)}`;
  }
  return sql`
    select s.id from ${people} join memberships m on m.workspace_id = ${workspaceId} and m.subscriber_id = s.id
    where m.mailing_list_id = any (${listIds}::uuid[]) and m.status = ${status}
      ${stretch ? sql`and ${isWithin(sql`m.subscriber_id`, stretch)}` : empty} and ${isTheirs}`;
}

/** Whether the person of the row `s` is active on one of these lists. @param lists number of lists of the workspace */
function isActiveOnAny(listIds: readonly string[], lists: number): Sql {
  if (listIds.length === lists) return sql`s.active_lists <> ''`;
  return sql`(${join(listIds.map(isActiveOn), " or ")})`;
}

/**
 * Reads the range once for all selects, by the primary key, whatever the statistics say and whatever index the
 * conditions could use.
 */
const stretchOf = (workspaceId: WorkspaceId, stretch: IdRange): Sql => sql`
  select s.* from (${withWorkspace(workspaceId, sql`(select) one`)}) k cross join lateral (
    select * from subscribers where workspace_id = k.workspace and ${isWithin(sql`id`, stretch)} offset 0) s`;

const isWithin = (id: Sql, { after, to }: IdRange): Sql =>
  sql`${id} > ${after} ${to === undefined ? empty : sql`and ${id} <= ${to}`}`;
