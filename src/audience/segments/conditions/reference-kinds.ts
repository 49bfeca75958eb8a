/** Conditions on being in another segment, and on being active on a list. */
import sql, { raw, type Sql } from "sql-template-tag";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { isUuid } from "#platform/ids.ts";
import type { BindingScope } from "./binding-scope.ts";
import {
  areBroken,
  doesRead,
  type EvaluatedMember,
  isIn,
  never,
  predicateOf,
  type Segmentation,
  type StatementContext,
  statusesOf,
} from "./bound-rule.ts";
import { and, isNotTrue, or, type Predicate } from "./combine-predicates.ts";
import { kind, not, type Operator } from "./operator.ts";

export type ReferenceOperator = Operator<EvaluatedMember, StatementContext, BindingScope>;

/** An id in the spelling of stored ids; undefined for other values. */
export function readIdValue(value: unknown): string | undefined {
  return typeof value === "string" && isUuid(value.trim()) ? value.trim().toLowerCase() : undefined;
}

const isInSegment: ReferenceOperator = {
  takes: { type: "segment", is_array: false },
  read(value, scope) {
    const id = readIdValue(value);
    if (id === undefined) return "must be the id of a segment";
    const segment = scope.segment(id);
    // A segment that was deleted with its mailing list has no members.
    if (segment === undefined) return never;
    // On the same list it reads what the segment's conditions read; on another list only the person and their figures.
    const isHere = segment.mailingListId === scope.mailingListId;
    const isOfMembership = isHere && doesRead(segment.conditions, "membership");
    return {
      reads: [
        "person",
        ...(isOfMembership ? (["membership"] as const) : []),
        ...(doesRead(segment.conditions, "stats") ? (["stats"] as const) : []),
      ],
      isBroken: areBroken(segment.conditions),
      sql: (place) => isInSegmentSql(segment, place),
      holds: ({ person }) => isIn(segment, person),
    };
  },
};

/**
 * The negation of an operator that refers to something: it also matches no one if that was deleted or is broken.
 * Otherwise "not in Do-not-mail" would match all people.
 */
export function notUnlessBroken(operator: ReferenceOperator): ReferenceOperator {
  return {
    ...operator,
    read(value, scope) {
      const question = operator.read(value, scope);
      if (typeof question === "string") return question;
      if (question.isBroken) return never;
      return {
        ...question,
        sql: (place) => isNotTrue(question.sql(place)),
        holds: (held) => !question.holds(held),
      };
    },
  };
}

export const segmentKind = kind<EvaluatedMember, StatementContext, BindingScope>("segment", "a segment", {
  is_in: isInSegment,
  is_not_in: notUnlessBroken(isInSegment),
});

const isActiveIn: ReferenceOperator = {
  takes: { type: "mailing_list", is_array: false },
  read(value) {
    const id = readIdValue(value);
    if (id === undefined) return "must be the id of a mailing list";
    return {
      sql: ({ mailingListId, status }) => (id === mailingListId ? status === "active" : isActiveOn(id)),
      holds: ({ person }) => person.memberships.get(id)?.status === "active",
    };
  },
};

export const mailingListKind = kind<EvaluatedMember, StatementContext, BindingScope>(
  "mailing_list",
  "a mailing list",
  {
    is_active_in: isActiveIn,
    is_not_active_in: not(isActiveIn),
  },
);

/** Whether the person of the row `s` is active on a list. */
export function isActiveOn(mailingListId: string): Sql {
  return sql`position(uuid_send(${mailingListId}::uuid) in s.active_lists) > 0`;
}

/**
 * On the same list the segment's conditions apply to the same membership; on another list to the person's membership
 * there, if any.
 */
function isInSegmentSql(segment: Segmentation, place: StatementContext): Predicate {
  const { mailingListId, conditions } = segment;
  const statuses = statusesOf(segment);
  if (mailingListId === place.mailingListId) {
    return statuses.includes(place.status) && predicateOf(conditions, place);
  }
  const depth = place.depth + 1;
  const membership = raw(`m${depth}`);
  const meets = (status: SubscriberStatus) =>
    predicateOf(conditions, { ...place, mailingListId, status, membership, depth });
  const isMember = (wanted: readonly SubscriberStatus[]): Predicate => {
    const met = or(wanted.map((status) => and([sql`${membership}.status = ${status}`, meets(status)])));
    return typeof met === "boolean"
      ? met
      : sql`exists (select from memberships ${membership}
          where ${membership}.workspace_id = ${place.workspaceId} and ${membership}.mailing_list_id = ${mailingListId}
            and ${membership}.subscriber_id = s.id and (${met}))`;
  };
  if (doesRead(conditions, "membership")) return isMember(statuses);
  // Active members are known from the person's row, without reading memberships.
  return or([
    and([isActiveOn(mailingListId), meets("active")]),
    isMember(statuses.filter((status) => status !== "active")),
  ]);
}
