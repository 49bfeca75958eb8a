/** Custom fields in rules: compared by their defined type, or as text without a definition. */
import sql from "sql-template-tag";
import type { FieldType } from "#audience/custom-fields/field-types.ts";
import { choiceOf } from "#audience/custom-fields/field-value-reader.ts";
import { foldText } from "#platform/database/fold-text.ts";
import type { BindingScope, FieldDefinition } from "./binding-scope.ts";
import { booleanKind, customBooleans } from "./boolean-kind.ts";
import type { EvaluatedMember } from "./bound-rule.ts";
import { multiselectKind, multiselectSource, selectKind, selectSource } from "./choice-kind.ts";
import { customDates, dateKind, heldDate } from "./date-kind.ts";
import { type Field, field } from "./field.ts";
import { customNumbers, numberKind } from "./number-kind.ts";
import { textKind } from "./text-kind.ts";
import { textInJson } from "./text-prechecks-sql.ts";

/** Makes a field from a name and its definition. */
type MakeField = (name: string, definition?: FieldDefinition) => Field;

/** Every custom field is read from JSON; texts are folded in addition. */
const looks = { reads: ["person"], effort: 5 } as const;
const asItIs = (scope: BindingScope) => scope;

const text: MakeField = (name) => {
  const source = textInJson(sql`(s.custom_fields ->> ${name}::text)`);
  const held = (candidate: EvaluatedMember) => {
    const value = storedValue(candidate, name);
    return value === undefined || value === null ? undefined : foldText(jsonText(value));
  };
  return field(textKind, { ...looks, source: () => source, held }, (scope) => ({
    ...scope,
    normal: foldText,
  }));
};

const number: MakeField = (name) => {
  const held = (candidate: EvaluatedMember) => {
    const value = storedValue(candidate, name);
    return typeof value === "number" ? value : undefined;
  };
  return field(numberKind, { ...looks, source: () => customNumbers(name), held }, asItIs);
};

const date: MakeField = (name) => {
  const held = (candidate: EvaluatedMember, scope: BindingScope) =>
    heldDate(storedValue(candidate, name), scope);
  return field(dateKind, { ...looks, source: (_, scope) => customDates(name, scope), held }, asItIs);
};

const boolean: MakeField = (name) => {
  const held = (candidate: EvaluatedMember) => {
    const value = storedValue(candidate, name);
    return typeof value === "boolean" ? value : undefined;
  };
  return field(booleanKind, { ...looks, source: () => customBooleans(name), held }, asItIs);
};

const select: MakeField = (name, definition) => {
  const held = (candidate: EvaluatedMember) => {
    const value = storedValue(candidate, name);
    return typeof value === "string" ? [value] : undefined;
  };
  return field(selectKind, { ...looks, source: () => selectSource(name), held }, withChoices(definition));
};

const multiselect: MakeField = (name, definition) => {
  const held = (candidate: EvaluatedMember) => {
    const value = storedValue(candidate, name);
    return Array.isArray(value) ? value.filter((choice) => typeof choice === "string") : undefined;
  };
  const source = () => multiselectSource(name);
  return field(multiselectKind, { ...looks, source, held }, withChoices(definition));
};

const byType: Readonly<Record<FieldType, MakeField>> = {
  text,
  textarea: text,
  email: text,
  url: text,
  number,
  date,
  boolean,
  select,
  multiselect,
};

export function customField(name: string, definition: FieldDefinition | undefined): Field {
  return byType[definition?.field_type ?? "text"](name, definition);
}

function withChoices(definition: FieldDefinition | undefined) {
  const choices = (definition?.field_options ?? []).map(choiceOf);
  return (scope: BindingScope) => ({ ...scope, choices });
}

/** The person's own value; not a property that every object inherits. */
function storedValue({ person }: EvaluatedMember, name: string): unknown {
  return Object.hasOwn(person.custom_fields, name) ? person.custom_fields[name] : undefined;
}

/**
 * A JSON value as PostgreSQL's `->>` shows it: the text of a custom field without a definition. Strings as they are;
 * numbers and booleans as JSON; arrays and objects with a blank after `,` and `:`.
 */
function jsonText(value: unknown): string {
  return typeof value === "string" ? value : jsonOf(value);
}

function jsonOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => keyOrder(one, other));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}: ${jsonOf(member)}`).join(", ")}}`;
}

/** The order of keys in jsonb: by length, then by bytes. */
function keyOrder(one: string, other: string): number {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length - b.length || a.compare(b);
}
