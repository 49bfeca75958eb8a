/** Name, sender and tracking of a list: for a new one, and in its settings. */
import body from "schema:NewMailingList";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import type { MailingList } from "../../api/lists.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm, FormActs, type Texts } from "../../parts/act-form.tsx";
import { Field } from "../../parts/field.tsx";
import { Checkbox } from "../../parts/toggle.tsx";

interface Props {
  /** Undefined: a new one. */
  readonly list?: MailingList;
  readonly onCancel?: () => void;
  readonly onSaved?: (list: { readonly id: string }) => void;
}

export function ListForm({ list, onCancel, onSaved }: Props) {
  const { api } = usePlace();
  const [tracking, setTracking] = useState({
    enable_open_tracking: list?.enable_open_tracking ?? true,
    enable_click_tracking: list?.enable_click_tracking ?? true,
  });
  const save = useAct({
    run: ({ name = "", description = "", ...sender }: Texts) => {
      const named = Object.fromEntries(Object.entries(sender).map(([key, value]) => [key, value || null]));
      const input = { name, description, ...named, ...tracking };
      return list
        ? api.updateMailingList({ id: list.id, body: input })
        : api.createMailingList({ body: input });
    },
    changes: ["lists", "list"],
    done: ({ name }) => `${name} is saved`,
    ...(onSaved && { onDone: onSaved }),
  });
  const mostOf = (name: string) => {
    const maxLength = body.properties[name]?.maxLength;
    return maxLength === undefined ? {} : { maxLength };
  };
  return (
    <ActForm act={save} onSubmit={(texts) => save.mutate(texts)}>
      <Field
        name="name"
        label="Name"
        defaultValue={list?.name ?? ""}
        {...mostOf("name")}
        isRequired
        autoFocus={!list}
      />
      <Field
        name="description"
        label="What it is for"
        defaultValue={list?.description ?? ""}
        {...mostOf("description")}
      />
      <Field
        name="from_name"
        label="Name of the sender"
        hint="Of mail to the list that names none."
        defaultValue={list?.from_name ?? ""}
        {...mostOf("from_name")}
      />
      <Field
        name="from_email"
        type="email"
        label="Address of the sender"
        hint="Offered for new campaigns; the sign-up form writes from it."
        defaultValue={list?.from_email ?? ""}
      />
      <Field
        name="reply_to_email"
        type="email"
        label="Answers go to"
        defaultValue={list?.reply_to_email ?? ""}
      />
      <div className="flex flex-col gap-1">
        <Checkbox
          isSelected={tracking.enable_open_tracking}
          onChange={(enable_open_tracking) => setTracking({ ...tracking, enable_open_tracking })}
        >
          New campaigns count openings
        </Checkbox>
        <Checkbox
          isSelected={tracking.enable_click_tracking}
          onChange={(enable_click_tracking) => setTracking({ ...tracking, enable_click_tracking })}
        >
          New campaigns count clicks
        </Checkbox>
      </div>
      <FormActs act={save} onCancel={onCancel}>
        {list ? "Save" : "Create"}
      </FormActs>
    </ActForm>
  );
}
