/** A value of a custom field: the input that its type wants. Values are kept as the API takes them. */
import type { ReactNode } from "react";
import { CheckboxGroup, Label } from "react-aria-components";
import type { CustomField } from "../../api/fields.ts";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/field.tsx";
import { LongField } from "../../parts/long-field.tsx";
import { Checkbox } from "../../parts/toggle.tsx";

export type FieldValues = Readonly<Record<string, unknown>>;

interface Props {
  readonly field: CustomField;
  readonly value: unknown;
  /** Null takes the value away. */
  readonly onChange: (value: unknown) => void;
}

type Type = CustomField["field_type"];

const NONE = "";

const inputs: Readonly<Record<Type, (props: Props) => ReactNode>> = {
  text: (props) => <OneLine {...props} />,
  email: (props) => <OneLine {...props} type="email" />,
  url: (props) => <OneLine {...props} type="url" />,
  number: (props) => <OneLine {...props} inputMode="decimal" />,
  date: (props) => <OneLine {...props} example="2026-11-23" />,
  textarea: (props) => <ManyLines {...props} />,
  boolean: (props) => <YesNo {...props} />,
  select: (props) => <OneOption {...props} />,
  multiselect: (props) => <SomeOptions {...props} />,
};

export function FieldInput(props: Props) {
  return inputs[props.field.field_type](props);
}

/** All fields of a form, with what is typed so far. */
export function FieldInputs({
  fields,
  values,
  onChange,
}: {
  readonly fields: readonly CustomField[];
  readonly values: FieldValues;
  readonly onChange: (values: FieldValues) => void;
}) {
  return fields.map((field) => (
    <FieldInput
      key={field.id}
      field={field}
      value={values[field.field_name]}
      onChange={(value) => onChange({ ...values, [field.field_name]: value })}
    />
  ));
}

function OneLine({
  field,
  value,
  onChange,
  type = "text",
  inputMode,
  example = "",
}: Props & {
  readonly type?: "text" | "email" | "url";
  readonly inputMode?: "decimal";
  readonly example?: string;
}) {
  return (
    <Field
      name={nameOf(field)}
      label={field.field_label}
      type={type}
      {...(inputMode && { inputMode })}
      {...(field.help_text !== null && { hint: field.help_text })}
      placeholder={field.placeholder ?? example}
      isRequired={field.is_required}
      value={textOf(value)}
      onChange={(text) => onChange(text === "" ? null : text)}
    />
  );
}

function ManyLines({ field, value, onChange }: Props) {
  return (
    <LongField
      name={nameOf(field)}
      label={field.field_label}
      {...(field.help_text !== null && { hint: field.help_text })}
      placeholder={field.placeholder ?? ""}
      isRequired={field.is_required}
      value={textOf(value)}
      onChange={(text) => onChange(text === "" ? null : text)}
    />
  );
}

function YesNo({ field, value, onChange }: Props) {
  const options = [
    { id: NONE, name: "No value" },
    { id: "true", name: "Yes" },
    { id: "false", name: "No" },
  ];
  return (
    <Choice
      label={field.field_label}
      options={options}
      value={textOf(value)}
      onChange={(id) => onChange(id === NONE ? null : id === "true")}
    />
  );
}

function OneOption({ field, value, onChange }: Props) {
  return (
    <Choice
      label={field.field_label}
      options={[{ id: NONE, name: "No value" }, ...optionsOf(field)]}
      value={textOf(value)}
      onChange={(id) => onChange(id === NONE ? null : id)}
    />
  );
}

function SomeOptions({ field, value, onChange }: Props) {
  const chosen = Array.isArray(value) ? value.map(String) : [];
  return (
    <CheckboxGroup value={chosen} onChange={(next) => onChange(next.length === 0 ? null : next)}>
      <Label className="font-medium">{field.field_label}</Label>
      <div className="mt-1 flex flex-wrap gap-x-5 gap-y-1">
        {optionsOf(field).map(({ id, name }) => (
          <Checkbox key={id} value={id}>
            {name}
          </Checkbox>
        ))}
      </div>
    </CheckboxGroup>
  );
}

export function optionsOf({ field_options }: CustomField) {
  return (field_options ?? []).map((one) =>
    typeof one === "string" ? { id: one, name: one } : { id: one.value, name: one.label },
  );
}

/** The path of the value in a refusal of the API. */
function nameOf({ field_name }: CustomField): string {
  return `custom_fields.${field_name}`;
}

/** A value as people read it. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
