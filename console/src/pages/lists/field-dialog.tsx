/** A custom field: its name in mails and segments, its type, its choices and rules. */

import rules from "schema:CustomFieldRules";
import body from "schema:NewCustomField";
import type { Schema } from "@posthaste/client";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { type CustomField, fieldChanges } from "../../api/fields.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm, FormActs, type Texts } from "../../parts/act-form.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { LongField } from "../../parts/long-field.tsx";
import { Checkbox } from "../../parts/toggle.tsx";
import { optionsOf, textOf } from "../people/field-input.tsx";

type Type = CustomField["field_type"];
type Rules = Schema<"CustomFieldRules">;
type RuleName = keyof Rules;

interface Props {
  /** Undefined: a new one. */
  readonly field?: CustomField;
  /** Undefined: a field of every list. */
  readonly listId: string | undefined;
  /** Of a new field: what its label begins as. */
  readonly label?: string;
  /** Values that a new field is made for. */
  readonly samples?: readonly string[];
  readonly onClose: () => void;
  readonly onSaved?: (field: CustomField) => void;
}

/** What the rules are called, for texts and numbers. */
const ruleLabels: Readonly<Record<RuleName, string>> = {
  min: "Least number",
  max: "Greatest number",
  min_length: "Fewest characters",
  max_length: "Most characters",
  pattern: "Pattern",
};

const textRules = ["min_length", "max_length", "pattern"] as const;

/** The rules that values of a type may have. */
const rulesOfType: Readonly<Record<Type, readonly RuleName[]>> = {
  text: textRules,
  textarea: textRules,
  email: textRules,
  url: textRules,
  number: ["min", "max"],
  date: [],
  boolean: [],
  select: [],
  multiselect: [],
};

const hasChoices = (type: Type) => type === "select" || type === "multiselect";
const types = (body.properties.field_type?.enum ?? []) as readonly Type[];

export function FieldDialog({ field, listId, label = "", samples = [], onClose, onSaved }: Props) {
  const { api } = usePlace();
  const [typed, setTyped] = useState(field?.field_label ?? label);
  // Follows the label until it is typed.
  const [ownName, setOwnName] = useState<string>();
  const [type, setType] = useState<Type>(field?.field_type ?? types[0] ?? "text");
  const [isRequired, setRequired] = useState(field?.is_required ?? false);
  const [isActive, setActive] = useState(field?.is_active ?? true);
  const save = useAct({
    run: (texts: Texts) => {
      const input = {
        ...inputOf(texts, type),
        field_type: type,
        is_required: isRequired,
        is_active: isActive,
      };
      if (field) {
        const target = { field_id: field.id, body: input };
        return listId === undefined
          ? api.updateGlobalCustomField(target)
          : api.updateCustomField({ id: listId, ...target });
      }
      const made = { ...input, field_name: texts.field_name ?? "" };
      return listId === undefined
        ? api.createGlobalCustomField({ body: made })
        : api.createCustomField({ id: listId, body: made });
    },
    changes: fieldChanges,
    done: ({ field_label }) => `${field_label} is saved`,
    onDone: (saved) => {
      onSaved?.(saved);
      onClose();
    },
  });
  const scope = listId === undefined ? "for every list" : "for this list";
  return (
    <Dialog title={field ? `Edit ${field.field_label}` : `New field ${scope}`} isOpen onClose={onClose}>
      <ActForm act={save} onSubmit={(texts) => save.mutate(texts)}>
        <Field
          name="field_label"
          label="Label"
          hint="What people see."
          value={typed}
          onChange={setTyped}
          isRequired
          autoFocus
        />
        {!field && (
          <Field
            name="field_name"
            label="Name in mails, segments and imports"
            hint="Lower-case letters, digits and underscores; it never changes."
            value={ownName ?? nameOf(typed)}
            onChange={setOwnName}
            isRequired
          />
        )}
        <Choice
          name="field_type"
          label="Type"
          options={types.map((id) => ({ id, name: id }))}
          value={type}
          onChange={(id) => setType(id as Type)}
        />
        {hasChoices(type) && <ChoicesInput field={field} samples={samples} />}
        {samples.length > 0 && (
          <p className="text-small text-muted">The column has values such as {samples.join(", ")}.</p>
        )}
        {rulesOfType[type].length > 0 && (
          <div className="grid gap-4 sm:grid-cols-2">
            {rulesOfType[type].map((name) => (
              <Field
                key={name}
                name={`validation_rules.${name}`}
                label={ruleLabels[name]}
                {...(name === "pattern" && { hint: rules.properties.pattern?.description ?? "" })}
                defaultValue={textOf(field?.validation_rules?.[name])}
              />
            ))}
          </div>
        )}
        <Field
          name="default_value"
          label="Value for people who join without one"
          defaultValue={textOf(field?.default_value)}
        />
        <Field name="help_text" label="Explanation beside the field" defaultValue={field?.help_text ?? ""} />
        <div className="flex flex-col gap-1">
          <Checkbox isSelected={isRequired} onChange={setRequired}>
            People who join need a value
          </Checkbox>
          {field && (
            <Checkbox isSelected={isActive} onChange={setActive}>
              Asked for and checked
            </Checkbox>
          )}
        </div>
        <FormActs act={save} onCancel={onClose}>
          {field ? "Save" : "Create"}
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

function ChoicesInput({
  field,
  samples,
}: {
  readonly field: CustomField | undefined;
  readonly samples: readonly string[];
}) {
  const lines = field
    ? optionsOf(field).map(({ id, name }) => (id === name ? id : `${id} = ${name}`))
    : samples;
  return (
    <LongField
      name="field_options"
      label="Choices"
      hint="One a line; “team = For teams” stores “team” and shows “For teams”."
      rows={4}
      isRequired
      defaultValue={lines.join("\n")}
    />
  );
}

/** What is typed in the form, as the API takes it. */
function inputOf(texts: Texts, type: Type) {
  const textAt = (name: string) => texts[name] ?? "";
  const given = rulesOfType[type].flatMap((name) => {
    const text = textAt(`validation_rules.${name}`);
    return text === "" ? [] : [[name, name === "pattern" ? text : Number(text)] as const];
  });
  const lines = textAt("field_options").split("\n");
  const defaultText = textAt("default_value");
  const choices = lines.flatMap((line) => {
    const [value = "", ...label] = line.split("=").map((one) => one.trim());
    if (value === "") return [];
    return [label.length === 0 ? value : { value, label: label.join("=") }];
  });
  return {
    field_label: textAt("field_label"),
    help_text: textAt("help_text") || null,
    default_value:
      defaultText === "" ? null : type === "multiselect" ? defaultText.split(/\s*,\s*/) : defaultText,
    validation_rules: given.length === 0 ? null : Object.fromEntries(given),
    ...(hasChoices(type) && { field_options: choices }),
  };
}

/** The letters, digits and underscores of a label; the API says if that is not enough. */
function nameOf(label: string): string {
  return label
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
}
