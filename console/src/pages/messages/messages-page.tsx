/** Messages: where is the mail to an address? The filter line first, then the rows, and one message beside them. */

import parameters from "operation:listMessages";
import type { Query, Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useLive } from "../../api/live.ts";
import { usePlace } from "../../api/session.tsx";
import { filterFields } from "../../filter/filter.ts";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ListPage } from "../../parts/list-page.tsx";
import { countText } from "../../parts/numbers.ts";
import { MessageState } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { MessagePanel } from "./message-panel.tsx";

type Row = Schema<"MessageLogRow">;

const fields = filterFields(parameters, {
  email: "to",
  from_email: "from",
  accepted_from: "after",
  accepted_before: "before",
  request_id: "request",
  origin_id: "origin",
});

const columns: readonly Column<Row>[] = [
  { id: "status", head: "State", width: "116px", cell: (row) => <MessageState status={row.status} /> },
  {
    id: "to",
    head: "To",
    width: "32%",
    cell: (row) => (
      <>
        {row.localpart}
        <span className="text-muted">@{row.domain}</span>
      </>
    ),
  },
  {
    id: "subject",
    head: "Subject",
    cell: (row) => row.subject || <span className="text-muted">No subject</span>,
  },
  {
    id: "origin",
    head: "Sent by",
    width: "18%",
    isSecondary: true,
    cell: (row) => <span className="text-muted">{row.origin_name}</span>,
  },
  { id: "time", head: "Accepted", width: "110px", isNumeric: true, cell: (row) => <Time at={row.time} /> },
];

export function MessagesPage() {
  const navigate = useNavigate();
  const { api, workspace } = usePlace();
  const live = useLive<Readonly<Record<string, number>>>(workspace.id, "messages");
  return (
    <ListPage
      title="Messages"
      noun="message"
      queryKey="messages"
      load={async (query, signal) => {
        const { messages, pagination, searched_since } = await api.listMessages({
          query: query as Query<"listMessages">,
          signal,
        });
        return { rows: messages, pagination, note: searched_since && <SearchedSince at={searched_since} /> };
      }}
      columns={columns}
      idOf={(row) => row.id}
      fields={fields}
      free="email"
      placeholder="Filter by address, status:, after: …"
      onOpen={(id) => navigate({ to: `/${workspace.id}/messages/${id}` })}
      panel={(id, onClose) => <MessagePanel key={id} id={id} onClose={onClose} />}
      beside={(reload) => <NewRows live={live} onShow={reload} />}
      empty={
        <Empty title="No mail has been sent yet">
          Each message of the API, SMTP, a campaign or an autoresponder appears here the moment it is
          accepted, with every attempt to deliver it.
        </Empty>
      }
    />
  );
}

function SearchedSince({ at }: { readonly at: string }) {
  return (
    <>
      Searched back to <Time at={at} isPrecise />. Exact addresses are found further back.
    </>
  );
}

/** How many messages were accepted since the rows were loaded. Rows never move by themselves. */
function NewRows({
  live,
  onShow,
}: {
  readonly live: Readonly<Record<string, number>> | undefined;
  readonly onShow: () => void;
}) {
  const total = live === undefined ? undefined : sum(live);
  const seen = useSeen(total);
  if (total === undefined || seen.total === undefined || total <= seen.total) return null;
  return (
    <Button
      kind="quiet"
      className="text-accent"
      onPress={() => {
        seen.see();
        onShow();
      }}
    >
      {countText(total - seen.total)} new
    </Button>
  );
}

function sum(state: Readonly<Record<string, unknown>>): number {
  const counts = (state.counts ?? state) as Readonly<Record<string, unknown>>;
  return Object.values(counts).reduce<number>(
    (total, count) => total + (typeof count === "number" ? count : 0),
    0,
  );
}

function useSeen(total: number | undefined) {
  const [first, setFirst] = useState(total);
  if (first === undefined && total !== undefined) setFirst(total);
  return { total: first, see: () => setFirst(total) };
}
