/** One rule: field, operator and value in a line, with the number of people who meet it alone. */
import { X } from "lucide-react";
import { IconButton } from "../button.tsx";
import { Choice } from "../choice.tsx";
import { countText } from "../numbers.ts";
import { Picker } from "../picker.tsx";
import {
  type DraftRule,
  type Field,
  type Fields,
  fieldOf,
  isFinished,
  operatorOf,
  ruleOf,
  textOf,
} from "./draft.ts";
import type { Preview } from "./preview.ts";
import { ValueEditor } from "./value-editor.tsx";
import { operatorWords } from "./words.ts";

interface Props {
  /** Its place among the rules beside it, from 1. */
  readonly place: number;
  readonly rule: DraftRule;
  readonly fields: Fields;
  readonly preview: Preview;
  /** Why the last attempt to save refused it, by `textOf`. */
  readonly faults: ReadonlyMap<string, string>;
  readonly onChange: (rule: DraftRule) => void;
  readonly onRemove: () => void;
  readonly isNew: boolean;
  readonly ownId?: string | undefined;
}

export function RuleRow({ place, rule, fields, preview, faults, onChange, onRemove, isNew, ownId }: Props) {
  const field = fieldOf(fields, rule.field);
  const operator = operatorOf(field, rule.operator);
  const isWhole = isFinished(rule, fields);
  const text = textOf(ruleOf(rule));
  const fault = isWhole ? (preview.faults.get(text) ?? faults.get(text)) : undefined;
  const options = fields.fields.map(({ name, label, is_custom }) => ({
    id: name,
    name: label,
    ...(is_custom && { description: "Custom field" }),
  }));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw its own box
    <div role="group" aria-label={`Rule ${place}`} className="py-1.5">
      <div className="flex items-start gap-2">
        <div className="flex min-w-0 flex-1 flex-wrap gap-2">
          <div className="flex w-52 max-sm:w-full">
            {field || rule.field === "" ? (
              <Picker
                label="Field"
                isBare
                options={options}
                value={field?.name ?? null}
                onChange={(name) => onChange(withField(rule, fieldOf(fields, name)))}
                placeholder="Choose a field"
                autoFocus={isNew}
              />
            ) : (
              <p className="py-2">
                <code className="font-mono text-small">{rule.field}</code>{" "}
                {operatorWords(rule.operator, undefined)} {JSON.stringify(rule.value)}
              </p>
            )}
          </div>
          {field && (
            <div className="w-40 max-sm:w-full">
              <Choice
                label="Condition"
                isBare
                options={operatorsOf(field, rule.operator)}
                selectedKey={rule.operator}
                onSelectionChange={(name) => onChange(withOperator(rule, field, String(name)))}
              />
            </div>
          )}
          {field && operator && (
            <div className="flex min-w-32 flex-1 gap-2">
              <ValueEditor
                key={`${field.name} ${operator.value.type}`}
                field={field}
                operator={operator}
                value={rule.value}
                onChange={(value) => onChange({ ...rule, value })}
                ownId={ownId}
              />
            </div>
          )}
        </div>
        <RuleCount count={preview.counted?.ofRules.get(text)} isWhole={isWhole} />
        <IconButton label={`Remove rule ${place}`} icon={<X size={15} aria-hidden />} onPress={onRemove} />
      </div>
      {rule.field !== "" && !field && (
        <p className="mt-1 text-small text-warning">
          This list has no field of this name any more. Remove the rule, unless people still have such values.
        </p>
      )}
      {rule.field !== "" && !isWhole && (
        <p className="mt-1 text-small text-muted">Not finished: this rule is not counted.</p>
      )}
      {fault && (
        <p role="alert" className="mt-1 text-small text-bad">
          {fault}
        </p>
      )}
    </div>
  );
}

function RuleCount({
  count,
  isWhole,
}: {
  readonly count: number | null | undefined;
  readonly isWhole: boolean;
}) {
  const isKnown = isWhole && count !== undefined;
  return (
    <span
      title={
        count === null ? "There was no time to count this rule alone" : "People who meet this rule alone"
      }
      className={`w-14 shrink-0 py-2 text-right text-table ${count === 0 ? "font-medium text-warning" : "text-muted"}`}
    >
      {isKnown && (count === null ? "not counted" : countText(count))}
      {isKnown && count !== null && <span className="sr-only"> meet this rule</span>}
    </span>
  );
}

/** Two names of one operator are one choice, unless the rule has the second name already. */
function operatorsOf({ operators, type }: Field, chosen: string) {
  return operators
    .filter(
      ({ name, alias_of }) => name === chosen || (alias_of === null && !isAliasOf(operators, chosen, name)),
    )
    .map(({ name }) => ({ id: name, name: operatorWords(name, type) }));
}

function isAliasOf(operators: Field["operators"], alias: string, name: string): boolean {
  return operators.some((one) => one.name === alias && one.alias_of === name);
}

function withField(rule: DraftRule, field: Field | undefined): DraftRule {
  if (field === undefined || field.name === rule.field) return rule;
  const first = field.operators.find(({ alias_of }) => alias_of === null);
  return { ...rule, field: field.name, operator: first?.name ?? "", value: undefined };
}

/** A value stays when the other operator takes one of the same form. */
function withOperator(rule: DraftRule, field: Field, name: string): DraftRule {
  const before = operatorOf(field, rule.operator)?.value;
  const after = operatorOf(field, name)?.value;
  if (before?.type === after?.type && before?.is_array === after?.is_array)
    return { ...rule, operator: name };
  return {
    ...rule,
    operator: name,
    value: carried(rule.value, before?.type === after?.type, after?.is_array),
  };
}

/** One value becomes a list of one, and a list of one its value. */
function carried(value: unknown, isSameType: boolean, isArray: boolean | undefined): unknown {
  if (!isSameType || value === undefined) return undefined;
  if (isArray) return [value];
  return Array.isArray(value) && value.length === 1 ? value[0] : undefined;
}
