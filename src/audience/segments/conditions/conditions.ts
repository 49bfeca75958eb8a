/**
 * Conditions as callers give them and as they are stored: `{ logic, rules }`, where a rule is a condition `{ field,
 * operator, value }` or a group of the same shape. This file checks the form only; bind-conditions.ts resolves fields
 * and operators.
 */
import { type FieldFault, invalid } from "#platform/errors.ts";

export const DEEPEST = 5;
export const MOST_RULES = 100;
export const LONGEST_WORD = 200;

export interface Condition {
  readonly field: string;
  readonly operator: string;
  readonly value: unknown;
}

export interface Conditions {
  readonly logic: "and" | "or";
  readonly rules: readonly (Condition | Conditions)[];
}

/** A fault at the path of its rule: `conditions.rules[1].rules[0]`. */
export function ruleFault(path: string, message: string): FieldFault {
  return { field: path, message: `${path}: ${message}` };
}

/** Unknown keys are dropped. @throws ApiError VALIDATION_ERROR */
export function readConditions(given: unknown, path = "conditions"): Conditions {
  let count = 0;
  const readGroup = (group: object, at: string, depth: number): Conditions => {
    if (depth > DEEPEST) throw refuse(at, `groups may be nested ${DEEPEST} deep`);
    if ("field" in group || "operator" in group || "value" in group) {
      throw refuse(
        at,
        "must be a condition { field, operator, value } or a group { logic, rules }, not both",
      );
    }
    const { logic, rules } = group as { logic?: unknown; rules?: unknown };
    if (logic !== "and" && logic !== "or") throw refuse(at, "logic must be and, or or");
    if (!Array.isArray(rules) || rules.length === 0)
      throw refuse(at, "rules must be an array with a rule in it");
    return { logic, rules: rules.map((rule, index) => readRule(rule, `${at}.rules[${index}]`, depth)) };
  };
  const readRule = (rule: unknown, at: string, depth: number): Condition | Conditions => {
    if (!isObject(rule)) throw refuse(at, "must be an object");
    if ("rules" in rule || "logic" in rule) return readGroup(rule, at, depth + 1);
    count += 1;
    if (count > MOST_RULES) throw refuse(path, `may hold ${MOST_RULES} conditions in all`);
    const { field, operator, value } = rule as Partial<Condition>;
    return { field: readWord(field, "field", at), operator: readWord(operator, "operator", at), value };
  };
  if (!isObject(given)) throw refuse(path, "must be an object { logic, rules }");
  return readGroup(given, path, 1);
}

function readWord(word: unknown, called: string, path: string): string {
  if (typeof word === "string" && word !== "" && word.length <= LONGEST_WORD) return word;
  throw refuse(path, `${called} must be a text of 1 to ${LONGEST_WORD} characters`);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const refuse = (path: string, message: string) => invalid(ruleFault(path, message));

/** A tree of rules: conditions as they are stored, or bound ones (bound-rule.ts). */
interface RuleTree<Rule extends object> {
  readonly rules: readonly (Rule | RuleTree<Rule>)[];
}

export function isGroup<Node extends object>(node: Node): node is Extract<Node, { readonly rules: unknown }> {
  return "rules" in node;
}

/** Every rule with its path, in order. */
export function* eachRule<Rule extends object>(
  { rules }: RuleTree<Rule>,
  path = "conditions",
): Generator<readonly [path: string, rule: Rule]> {
  for (const [index, rule] of rules.entries()) {
    const at = `${path}.rules[${index}]`;
    if ("rules" in rule) yield* eachRule(rule as RuleTree<Rule>, at);
    else yield [at, rule];
  }
}
