/** A field: a kind's operators, joined with the place of a value. */

import type { BindingScope } from "./binding-scope.ts";
import { ask, type Kind, type Reads } from "./operator.ts";
import type { EvaluatedMember, Rule, StatementContext } from "./rule.ts";

export interface Field {
  /** What it holds, with its article. */
  readonly label: string;
  readonly operators: readonly string[];
  /** Undefined for an operator that does not fit; a text refuses the value, and completes "value …". */
  bind(operator: string, value: unknown, scope: BindingScope): Rule | string | undefined;
}

/** Where the value is. */
interface Location<Held, Source> {
  readonly reads: readonly Reads[];
  /** How long a look takes, beside a plain column's 1. */
  readonly effort: number;
  /** In a statement. */
  readonly source: (place: StatementContext, scope: BindingScope) => Source;
  /** In a person; undefined where there is none. */
  readonly held: (candidate: EvaluatedMember, scope: BindingScope) => Held | undefined;
}

/** `setting` is what the kind's operators know when they read a value: the scope, and perhaps more. */
export function field<Held, Source, Setting>(
  { label, operators }: Kind<Held, Source, Setting>,
  { reads, effort, source, held }: Location<Held, Source>,
  setting: (scope: BindingScope) => Setting,
): Field {
  return {
    label,
    operators: [...operators.keys()],
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
