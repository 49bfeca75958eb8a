/**
 * Bound conditions: fields are resolved, values read, references followed. Nothing can be refused any more. A rule has
 * an SQL and a TypeScript form, as operators do (operator.ts).
 */
import type { Sql } from "sql-template-tag";
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { and, or, type Predicate } from "./combine-predicates.ts";
import { isGroup } from "./conditions.ts";
import type { Reads } from "./operator.ts";
import type { Membership, Person } from "./person.ts";

/**
 * The statement that a rule is part of: it is at the row `s` of subscribers, of a person with this status on this list,
 * and if a rule reads it, at the person's row `t` of subscriber_stats.
 */
export interface StatementContext {
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  readonly status: SubscriberStatus;
  /** The alias of the row of memberships, which the statement reads if a rule does. */
  readonly membership: Sql;
  /** Number of enclosing statements. */
  readonly depth: number;
}

/** A member of the list in question. */
export interface EvaluatedMember {
  readonly person: Person;
  readonly membership: Membership;
}

export interface Rule {
  readonly reads: readonly Reads[];
  /** The cost of evaluating it, relative to a plain column's 1. */
  readonly effort: number;
  /** Whether the rule, or what it refers to, has lost its meaning: it then matches fewer people than intended. */
  readonly isBroken: boolean;
  sql(place: StatementContext): Predicate;
  holds(candidate: EvaluatedMember): boolean;
}

export interface RuleGroup {
  readonly logic: "and" | "or";
  readonly rules: readonly (Rule | RuleGroup)[];
}

/** The members of a list who meet conditions. */
export interface Segmentation {
  readonly mailingListId: string;
  /** Whether the list has few members compared to all people of the installation (members-store.ts). */
  readonly isSparse: boolean;
  readonly conditions: RuleGroup;
}

/** A rule that matches no one: its field or segment was deleted or changed. */
export const never: Rule = { reads: [], effort: 0, isBroken: true, sql: () => false, holds: () => false };

/** Whether any rule reads this; includes nested groups. */
export function doesRead({ rules }: RuleGroup, what: Reads): boolean {
  return rules.some((rule) => (isGroup(rule) ? doesRead(rule, what) : rule.reads.includes(what)));
}

/** Whether any rule has lost its meaning; includes nested groups. */
export function areBroken({ rules }: RuleGroup): boolean {
  return rules.some((rule) => (isGroup(rule) ? areBroken(rule) : rule.isBroken));
}

/** The statuses that are considered: active, unless the conditions name the status. */
export function statusesOf({ conditions }: Segmentation): readonly SubscriberStatus[] {
  return doesRead(conditions, "status") ? subscriberStatuses : ["active"];
}

/** Cheap rules come first: within brackets PostgreSQL keeps the order, and stops as soon as the result is known. */
export function predicateOf({ logic, rules }: RuleGroup, place: StatementContext): Predicate {
  const parts = rules
    .toSorted((one, other) => effortOf(one) - effortOf(other))
    .map((rule) => (isGroup(rule) ? predicateOf(rule, place) : rule.sql(place)));
  return logic === "and" ? and(parts) : or(parts);
}

function effortOf(rule: Rule | RuleGroup): number {
  return isGroup(rule) ? rule.rules.reduce((sum, each) => sum + effortOf(each), 0) : rule.effort;
}

/** Whether a person is in the segment. It gives the same result as the SQL statement. */
export function isIn(segmentation: Segmentation, person: Person): boolean {
  const membership = person.memberships.get(segmentation.mailingListId);
  return (
    membership !== undefined &&
    statusesOf(segmentation).includes(membership.status) &&
    holds(segmentation.conditions, { person, membership })
  );
}

function holds({ logic, rules }: RuleGroup, candidate: EvaluatedMember): boolean {
  const answer = (rule: Rule | RuleGroup) => (isGroup(rule) ? holds(rule, candidate) : rule.holds(candidate));
  return logic === "and" ? rules.every(answer) : rules.some(answer);
}
