/**
 * What a condition asks of a value, in two languages that must agree (agreement.test.ts): SQL for many people, and
 * TypeScript for one. Operators are grouped in kinds, by the values they can be asked of: text-kind.ts, number-kind.ts
 * and so on. A new operator is one entry there, a new field one entry in fields.ts.
 */
import { isNotTrue, type Predicate } from "./predicate.ts";

/** What a statement has to have at hand: the row of subscribers, that of memberships, the status of the membership. */
export type Reads = "person" | "membership" | "status";

export interface ValueTest<Held, Source> {
  /** What it looks at, where that is not what its field looks at. */
  readonly reads?: readonly Reads[];
  /** As of a rule (rule.ts). */
  readonly isBroken?: boolean;
  /** Of the value in the row that is looked at; where that is missing, false or null. */
  sql(source: Source): Predicate;
  holds(held: Held): boolean;
}

/** When and where it is asked. */
export interface Moment {
  readonly now: Date;
  /** IANA name of the workspace's time zone. */
  readonly timeZone: string;
}

export interface Operator<Held, Source, Setting = Moment> {
  /** Reads the rule's value. A text is a refusal, which completes "value …". */
  read(value: unknown, setting: Setting): ValueTest<Held, Source> | string;
  /** Matches where the question does not hold, and so where the value is missing. */
  readonly isNegation?: boolean;
}

/** Values that the same operators can be asked of. */
export interface Kind<Held, Source, Setting = Moment> {
  /** With its article, for refusals: "a text". */
  readonly label: string;
  readonly operators: ReadonlyMap<string, Operator<Held, Source, Setting>>;
}

export function kind<Held, Source, Setting = Moment>(
  label: string,
  operators: Readonly<Record<string, Operator<Held, Source, Setting>>>,
): Kind<Held, Source, Setting> {
  return { label, operators: new Map(Object.entries(operators)) };
}

/** The same question with the opposite answer. */
export function not<Held, Source, Setting>(
  operator: Operator<Held, Source, Setting>,
): Operator<Held, Source, Setting> {
  return { ...operator, isNegation: true };
}

/**
 * The two operators that ask whether there is a value, which every kind has. They take no value themselves.
 * @param hasValue holds for every value that is not blank
 */
export function presence<Held, Source>(hasValue: ValueTest<Held, Source>) {
  const isNotEmpty: Operator<Held, Source, unknown> = {
    read: (value) => (value == null || value === "" ? hasValue : "must be left out"),
  };
  return { is_empty: not(isNotEmpty), is_not_empty: isNotEmpty };
}

/** What is asked of one person: the question, its negation, and what happens to a missing value. */
export function ask<Held, Source, Setting>(
  { isNegation = false }: Operator<Held, Source, Setting>,
  question: ValueTest<Held, Source>,
): { sql(source: Source): Predicate; holds(held: Held | undefined): boolean } {
  return {
    sql: (source) => (isNegation ? isNotTrue(question.sql(source)) : question.sql(source)),
    holds: (held) => (held !== undefined && question.holds(held)) !== isNegation,
  };
}
