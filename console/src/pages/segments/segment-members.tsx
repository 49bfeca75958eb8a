/** Who is in a saved segment now. */

import parameters from "operation:listSegmentMembers";
import type { Query, Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { usePlace } from "../../api/session.tsx";
import { filterFields, pageSizes } from "../../filter/filter.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ListPage } from "../../parts/list-page.tsx";
import { nameOf } from "../../parts/person-name.ts";
import { Time } from "../../parts/time.tsx";

type Row = Schema<"Member">;

const fields = filterFields(parameters, { search: "person" });
const sizes = pageSizes(parameters);

const columns: readonly Column<Row>[] = [
  { id: "email", head: "Address", cell: (row) => <span className="font-medium">{row.email}</span> },
  {
    id: "name",
    head: "Name",
    isSecondary: true,
    cell: nameOf,
  },
  {
    id: "joined",
    head: "Joined",
    width: "140px",
    isNumeric: true,
    cell: (row) => <Time at={row.subscribed_at} />,
  },
];

interface Props {
  readonly listId: string;
  readonly segmentId: string;
  /** Whether rules were changed and not saved. */
  readonly isChanged: boolean;
}

/** First word of the key of its queries. */
export const membersKey = (segmentId: string) => `segment-members ${segmentId}`;

export function SegmentMembers({ listId, segmentId, isChanged }: Props) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  return (
    <>
      {isChanged && (
        <p className="mb-3 border-l-2 border-warning px-3">
          These people meet the saved rules, not the changed ones.
        </p>
      )}
      <ListPage
        isPart
        title="People in the segment"
        noun="person"
        plural="people"
        queryKey={membersKey(segmentId)}
        load={async (query, signal) => {
          const { subscribers, pagination } = await api.listSegmentMembers({
            id: listId,
            segment_id: segmentId,
            query: query as Query<"listSegmentMembers">,
            signal,
          });
          return { rows: subscribers, pagination };
        }}
        columns={columns}
        pageSizes={sizes}
        idOf={(row) => row.subscriber_id}
        fields={fields}
        free="search"
        placeholder="Filter by the beginning of an address or a name"
        onOpen={(id) => void navigate({ to: `/${workspace.id}/people/${id}` })}
        empty={
          <Empty title="No one meets these rules now">
            The rules are asked again each time they are used.
          </Empty>
        }
      />
    </>
  );
}
