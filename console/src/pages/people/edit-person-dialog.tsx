/** Names and fields of a person. They hold on every list; the fields offered are those of one list and the global ones. */
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { useFields } from "../../api/fields.ts";
import type { Person } from "../../api/people.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { FieldInputs, type FieldValues } from "./field-input.tsx";

export function EditPersonDialog({
  person,
  onClose,
}: {
  readonly person: Person;
  readonly onClose: () => void;
}) {
  const { api } = usePlace();
  const [listId, setListId] = useState(person.lists[0]?.mailing_list_id ?? "");
  const [changed, setChanged] = useState<FieldValues>({});
  const fields = useFields(listId);
  const save = useAct({
    run: (names: { readonly first_name: string; readonly last_name: string }) =>
      api.updateMember({
        id: listId,
        subscriber_id: person.id,
        body: { ...names, custom_fields: changed },
      }),
    changes: ["person", "people"],
    done: `${person.email} is saved`,
    onDone: onClose,
  });
  return (
    <Dialog title={`Edit ${person.email}`} isOpen onClose={onClose}>
      <ActForm
        act={save}
        onSubmit={({ first_name = "", last_name = "" }) => save.mutate({ first_name, last_name })}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field name="first_name" label="First name" defaultValue={person.first_name ?? ""} autoFocus />
          <Field name="last_name" label="Last name" defaultValue={person.last_name ?? ""} />
        </div>
        {person.lists.length > 1 && (
          <Choice
            label="Fields of"
            options={person.lists.map(({ mailing_list_id, name }) => ({ id: mailing_list_id, name }))}
            value={listId}
            onChange={(id) => {
              setListId(String(id));
              setChanged({});
            }}
          />
        )}
        <FieldInputs
          fields={fields.map((field) => ({ ...field, is_required: false }))}
          values={{ ...person.custom_fields, ...changed }}
          onChange={(values) => setChanged(differenceOf(values, person.custom_fields))}
        />
        <FormActs act={save} onCancel={onClose}>
          Save
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

/** Only what was changed is sent, so that other changes of the meantime stay. */
function differenceOf(values: FieldValues, stored: FieldValues): FieldValues {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== stored[name]));
}
