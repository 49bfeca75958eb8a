/** Suppression: why an address gets no mail, and the lists that keep mail away. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { mayCall, usePlace } from "../../api/session.tsx";
import { type SuppressionList, suppressionListsQuery } from "../../api/suppression.ts";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Failure } from "../../parts/failure.tsx";
import { countText } from "../../parts/numbers.ts";
import { Page, Panel } from "../../parts/page.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { AddressCheck } from "./address-check.tsx";
import { scopeText } from "./finding.tsx";
import { SuppressionListDialog } from "./suppression-list-dialog.tsx";

const columns: readonly Column<SuppressionList>[] = [
  { id: "name", head: "List", cell: ({ name }) => <span className="font-medium">{name}</span> },
  {
    id: "scope",
    head: "Keeps away",
    width: "34%",
    isSecondary: true,
    cell: (list) => <span className="text-muted">{targetText(list)}</span>,
  },
  {
    id: "state",
    head: "State",
    width: "110px",
    isSecondary: true,
    cell: ({ is_active }) => <ListState isActive={is_active} />,
  },
  {
    id: "entries",
    head: "Entries",
    width: "96px",
    isNumeric: true,
    cell: ({ entry_count }) => countText(entry_count),
  },
];

export function SuppressionPage() {
  const place = usePlace();
  const { workspace } = place;
  const navigate = useNavigate();
  const [isMaking, setMaking] = useState(false);
  const { data, error, refetch } = useQuery(suppressionListsQuery(place));
  const open = (id: string) => void navigate({ to: `/${workspace.id}/suppression/${id}` });
  return (
    <Page title="Suppression">
      {mayCall(workspace, "findSuppressions") && <AddressCheck />}
      <Panel
        title="Lists"
        acts={
          mayCall(workspace, "createSuppressionList") && (
            <Button onPress={() => setMaking(true)}>
              <Plus size={16} aria-hidden /> New list
            </Button>
          )
        }
      >
        {error ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : (
          <DataTable
            label="Suppression lists"
            columns={columns}
            rows={data}
            idOf={({ id }) => id}
            onOpen={({ id }) => open(id)}
          />
        )}
      </Panel>
      {isMaking && (
        <SuppressionListDialog
          onClose={() => setMaking(false)}
          onSaved={({ id }) => {
            setMaking(false);
            open(id);
          }}
        />
      )}
    </Page>
  );
}

export function ListState({ isActive }: { readonly isActive: boolean }) {
  return isActive ? (
    <StateMark shape="●" tone="text-good" word="active" />
  ) : (
    <StateMark shape="■" tone="text-muted" word="inactive" />
  );
}

/** "mail to one mailing list: Customers" */
export function targetText(list: SuppressionList): string {
  const name = list.mailing_list_name ?? list.segment_name;
  return `${scopeText(list)}${name ? `: ${name}` : ""}`;
}
