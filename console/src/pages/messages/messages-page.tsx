/** Messages: where is the mail to an address? The filter line first, then the rows, and one message beside them. */

import parameters from "operation:listMessages";
import type { Query, Schema } from "@posthaste/client";
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useLive } from "../../api/live.ts";
import { usePlace } from "../../api/session.tsx";
import { type FilterValues, filterFields } from "../../filter/filter.ts";
import { FilterLine } from "../../filter/filter-line.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Pager } from "../../parts/pager.tsx";
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
const names = fields.map(({ parameter }) => parameter.name);

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

export interface MessagesSearch {
  readonly page?: number;
  /** The message in the panel. */
  readonly message?: string;
  readonly [parameter: string]: string | number | undefined;
}

export function MessagesPage() {
  const search = useSearch({ strict: false }) as MessagesSearch;
  const navigate = useNavigate();
  const { api, workspace } = usePlace();
  const queries = useQueryClient();
  const values = Object.fromEntries(
    names.flatMap((name) => (search[name] === undefined ? [] : [[name, String(search[name])]])),
  );
  const page = search.page ?? 1;
  const pageQuery = (wanted: number) =>
    queryOptions({
      queryKey: ["messages", workspace.id, values, wanted],
      queryFn: ({ signal }) =>
        api.listMessages({ query: { ...values, page: wanted } as Query<"listMessages">, signal }),
    });
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...pageQuery(page),
    placeholderData: keepPreviousData,
  });
  const go = (next: MessagesSearch) => navigate({ to: ".", search: next as never });
  const filter = (next: FilterValues) => go(next);
  const live = useLive<Readonly<Record<string, number>>>(workspace.id, "messages");
  const isFiltered = Object.keys(values).length > 0;

  return (
    <div className={`grid h-dvh ${search.message ? "lg:grid-cols-[minmax(0,1fr)_minmax(380px,38%)]" : ""}`}>
      <section
        aria-labelledby="title"
        className={`flex min-h-0 min-w-0 flex-col ${search.message ? "max-lg:hidden" : ""}`}
      >
        <header className="flex h-14 shrink-0 items-center gap-3 px-6">
          <h1 id="title" className="text-title font-semibold tracking-[-0.01em]">
            Messages
          </h1>
          <NewRows key={`${page} ${JSON.stringify(values)}`} live={live} onShow={() => refetch()} />
          <div className="ml-auto">
            {data && data.pagination.total > 0 && (
              <Pager
                pagination={data.pagination}
                onPage={(next) => go({ ...search, page: next })}
                onNear={(next) => queries.prefetchQuery(pageQuery(next))}
              />
            )}
          </div>
        </header>
        <div className="flex shrink-0 px-6 pb-3">
          <FilterLine
            label="Filter messages"
            fields={fields}
            free="email"
            values={values}
            onChange={filter}
          />
        </div>
        {data?.searched_since && (
          <p className="px-6 pb-2 text-small text-muted">
            Searched back to <Time at={data.searched_since} isPrecise />. Exact addresses are found further
            back.
          </p>
        )}
        <div className="min-h-0 flex-1 overflow-auto border-t border-line px-3">
          {error && !data ? (
            <Failure error={error} onRetry={() => refetch()} />
          ) : data?.messages.length === 0 ? (
            <NoMessages
              count={Object.keys(values).length}
              onClear={() => filter({})}
              isFiltered={isFiltered}
            />
          ) : (
            <DataTable
              label="Messages"
              columns={search.message ? columns.filter(({ isSecondary }) => !isSecondary) : columns}
              rows={data?.messages}
              idOf={(row) => row.id}
              openId={search.message}
              isStale={isPlaceholderData}
              onOpen={(row) =>
                row.id === search.message
                  ? navigate({ to: `/${workspace.id}/messages/${row.id}` })
                  : go({ ...search, message: row.id })
              }
            />
          )}
        </div>
      </section>
      {search.message && (
        <MessagePanel
          key={search.message}
          id={search.message}
          onClose={() => go({ ...search, message: undefined } as never)}
        />
      )}
    </div>
  );
}

function NoMessages({
  count,
  onClear,
  isFiltered,
}: {
  readonly count: number;
  readonly onClear: () => void;
  readonly isFiltered: boolean;
}) {
  if (isFiltered) {
    return (
      <Empty
        title="No message matches"
        action={<Button onPress={onClear}>Clear {count === 1 ? "the filter" : `${count} filters`}</Button>}
      >
        Look for a part of the address, or take a condition away.
      </Empty>
    );
  }
  return (
    <Empty title="No mail has been sent yet">
      Each message of the API, SMTP, a campaign or an autoresponder appears here the moment it is accepted,
      with every attempt to deliver it.
    </Empty>
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
      {new Intl.NumberFormat("en").format(total - seen.total)} new
    </Button>
  );
}

function sum(state: Readonly<Record<string, unknown>>): number {
  const counts = (state["counts"] ?? state) as Readonly<Record<string, unknown>>;
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
