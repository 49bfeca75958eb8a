/** A file of the people of a list: those that the page shows, or all. */
import { useState } from "react";
import { type MailingList, useLists } from "../../api/lists.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import type { FilterValues } from "../../filter/filter.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { ExportDialog } from "../../parts/export-dialog.tsx";
import type { StartedJob } from "../../parts/job-line.tsx";
import { exportFilterOf, filterText, peopleQuery } from "./people-filter.ts";

interface Props {
  /** Undefined: the dialog asks for the list. */
  readonly list: MailingList | undefined;
  /** The filter of the page. */
  readonly values: FilterValues;
  readonly onStarted: (job: StartedJob) => void;
}

export function ExportButton(props: Props) {
  const { workspace } = usePlace();
  const [isOpen, setOpen] = useState(false);
  if (!mayCall(workspace, "exportSubscribers")) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>Export</Button>
      {isOpen && <ExportPeople {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ExportPeople({ list, values, onStarted, onClose }: Props & { readonly onClose: () => void }) {
  const { api } = usePlace();
  const lists = useLists() ?? [];
  const { list_id: filtered, ...query } = peopleQuery(values, lists, list?.id);
  const [chosenId, setChosenId] = useState<string>();
  const listId = chosenId ?? filtered ?? (lists.length === 1 ? lists[0]?.id : undefined);
  const chosen = list ?? lists.find(({ id }) => id === listId);
  return (
    <ExportDialog
      title={list ? `Export ${list.name}` : "Export people"}
      name={`Export ${chosen?.name ?? "people"}`}
      about="A CSV file with address, names, state, times and custom fields of the people of a list."
      plural="people"
      filter={filterText(values)}
      run={(isFiltered) =>
        api.exportSubscribers({ id: listId ?? "", body: isFiltered ? exportFilterOf(query) : {} })
      }
      onStarted={onStarted}
      onClose={onClose}
    >
      {!list && (
        <Choice
          label="List"
          options={lists}
          value={listId ?? null}
          onChange={(id) => setChosenId(String(id))}
          isRequired
        />
      )}
    </ExportDialog>
  );
}
