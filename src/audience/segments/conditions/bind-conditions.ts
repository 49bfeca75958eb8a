/** Binds conditions: resolves the field and operator of each rule, and reads its value in a scope. */

import { KnownNames } from "#platform/http/request/name-suggestions.ts";
import type { BindingScope } from "./binding-scope.ts";
import { never, type Rule, type RuleGroup } from "./bound-rule.ts";
import { builtInFields } from "./built-in-fields.ts";
import { type Condition, type Conditions, eachRule, isGroup } from "./conditions.ts";
import { customField } from "./custom-fields.ts";
import type { Field } from "./field.ts";

/** The prefix of a custom field's name in rules. */
export const CUSTOM = "custom_fields.";
const LONGEST_NAME = 100;

/** Called for rules without a (remaining) meaning, with their path. They match no one. */
export type OnFault = (path: string, message: string) => void;

export function bind(
  { logic, rules }: Conditions,
  scope: BindingScope,
  onFault: OnFault = () => {},
  path = "conditions",
): RuleGroup {
  return {
    logic,
    rules: rules.map((rule, index) => {
      const at = `${path}.rules[${index}]`;
      if (isGroup(rule)) return bind(rule, scope, onFault, at);
      const bound = bindRule(rule, scope);
      if (typeof bound !== "string") return bound;
      onFault(at, bound);
      return never;
    }),
  };
}

function bindRule({ field: name, operator, value }: Condition, scope: BindingScope): Rule | string {
  const field = fieldOf(name, scope);
  if (field === undefined) {
    const meant = new KnownNames([...builtInFields.keys(), ...scope.fieldNames]).nearestTo(name);
    return `there is no field ${name}${meant === undefined ? "" : `: did you mean ${meant}?`}`;
  }
  const rule = field.bind(operator, value, scope);
  if (rule === undefined) {
    return `the operator ${operator} does not fit ${name}, which is ${field.label}; it takes ${field.operators.map((one) => one.name).join(", ")}`;
  }
  return typeof rule === "string" ? `value ${rule}` : rule;
}

/** The names in rules that may be those of custom fields; includes names of built-in fields. */
export function customNamesIn(conditions: Conditions): string[] {
  return [...new Set(Array.from(eachRule<Condition>(conditions), ([, { field }]) => ownName(field)))];
}

function ownName(name: string): string {
  return markedName(name) ?? name;
}

/** The custom field named with the prefix `custom_fields.`; undefined for other names. */
export function markedName(name: string): string | undefined {
  return name.startsWith(CUSTOM) ? name.slice(CUSTOM.length) : undefined;
}

/** A defined custom field may be named without the prefix, other custom fields only with it. */
function fieldOf(name: string, scope: BindingScope): Field | undefined {
  const isMarked = name.startsWith(CUSTOM);
  const known = isMarked ? undefined : builtInFields.get(name);
  if (known !== undefined) return known;
  const own = ownName(name);
  const definition = scope.customField(own);
  if (definition === undefined && (!isMarked || own === "" || own.length > LONGEST_NAME)) return undefined;
  return customField(own, definition);
}
