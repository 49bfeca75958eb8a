/** Segments of all lists: whom each selects, how many they are, and what uses it. */

import parameters from "operation:listSegments";
import type { Query, Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { mayCall, usePlace } from "../../api/session.tsx";
import { filterFields, pageSizes } from "../../filter/filter.ts";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ListPage } from "../../parts/list-page.tsx";
import { countText } from "../../parts/numbers.ts";
import { draftOf } from "../../parts/segment-builder/draft.ts";
import { SegmentSentence } from "../../parts/segment-builder/sentence.tsx";
import { Time } from "../../parts/time.tsx";
import { useNew } from "../../parts/use-new.ts";
import { usesText } from "../lists/used-by.tsx";
import { NewSegmentDialog } from "./new-segment-dialog.tsx";

type Row = Schema<"SegmentInUse">;

// A filter by list would have to be typed as its id.
const fields = filterFields(
  parameters.filter(({ name }) => name === "search"),
  { search: "name" },
);
const sizes = pageSizes(parameters);

const columns: readonly Column<Row>[] = [
  { id: "name", head: "Name", width: "24%", cell: (row) => <span className="font-medium">{row.name}</span> },
  {
    id: "who",
    head: "Who",
    isSecondary: true,
    cell: (row) => (
      <SegmentSentence
        listId={row.mailing_list_id}
        listName={row.mailing_list_name}
        draft={draftOf(row.conditions)}
      />
    ),
  },
  {
    id: "used",
    head: "Used by",
    width: "15%",
    isSecondary: true,
    cell: ({ used_by }) => usedByCell(used_by),
  },
  {
    id: "people",
    head: "People",
    width: "100px",
    isNumeric: true,
    cell: ({ subscriber_count: count }) =>
      count === null ? <span className="text-muted">Not counted</span> : countText(count),
  },
  {
    id: "counted",
    head: "Counted",
    width: "120px",
    isNumeric: true,
    isSecondary: true,
    cell: ({ counted_at }) =>
      counted_at ? <Time at={counted_at} /> : <span className="text-muted">Never</span>,
  },
];

function usedByCell(usedBy: Row["used_by"]) {
  const { total, users } = usedBy;
  if (total === 0) return <span className="text-muted">Nothing</span>;
  return users.length === total ? users.map(({ name }) => name).join(", ") : usesText(usedBy);
}

export function SegmentsPage() {
  const navigate = useNavigate();
  const { api, workspace } = usePlace();
  const [isMaking, setMaking] = useNew();
  const make = mayCall(workspace, "createSegment") && (
    <Button kind="primary" onPress={() => setMaking(true)}>
      <Plus size={16} aria-hidden /> New segment
    </Button>
  );
  return (
    <>
      <ListPage
        title="Segments"
        noun="segment"
        queryKey="segments"
        load={async (query, signal) => {
          const { segments, pagination } = await api.listSegments({
            query: query as Query<"listSegments">,
            signal,
          });
          return { rows: segments, pagination };
        }}
        columns={columns}
        pageSizes={sizes}
        idOf={({ id, mailing_list_id }) => `${mailing_list_id}/segments/${id}`}
        fields={fields}
        free="search"
        placeholder="Filter by a part of the name"
        onOpen={(place) => void navigate({ to: `/${workspace.id}/lists/${place}` })}
        acts={make}
        isEmptyWithActs
        empty={
          <Empty title="No segment is saved yet" action={make}>
            A segment is a saved set of rules on the people of one list. Campaigns to it reach the people who
            meet the rules at that time.
          </Empty>
        }
      />
      {isMaking && make && <NewSegmentDialog onClose={() => setMaking(false)} />}
    </>
  );
}
