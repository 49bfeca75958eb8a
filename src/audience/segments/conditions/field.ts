/** A field of rules: the operators of its kind, with the place of its value. */

import type { BindingScope } from "./binding-scope.ts";
import type { EvaluatedMember, Rule, StatementContext } from "./bound-rule.ts";
import { ask, type Kind, type KindName, type Operator, type Reads } from "./operator.ts";
import type { ValueForm } from "./read-rule-value.ts";

export interface Field {
  /** The kind of its value. */
  readonly type: KindName;
  /** The kind with an article, for error messages: "a text". */
  readonly label: string;
  readonly operators: readonly FieldOperator[];
  /**
   * Binds an operator and a value to the field. Undefined for an operator that does not fit the field; a string is an
   * error about the value, which follows the word "value".
   */
  bind(operator: string, value: unknown, scope: BindingScope): Rule | string | undefined;
}

export interface FieldOperator {
  readonly name: string;
  /** The operator of which this is another name. */
  readonly alias_of: string | null;
  readonly takes: ValueForm;
}

/** Where the value is found. */
interface Location<Held, Source> {
  readonly reads: readonly Reads[];
  /** The cost of reading it, relative to a plain column's 1. */
  readonly effort: number;
  /** The SQL of the value in a statement. */
  readonly source: (place: StatementContext, scope: BindingScope) => Source;
  /** The value of a person; undefined if there is none. */
  readonly held: (candidate: EvaluatedMember, scope: BindingScope) => Held | undefined;
}

/** @param setting what the operators of the kind need to read a rule's value: the scope, and perhaps more */
export function field<Held, Source, Setting>(
  { type, label, operators }: Kind<Held, Source, Setting>,
  { reads, effort, source, held }: Location<Held, Source>,
  setting: (scope: BindingScope) => Setting,
): Field {
  return {
    type,
    label,
    operators: namesOf(operators),
    bind(name, value, scope) {
      const operator = operators.get(name);
      if (operator === undefined) return undefined;
      const question = operator.read(value, setting(scope));
      if (typeof question === "string") return question;
      const asked = ask(operator, question);
      return {
        reads: question.reads ?? reads,
        effort,
        isBroken: question.isBroken ?? false,
        sql: (place) => asked.sql(source(place, scope)),
        holds: (candidate) => asked.holds(held(candidate, scope)),
      };
    },
  };
}

function namesOf<Held, Source, Setting>(
  operators: ReadonlyMap<string, Operator<Held, Source, Setting>>,
): FieldOperator[] {
  const first = new Map<Operator<Held, Source, Setting>, string>();
  return Array.from(operators, ([name, operator]) => {
    const alias_of = first.get(operator) ?? null;
    if (alias_of === null) first.set(operator, name);
    return { name, alias_of, takes: operator.takes };
  });
}
