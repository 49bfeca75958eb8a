/** A new custom field of the list for a column, made without leaving the import. */

import schema from "schema:NewCustomField";
import type { Body } from "@posthaste/client";
import { useState } from "react";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { targetOf } from "./targets.ts";

interface Props {
  readonly listId: string;
  /** The header of the column. */
  readonly label: string;
  readonly samples: readonly string[];
  readonly onClose: () => void;
  readonly onMade: (target: string) => void;
}

type NewField = Body<"createCustomField">;
type FieldType = NewField["field_type"];

const { field_label, field_type } = schema.properties;

/** Types whose values are choices, which the field has to name. */
const withChoices: ReadonlySet<FieldType> = new Set(["select", "multiselect"]);

export function NewFieldDialog({ listId, label, samples, onClose, onMade }: Props) {
  const { api } = usePlace();
  const [name, setName] = useState(label);
  const [type, setType] = useState<FieldType>("text");
  const [choices, setChoices] = useState(samples.join(", "));
  const make = useAct({
    run: (body: NewField) => api.createCustomField({ id: listId, body }),
    changes: ["custom-fields", "segment-fields"],
    done: (field) => `The field ${field.field_label} is made`,
    onDone: (field) => onMade(targetOf(field)),
  });
  const errors = fieldErrors(make.error);
  const submit = () =>
    make.mutate({
      field_name: nameOf(name),
      field_label: name,
      field_type: type,
      ...(withChoices.has(type) && { field_options: choices.split(",").flatMap((one) => one.trim() || []) }),
    });
  return (
    <Dialog title="New custom field" isOpen onClose={onClose}>
      <Form
        validationErrors={{ ...errors, ...(errors.field_name && { field_label: errors.field_name }) }}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        className="flex flex-col gap-4"
      >
        <Field
          name="field_label"
          label="Name"
          value={name}
          onChange={setName}
          maxLength={field_label?.maxLength ?? 0}
          hint={nameOf(name) === "" ? undefined : `In merge tags and over the API: ${nameOf(name)}`}
          isRequired
          autoFocus
        />
        <Choice
          name="field_type"
          label="Type"
          options={(field_type?.enum ?? []).map((id) => ({ id, name: id }))}
          selectedKey={type}
          onSelectionChange={(id) => setType(id as FieldType)}
        />
        {withChoices.has(type) && (
          <Field
            name="field_options"
            label="Choices"
            value={choices}
            onChange={setChoices}
            hint="Separated by commas. A value that is none of them is refused."
            isRequired
          />
        )}
        {samples.length > 0 && (
          <p className="text-small text-muted">The column has values such as {samples.join(", ")}.</p>
        )}
        {make.error && Object.keys(errors).length === 0 ? <Failure error={make.error} /> : null}
        <div className="mt-2 flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={make.isPending}>
            Make the field
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** Letters, digits and underscores; the API says if that is not enough. */
function nameOf(label: string): string {
  return label
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
}
