/**
 * Conditions bound to what they mean: fields resolved, values read, references followed. From here on nothing can be
 * refused. A rule answers in two languages, as operators do (operator.ts).
 */
import type { Sql } from "sql-template-tag";
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Reads } from "./operator.ts";
import type { Membership, Person } from "./person.ts";
import { and, or, type Predicate } from "./predicate.ts";

/** Where a statement stands that asks: at the row `s` of subscribers, of somebody who has this status on this list. */
export interface StatementContext {
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  readonly status: SubscriberStatus;
  /** The name of their row of memberships, which the statement reads when a rule does. */
  readonly membership: Sql;
  /** Statements around this one. */
  readonly depth: number;
}

/** A person on the list in question. */
export interface EvaluatedMember {
  readonly person: Person;
  readonly membership: Membership;
}

export interface Rule {
  readonly reads: readonly Reads[];
  /** How long a look takes, beside a plain column's 1. */
  readonly effort: number;
  /** Whether it, or what it refers to, lost its meaning: it then names fewer people than it was made to name. */
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
  /** Whether the list has few members among all people of the installation (members-store.ts). */
  readonly isSparse: boolean;
  readonly conditions: RuleGroup;
}

/** A rule that matches nobody: its field or its segment has gone, or is another by now. */
export const never: Rule = { reads: [], effort: 0, isBroken: true, sql: () => false, holds: () => false };

function isGroup(rule: Rule | RuleGroup): rule is RuleGroup {
  return "rules" in rule;
}

/** Whether any rule looks there; groups inside are looked through. */
export function doesRead({ rules }: RuleGroup, what: Reads): boolean {
  return rules.some((rule) => (isGroup(rule) ? doesRead(rule, what) : rule.reads.includes(what)));
}

/** Whether any rule has lost its meaning; groups inside are looked through. */
export function areBroken({ rules }: RuleGroup): boolean {
  return rules.some((rule) => (isGroup(rule) ? areBroken(rule) : rule.isBroken));
}

/** Who counts: active members, unless the conditions name the status themselves. */
export function statusesOf({ conditions }: Segmentation): readonly SubscriberStatus[] {
  return doesRead(conditions, "status") ? subscriberStatuses : ["active"];
}

/** What is quickly seen comes first: PostgreSQL keeps the order within groups, and looks no further than it has to. */
export function predicateOf({ logic, rules }: RuleGroup, place: StatementContext): Predicate {
  const parts = rules
    .toSorted((one, other) => effortOf(one) - effortOf(other))
    .map((rule) => (isGroup(rule) ? predicateOf(rule, place) : rule.sql(place)));
  return logic === "and" ? and(parts) : or(parts);
}

function effortOf(rule: Rule | RuleGroup): number {
  return isGroup(rule) ? rule.rules.reduce((sum, each) => sum + effortOf(each), 0) : rule.effort;
}

/** Whether a person is in it: what a statement would say of them. */
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
