/** Conditions while they are edited: rules may be unfinished, and every part has a key of its own that stays when others move. */
import type { Data, Schema } from "@posthaste/client";

export type Conditions = Schema<"SegmentConditions">;
export type Rule = Schema<"SegmentRule">;
export type Fields = Data<"listSegmentFields">;
export type Field = Fields["fields"][number];
export type Operator = Field["operators"][number];

export interface DraftRule {
  readonly key: string;
  /** Empty until it is chosen. */
  readonly field: string;
  readonly operator: string;
  readonly value: unknown;
}

export interface SegmentDraft {
  readonly key: string;
  readonly logic: Conditions["logic"];
  readonly rules: readonly DraftNode[];
}

export type DraftNode = DraftRule | SegmentDraft;

class Keys {
  #last = 0;

  next(): string {
    this.#last++;
    return `part-${this.#last}`;
  }
}

const keys = new Keys();

export function isGroup(node: DraftNode): node is SegmentDraft {
  return "rules" in node;
}

export function newRule(): DraftRule {
  return { key: keys.next(), field: "", operator: "", value: undefined };
}

export function newGroup(): SegmentDraft {
  return { key: keys.next(), logic: "or", rules: [newRule()] };
}

/** The draft of saved conditions; of none, one empty rule. */
export function draftOf(conditions?: Conditions): SegmentDraft {
  if (conditions === undefined) return { key: keys.next(), logic: "and", rules: [newRule()] };
  return {
    key: keys.next(),
    logic: conditions.logic,
    rules: conditions.rules.map((one) =>
      "rules" in one
        ? draftOf(one)
        : { key: keys.next(), ...one, value: "value" in one ? one.value : undefined },
    ),
  };
}

/** A custom field may be named without its prefix. Undefined for a field that is not defined (any more). */
export function fieldOf(fields: Fields, name: string): Field | undefined {
  return (
    fields.fields.find((one) => one.name === name) ??
    fields.fields.find((one) => one.is_custom && one.name.endsWith(`.${name}`))
  );
}

export function operatorOf(field: Field | undefined, name: string): Operator | undefined {
  return field?.operators.find((one) => one.name === name);
}

/** Whether the rule can be sent. What the service alone can know, such as a date that is none, it says itself. */
export function isFinished({ field, operator, value }: DraftRule, fields: Fields): boolean {
  if (field === "" || operator === "") return false;
  const takes = operatorOf(fieldOf(fields, field), operator)?.value;
  if (takes === undefined) return true;
  if (takes.is_array) return Array.isArray(value) && value.length > 0;
  switch (takes.type) {
    case "none":
      return true;
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "days":
      return (
        Number.isInteger(value) &&
        Number(value) >= (takes.minimum ?? Number.NEGATIVE_INFINITY) &&
        Number(value) <= (takes.maximum ?? Number.POSITIVE_INFINITY)
      );
    case "boolean":
      return typeof value === "boolean";
    case "campaign_link":
      return typeof (value as { readonly link?: unknown } | undefined)?.link === "number";
    default:
      return typeof value === "string" && value.trim() !== "";
  }
}

export interface ReadDraft {
  /** Undefined when no rule is finished. */
  readonly conditions: Conditions | undefined;
  readonly unfinished: number;
}

/** The finished rules as conditions; groups without one are left out. */
export function readDraft({ logic, rules }: SegmentDraft, fields: Fields): ReadDraft {
  const read = rules.map((node) => {
    if (isGroup(node)) return readDraft(node, fields);
    return isFinished(node, fields)
      ? { conditions: ruleOf(node), unfinished: 0 }
      : { conditions: undefined, unfinished: 1 };
  });
  const finished = read.flatMap(({ conditions }) => (conditions === undefined ? [] : [conditions]));
  return {
    conditions: finished.length === 0 ? undefined : { logic, rules: finished },
    unfinished: read.reduce((sum, one) => sum + one.unfinished, 0),
  };
}

export function ruleOf({ field, operator, value }: DraftRule): Rule {
  return { field, operator, ...(value !== undefined && { value }) } as Rule;
}

export function countRules({ rules }: SegmentDraft): number {
  return rules.reduce((sum, node) => sum + (isGroup(node) ? countRules(node) : 1), 0);
}

/** Each rule of conditions with its path, such as `conditions.rules[1].rules[0]`, in the words of the API. */
export function rulesByPath(
  { rules }: Conditions,
  path = "conditions",
): readonly (readonly [string, Rule])[] {
  return rules.flatMap((node, index) => {
    const place = `${path}.rules[${index}]`;
    return "rules" in node ? rulesByPath(node, place) : [[place, node] as const];
  });
}

/** Names a rule by what it says, so that its count stays with it while others change. */
export function textOf(rule: Rule): string {
  const { field, operator } = rule;
  return JSON.stringify([field, operator, "value" in rule ? rule.value : null]);
}

/** Refusals of the API by the rule that they are about. */
export function faultsByRule(
  error: unknown,
  conditions: Conditions | undefined,
): ReadonlyMap<string, string> {
  const details =
    (error as { readonly details?: readonly { field: string; message: string }[] } | null)?.details ?? [];
  const rules = conditions ? rulesByPath(conditions) : [];
  return new Map(
    details.flatMap(({ field, message }) => {
      const found = rules.find(([path]) => field === path || field.startsWith(`${path}.`));
      // The message begins with the path, which says nothing beside the rule.
      return found ? [[textOf(found[1]), message.replace(`${field}: `, "")] as const] : [];
    }),
  );
}
