/**
 * The operators of conditions, each in SQL for many people and in TypeScript for one person; both must agree
 * (agreement.test.ts). Operators are grouped by the kind of value: text-kind.ts, number-kind.ts and so on. A new
 * operator is one entry there, a new field one entry in built-in-fields.ts.
 */
import { isNotTrue, type Predicate } from "./combine-predicates.ts";
import type { ValueForm } from "./read-rule-value.ts";

/**
 * What a statement must provide: the row of subscribers, that of subscriber_stats beside it, the row of memberships, or
 * the status of the membership.
 */
export type Reads = "person" | "stats" | "membership" | "status";

export interface ValueTest<Held, Source> {
  /** What the test reads; by default, what its field reads. */
  readonly reads?: readonly Reads[];
  /** As in Rule (bound-rule.ts). */
  readonly isBroken?: boolean;
  /** The condition on the value in the row; false or null if the value is missing. */
  sql(source: Source): Predicate;
  holds(held: Held): boolean;
}

/** The time and time zone for which it is evaluated. */
export interface Moment {
  readonly now: Date;
  /** IANA name of the workspace's time zone. */
  readonly timeZone: string;
}

export interface Operator<Held, Source, Setting = Moment> {
  /** What `read` accepts. */
  readonly takes: ValueForm;
  /** Reads the rule's value. A text is a refusal, which completes "value …". */
  read(value: unknown, setting: Setting): ValueTest<Held, Source> | string;
  /** Matches if the test does not hold, and therefore also if the value is missing. */
  readonly isNegation?: boolean;
}

/** Values that share the same operators. */
export interface Kind<Held, Source, Setting = Moment> {
  readonly type: KindName;
  /** With an article, for refusals: "a text". */
  readonly label: string;
  readonly operators: ReadonlyMap<string, Operator<Held, Source, Setting>>;
}

export const kindNames = [
  "text",
  "number",
  "date",
  "boolean",
  "choice",
  "choices",
  "status",
  "segment",
  "mailing_list",
  "campaign",
] as const;
export type KindName = (typeof kindNames)[number];

/** @param operators two names of the same operator are the same value: the second is an alias of the first */
export function kind<Held, Source, Setting = Moment>(
  type: KindName,
  label: string,
  operators: Readonly<Record<string, Operator<Held, Source, Setting>>>,
): Kind<Held, Source, Setting> {
  return { type, label, operators: new Map(Object.entries(operators)) };
}

/** The negation of an operator. */
export function not<Held, Source, Setting>(
  operator: Operator<Held, Source, Setting>,
): Operator<Held, Source, Setting> {
  return { ...operator, isNegation: true };
}

/**
 * The two operators of every kind that test for a value. They take no value themselves.
 * @param hasValue holds for every value that is not blank
 */
export function presence<Held, Source>(hasValue: ValueTest<Held, Source>) {
  const isNotEmpty: Operator<Held, Source, unknown> = {
    takes: { type: "none", is_array: false },
    read: (value) => (value == null || value === "" ? hasValue : "must be left out"),
  };
  return { is_empty: not(isNotEmpty), is_not_empty: isNotEmpty };
}

/** Applies an operator to a value: the test or its negation, and the result for a missing value. */
export function ask<Held, Source, Setting>(
  { isNegation = false }: Operator<Held, Source, Setting>,
  question: ValueTest<Held, Source>,
): { sql(source: Source): Predicate; holds(held: Held | undefined): boolean } {
  return {
    sql: (source) => (isNegation ? isNotTrue(question.sql(source)) : question.sql(source)),
    holds: (held) => (held !== undefined && question.holds(held)) !== isNegation,
  };
}
