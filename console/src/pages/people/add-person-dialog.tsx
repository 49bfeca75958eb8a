/** One more person on a list. While the address is typed, the dialog says whether it is known or gets no mail. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useAct } from "../../api/act.ts";
import { useFields } from "../../api/fields.ts";
import { type MailingList, useLists } from "../../api/lists.ts";
import { usePlace } from "../../api/session.tsx";
import { type Finding, findingsQuery } from "../../api/suppression.ts";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { useSettled } from "../../parts/use-settled.ts";
import { FieldInputs, type FieldValues } from "./field-input.tsx";

const SETTLE_MS = 250;

export function AddPersonDialog({
  list,
  onClose,
}: {
  /** Undefined: the dialog asks for the list. */
  readonly list: MailingList | undefined;
  readonly onClose: () => void;
}) {
  const { api, workspace } = usePlace();
  const lists = useLists();
  const [listId, setListId] = useState(list?.id);
  const [email, setEmail] = useState("");
  const [values, setValues] = useState<FieldValues>({});
  const open = listId ?? (lists?.length === 1 ? lists[0]?.id : undefined);
  const fields = useFields(open);
  const add = useAct({
    run: (names: { readonly first_name: string; readonly last_name: string }) =>
      api.addMember({ id: open ?? "", body: { email: email.trim(), ...names, custom_fields: values } }),
    changes: ["people", `members ${open}`, "lists", "list", "person"],
    done: ({ email: added, warnings }) => `${added} is added. ${warningOf(warnings)}`,
    onDone: onClose,
  });
  if (!list && lists?.length === 0) {
    return (
      <Dialog title="Add a person" isOpen onClose={onClose}>
        <p>
          Each person is on a list, and there is none yet.{" "}
          <Link to={`/${workspace.id}/lists`} className="text-accent underline">
            Create a list first
          </Link>
          .
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog title={list ? `Add a person to ${list.name}` : "Add a person"} isOpen onClose={onClose}>
      <ActForm
        act={add}
        onSubmit={({ first_name = "", last_name = "" }) => add.mutate({ first_name, last_name })}
      >
        <Field
          name="email"
          type="email"
          label="Address"
          isRequired
          autoFocus
          value={email}
          onChange={setEmail}
        />
        <AddressNote email={email.trim()} listId={open} />
        {!list && (
          <Choice
            label="List"
            options={lists ?? []}
            value={open ?? null}
            onChange={(id) => setListId(String(id))}
            isRequired
          />
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field name="first_name" label="First name" />
          <Field name="last_name" label="Last name" />
        </div>
        <FieldInputs fields={fields} values={values} onChange={setValues} />
        <FormActs act={add} onCancel={onClose}>
          Add
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

/** What is known of the address, on a line that is always there. */
function AddressNote({ email, listId }: { readonly email: string; readonly listId: string | undefined }) {
  const place = usePlace();
  const address = useSettled(email, SETTLE_MS);
  const isWhole = /^[^@\s]+@[^@\s]+\.[^@\s.]{2,}$/.test(address);
  const { data } = useQuery(findingsQuery(place, isWhole ? [address] : []));
  const finding = address === email ? data?.[0] : undefined;
  return (
    <p role="status" className="-mt-3 min-h-8 text-small text-muted">
      {finding && noteOf(finding, listId, place.workspace.id)}
    </p>
  );
}

function noteOf(finding: Finding, listId: string | undefined, workspaceId: string): ReactNode {
  const { subscriber_id, mailing_lists, may_be_mailed, summary } = finding;
  const here = mailing_lists.find(({ mailing_list_id }) => mailing_list_id === listId);
  const known = subscriber_id !== null && (
    <>
      <Link to={`/${workspaceId}/people/${subscriber_id}`} className="text-accent underline">
        Known already
      </Link>
      {here
        ? `: on this list, ${here.status}. `
        : `: on ${mailing_lists.map(({ name }) => name).join(", ")}. The same person joins this list, too. `}
    </>
  );
  return (
    <>
      {known}
      {may_be_mailed ? (
        subscriber_id === null && "A new address."
      ) : (
        <span className="text-warning">{summary}.</span>
      )}
    </>
  );
}

function warningOf(warnings: readonly string[]): string {
  return warnings.length === 0 ? "" : `No mail reaches this address: ${warnings.join(", ")}.`;
}
