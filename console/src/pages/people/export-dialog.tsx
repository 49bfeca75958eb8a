/** A file of the people of a list. The export knows fewer conditions than the list of people: it says which. */
import body from "schema:SubscriberExport";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { type MailingList, useLists } from "../../api/lists.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import type { StartedJob } from "../../parts/job-line.tsx";
import type { PersonStatus } from "./person-state.tsx";

interface Props {
  /** Undefined: the dialog asks for the list. */
  readonly list: MailingList | undefined;
  readonly onStarted: (job: StartedJob) => void;
}

const EVERY = "every state";
const states = (body.properties.status?.enum ?? []).filter(Boolean);

export function ExportButton(props: Props) {
  const { workspace } = usePlace();
  const [isOpen, setOpen] = useState(false);
  if (!mayCall(workspace, "exportSubscribers")) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>Export</Button>
      {isOpen && <ExportDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ExportDialog({ list, onStarted, onClose }: Props & { readonly onClose: () => void }) {
  const { api } = usePlace();
  const lists = useLists() ?? [];
  const [listId, setListId] = useState(list?.id ?? (lists.length === 1 ? lists[0]?.id : undefined));
  const [status, setStatus] = useState<string>(EVERY);
  const chosen = list ?? lists.find(({ id }) => id === listId);
  const start = useAct({
    run: (id: string) =>
      api.exportSubscribers({ id, body: status === EVERY ? {} : { status: status as PersonStatus } }),
    changes: ["jobs"],
    done: "The export has begun",
    onDone: ({ job_id }) => {
      onStarted({ id: job_id, name: `Export ${chosen?.name ?? "people"}` });
      onClose();
    },
  });
  return (
    <Dialog title={list ? `Export ${list.name}` : "Export people"} isOpen onClose={onClose}>
      <ActForm
        act={start}
        onSubmit={() => {
          if (listId !== undefined) start.mutate(listId);
        }}
      >
        <p className="text-muted">
          A CSV file with address, names, state, times and custom fields. It can be downloaded for seven days.
        </p>
        {!list && (
          <Choice
            label="List"
            options={lists}
            value={listId ?? null}
            onChange={(id) => setListId(String(id))}
            isRequired
          />
        )}
        <Choice
          label="State on the list"
          options={[EVERY, ...states].map((id) => ({ id, name: id }))}
          value={status}
          onChange={(id) => setStatus(String(id))}
        />
        <FormActs act={start} onCancel={onClose}>
          Export
        </FormActs>
      </ActForm>
    </Dialog>
  );
}
