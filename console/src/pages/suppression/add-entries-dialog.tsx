/** Puts addresses and domains on a suppression list, and says the result of each line. */
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import type { SuppressionList } from "../../api/suppression.ts";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { LongField } from "../../parts/long-field.tsx";
import { AddedEntries } from "./added-entries.tsx";
import { changesOf } from "./remove-entry.tsx";

export function AddEntriesDialog({
  list,
  onClose,
}: {
  readonly list: SuppressionList;
  readonly onClose: () => void;
}) {
  const { api } = usePlace();
  const [entries, setEntries] = useState("");
  const add = useAct({
    run: () => api.addSuppressionEntries({ id: list.id, body: { entries } }),
    changes: changesOf(list.id),
    done: ({ message }) => message,
  });
  if (add.data) return <AddedEntries title={`Added to ${list.name}`} result={add.data} onClose={onClose} />;
  return (
    <Dialog title={`Add to ${list.name}`} isOpen onClose={onClose}>
      <ActForm
        act={add}
        onSubmit={() => {
          add.mutate();
        }}
      >
        <LongField
          name="entries"
          label="Addresses and domains"
          hint="One a line. A domain stands for every address at it. Waiting messages to them are not sent."
          placeholder={"ada@example.com\nexample.org"}
          rows={8}
          isRequired
          autoFocus
          spellCheck="false"
          value={entries}
          onChange={setEntries}
        />
        <FormActs act={add} onCancel={onClose}>
          Add
        </FormActs>
      </ActForm>
    </Dialog>
  );
}
