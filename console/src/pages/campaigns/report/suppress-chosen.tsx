/** Puts chosen recipients on a suppression list, in the background. */
import schema from "schema:SubscriberBulkAction";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../../../api/act.ts";
import { usePlace } from "../../../api/session.tsx";
import { ActForm, FormActs } from "../../../parts/act-form.tsx";
import { Button } from "../../../parts/button.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted, countText } from "../../../parts/numbers.ts";
import type { SelectionState } from "../../../parts/selection.ts";

const most = schema.properties.ids?.maxItems ?? Number.POSITIVE_INFINITY;

export function SuppressChosen({ state }: { readonly state: SelectionState }) {
  const [isOpen, setOpen] = useState(false);
  const { isAll, ids } = state.selection;
  const people = [...new Set([...ids].map((row) => row.split(" ")[1] ?? "").filter((id) => id !== ""))];
  if (isAll) return <span className="text-muted">Make a segment to act on all that match.</span>;
  if (people.length === 0) return <span className="text-muted">These people are deleted.</span>;
  if (people.length > most) return <span className="text-muted">Choose at most {countText(most)}.</span>;
  return (
    <>
      <Button onPress={() => setOpen(true)}>Suppress …</Button>
      {isOpen && (
        <SuppressDialog
          people={people}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false);
            state.clear();
          }}
        />
      )}
    </>
  );
}

interface Props {
  readonly people: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function SuppressDialog({ people, onClose, onDone }: Props) {
  const { api, workspace } = usePlace();
  const lists = useQuery({
    queryKey: ["suppression-lists", workspace.id],
    queryFn: ({ signal }) => api.listSuppressionLists({ signal }),
  });
  const suppress = useAct({
    run: (suppression_list_id: string) =>
      api.runBulkAction({ body: { action: "suppress", ids: [...people], suppression_list_id } }),
    changes: ["suppression-lists", "jobs"],
    done: `${counted(people.length, "person is", "people are")} being suppressed`,
    onDone,
  });
  const options = (lists.data?.suppression_lists ?? [])
    .filter((list) => !list.is_system)
    .map(({ id, name, description }) => ({ id, name, description }));
  return (
    <Dialog title={`Suppress ${counted(people.length, "person", "people")}`} isOpen onClose={onClose}>
      <ActForm
        act={suppress}
        onSubmit={({ suppression_list_id = "" }) => suppress.mutate(suppression_list_id)}
      >
        <p className="text-muted">
          Nothing that the list applies to is sent to them from then on. Take an address off the list to undo
          it.
        </p>
        {lists.data && options.length === 0 ? (
          <p>There is no suppression list of your own yet. Make one on the page “Suppression”.</p>
        ) : (
          <Choice name="suppression_list_id" label="Suppression list" options={options} isRequired />
        )}
        {lists.error && <Failure error={lists.error} />}
        {options.length > 0 && (
          <FormActs act={suppress} onCancel={onClose}>
            Suppress
          </FormActs>
        )}
      </ActForm>
    </Dialog>
  );
}
