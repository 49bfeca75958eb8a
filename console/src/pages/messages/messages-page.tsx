/** Messages: where is the mail to an address? The filter line first, then the rows, and one message beside them. */

import parameters from "operation:listMessages";
import type { Query, Schema } from "@posthaste/client";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useLive } from "../../api/live.ts";
import { usePlace } from "../../api/session.tsx";
import { filterFields, pageSizes } from "../../filter/filter.ts";
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

const sizes = pageSizes(parameters);

const columns: readonly Column<Row>[] = [
  {
    id: "to",
    head: "To",
    width: "190px",
    cell: (row) => (
      <>
        {row.localpart}
        <span className="text-muted">@{row.domain}</span>
      </>
    ),
  },
  { id: "status", head: "State", width: "124px", cell: (row) => <MessageState status={row.status} /> },
  {
    id: "subject",
    head: "Subject",
    cell: (row) => (
      <>
        {row.subject || <span className="text-muted">No subject</span>}
        {row.tags.length > 0 && <span className="ml-2 text-muted">{row.tags.join(" · ")}</span>}
      </>
    ),
  },
  {
    id: "answer",
    head: "Answer",
    isSecondary: true,
    cell: (row) => (
      <span title={row.error_message ?? ""} className="text-muted">
        {row.error_message}
      </span>
    ),
  },
  {
    id: "origin",
    head: "Sent by",
    width: "150px",
    isSecondary: true,
    cell: (row) => <span className="text-muted">{row.origin_name}</span>,
  },
  { id: "time", head: "Accepted", width: "110px", isNumeric: true, cell: (row) => <Time at={row.time} /> },
];

interface LiveMessages {
  readonly since: string;
  readonly accepted: number;
}

export function MessagesPage() {
  const navigate = useNavigate();
  const { api, workspace } = usePlace();
  const live = useLive<LiveMessages>(workspace.id, "messages");
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
        const { next_cursor } = pagination;
        return {
          rows: messages,
          pagination,
          note: searched_since && <SearchedSince at={searched_since} next={next_cursor ?? undefined} />,
        };
      }}
      columns={columns}
      pageSizes={sizes}
      idOf={(row) => row.id}
      fields={fields}
      free="email"
      placeholder="Filter by address, status:, after: …"
      onOpen={(id) => void navigate({ to: `/${workspace.id}/messages/${id}` })}
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

/** How far back the call has looked, and the way further back. */
function SearchedSince({ at, next }: { readonly at: string; readonly next: string | undefined }) {
  const { page: _page, open: _open, ...search } = useSearch({ strict: false }) as Record<string, unknown>;
  return (
    <>
      Searched back to <Time at={at} isPrecise />. Whole addresses are found further back.{" "}
      {next && (
        <Link to="." search={{ ...search, after: next } as never} className="text-accent hover:underline">
          Search further back
        </Link>
      )}
    </>
  );
}

/** How many messages were accepted since the rows were loaded. Rows never move by themselves. */
function NewRows({ live, onShow }: { readonly live: LiveMessages | undefined; readonly onShow: () => void }) {
  const [seen, setSeen] = useState(live);
  // The count begins again each day.
  if (live && live.since !== seen?.since) setSeen(live);
  const count = live && seen && live.since === seen.since ? live.accepted - seen.accepted : 0;
  if (count <= 0) return null;
  return (
    <Button
      kind="quiet"
      className="text-accent"
      onPress={() => {
        setSeen(live);
        onShow();
      }}
    >
      {countText(count)} new
    </Button>
  );
}
