/**
 * A list as a page: title, filter line, table and pages, with one row beside it. The address holds the filter, the page and the
 * open row, so that each view is a link.
 */
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { usePlace } from "../api/session.tsx";
import type { FilterField, FilterValues } from "../filter/filter.ts";
import { FilterLine } from "../filter/filter-line.tsx";
import { Button } from "./button.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { Empty } from "./empty.tsx";
import { Failure } from "./failure.tsx";
import { useKeys } from "./keys.ts";
import { counted, countText } from "./numbers.ts";
import { Pager, type Pagination, totalText } from "./pager.tsx";
import { countChosen, type SelectionState, useSelection } from "./selection.ts";
import { TableMenu } from "./table-menu.tsx";
import { useTableSettings } from "./table-settings.ts";

export interface RowsAnswer<Row> {
  readonly rows: readonly Row[];
  readonly pagination: Pagination;
  /** What the answer says of itself, above the table. */
  readonly note?: ReactNode;
}

interface ListSearch {
  readonly page?: number;
  /** The cursor of a search that continues where the call before has stopped. */
  readonly after?: string;
  /** The id of the row beside the list. */
  readonly open?: string;
  readonly [parameter: string]: string | number | undefined;
}

interface Props<Row> {
  readonly title: string;
  /** "message", for "No message matches". */
  readonly noun: string;
  readonly plural?: string;
  /** First word of the key of the queries. */
  readonly queryKey: string;
  readonly load: (
    query: FilterValues & { readonly page: number; readonly limit?: number },
    signal: AbortSignal,
  ) => Promise<RowsAnswer<Row>>;
  readonly columns: readonly Column<Row>[];
  readonly idOf: (row: Row) => string;
  /** What people call a row, where rows can be chosen. */
  readonly nameOf?: (row: Row) => string;
  readonly fields: readonly FilterField[];
  /** The parameter that a word without a name is for. */
  readonly free: string;
  readonly placeholder: string;
  /** Opens a row on a page of its own, in a second step where there is a panel. */
  readonly onOpen: (id: string) => void;
  readonly panel?: (id: string, onClose: () => void) => ReactNode;
  /** At the title, or at the filter of a part; may depend on the filter. */
  readonly acts?: ReactNode | ((values: FilterValues) => ReactNode);
  /** Beside the title; gets what loads the rows again. */
  readonly beside?: (reload: () => void) => ReactNode;
  readonly empty: ReactNode;
  /** `empty` offers the acts, too: they are not shown twice. */
  readonly isEmptyWithActs?: boolean;
  /** The acts on chosen rows; without it rows cannot be chosen. */
  readonly bulk?: (chosen: {
    readonly state: SelectionState;
    readonly values: FilterValues;
    readonly total: number;
  }) => ReactNode;
  /** Rows of a page to choose from (`pageSizes` of the parameters); `load` then gets the chosen `limit`. */
  readonly pageSizes?: readonly number[];
  /** Below another heading, where the list is a part of a page: less room, no title. */
  readonly isPart?: boolean;
}

export function ListPage<Row>(props: Props<Row>) {
  const {
    title,
    noun,
    plural = `${noun}s`,
    queryKey,
    load,
    columns,
    idOf,
    fields,
    onOpen,
    panel,
    bulk,
    pageSizes = [],
    isPart = false,
    isEmptyWithActs = false,
  } = props;
  const search = useSearch({ strict: false }) as ListSearch;
  const navigate = useNavigate();
  const { workspace } = usePlace();
  const queries = useQueryClient();
  const values: FilterValues = Object.fromEntries(
    fields.flatMap(({ parameter: { name } }) =>
      search[name] === undefined ? [] : [[name, String(search[name])]],
    ),
  );
  const conditions = JSON.stringify(values);
  const chosen = useSelection(conditions);
  const { settings, change } = useTableSettings(queryKey);
  const limit = pageSizes.find((size) => size === settings.limit);
  const pageQuery = (page: number) =>
    queryOptions({
      queryKey: [queryKey, workspace.id, title, values, page, limit, search.after],
      queryFn: ({ signal }) => {
        const more = { ...(limit && { limit }), ...(search.after && { after: search.after }) };
        return load({ ...values, page, ...more } as Parameters<typeof load>[0], signal);
      },
    });
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...pageQuery(search.page ?? 1),
    placeholderData: keepPreviousData,
  });
  const go = (next: ListSearch) => void navigate({ to: ".", search: next as never });
  const keep = search.tab === undefined ? {} : { tab: search.tab };
  const isOpen = panel !== undefined && search.open !== undefined;
  const count = Object.keys(values).length;
  const total = data?.pagination.total ?? 0;
  const hasNoRows = data?.rows.length === 0;
  // Rows of the filter before say nothing of the list.
  const isEmpty = hasNoRows && !isPlaceholderData && total === 0 && count === 0;
  const lastPage = Math.max(1, data?.pagination.total_pages ?? 1);
  const isAfterLast = hasNoRows && !isPlaceholderData && (search.page ?? 1) > lastPage;
  const given = typeof props.acts === "function" ? props.acts(values) : props.acts;
  const acts = isEmpty && isEmptyWithActs ? undefined : given;
  const shown = columns.filter(
    ({ id, isSecondary }, place) => place === 0 || !(settings.hidden.includes(id) || (isOpen && isSecondary)),
  );
  const turn = (by: number) => {
    const page = (search.page ?? 1) + by;
    if (page >= 1 && page <= (data?.pagination.total_pages ?? 1)) go({ ...search, page });
  };
  const scroller = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows begin at the top
  useEffect(() => {
    scroller.current?.scrollTo(0, 0);
  }, [search.page, conditions]);
  useKeys({
    PageDown: { name: "Next page", group: "Table", run: () => turn(1) },
    PageUp: { name: "Page before", group: "Table", run: () => turn(-1) },
  });

  return (
    <div
      className={`grid ${isPart ? "" : "h-full min-h-0"} ${isOpen ? "lg:grid-cols-[minmax(0,1fr)_minmax(380px,38%)]" : ""}`}
    >
      <section
        aria-label={title}
        className={`flex min-h-0 min-w-0 flex-col ${isOpen ? "max-lg:hidden" : ""}`}
      >
        {!isPart && (
          <header className="flex min-h-14 shrink-0 flex-wrap items-center gap-x-3 px-6 py-2 max-md:px-4">
            <h1 className="text-title font-semibold tracking-[-0.01em]">{title}</h1>
            {props.beside?.(() => void refetch())}
            <div className="ml-auto flex items-center gap-2">{acts}</div>
          </header>
        )}
        <div
          className={`flex shrink-0 flex-wrap items-start gap-x-4 gap-y-2 pb-3 ${isPart ? "" : "px-6 max-md:px-4"}`}
        >
          <FilterLine
            label={`Filter ${plural}`}
            placeholder={props.placeholder}
            fields={fields}
            free={props.free}
            values={values}
            onChange={(next) => go({ ...keep, ...next })}
          />
          {isPart && acts && <div className="flex min-h-9 items-center gap-2">{acts}</div>}
          <div className="flex items-center gap-1 max-md:w-full max-md:justify-end">
            {data && total > 0 && !isAfterLast && (
              <Pager
                pagination={data.pagination}
                onPage={(page) => go({ ...search, page })}
                onNear={(page) => void queries.prefetchQuery(pageQuery(page))}
              />
            )}
            <TableMenu
              columns={columns}
              settings={settings}
              onChange={({ limit: rows, ...next }) => {
                change(rows ? { ...next, limit: rows } : next);
                if (rows && search.page) go({ ...search, page: 1 });
              }}
              pageSizes={pageSizes}
              limit={limit ?? data?.pagination.limit}
            />
          </div>
        </div>
        {data?.note && (
          <div className={`pb-2 text-small text-muted ${isPart ? "" : "px-6"}`}>{data.note}</div>
        )}
        {bulk && countChosen(chosen.selection, total) > 0 && (
          <ChosenBar
            state={chosen}
            pagination={data?.pagination}
            plural={plural}
            pageIds={data?.rows.map(idOf) ?? []}
          >
            {bulk({ state: chosen, values, total })}
          </ChosenBar>
        )}
        <div
          ref={scroller}
          className={`min-h-0 flex-1 border-t border-line ${data || error ? "overflow-auto" : "overflow-hidden"} ${isPart ? "" : "md:px-3"}`}
        >
          {error && !data ? (
            <div className="p-3 max-md:px-4">
              <Failure error={error} onRetry={() => refetch()} />
            </div>
          ) : isEmpty ? (
            props.empty
          ) : isAfterLast ? (
            <Empty
              title={`There is no page ${countText(search.page ?? 1)}`}
              action={
                <Button onPress={() => go({ ...search, page: lastPage })}>
                  Go to the {lastPage === 1 ? "first" : "last"} page
                </Button>
              }
            />
          ) : hasNoRows && count > 0 && !(isPlaceholderData && total > 0) ? (
            <Empty
              title={`No ${noun} matches`}
              action={
                <Button onPress={() => go(keep)}>
                  Clear {count === 1 ? "the filter" : `${count} filters`}
                </Button>
              }
            >
              Take a condition away, or look for a part of the word.
            </Empty>
          ) : (
            <DataTable
              label={title}
              columns={shown}
              isDense={settings.isDense}
              rows={hasNoRows && isPlaceholderData ? undefined : data?.rows}
              idOf={idOf}
              nameOf={props.nameOf}
              openId={search.open}
              isStale={isPlaceholderData}
              {...(bulk && { selection: chosen })}
              onOpen={(row) => {
                const id = idOf(row);
                if (panel === undefined || id === search.open) onOpen(id);
                else go({ ...search, open: id });
              }}
            />
          )}
        </div>
      </section>
      {isOpen && <h1 className="sr-only lg:hidden">{title}</h1>}
      {isOpen &&
        panel(String(search.open), () => {
          const { open: _closed, ...rest } = search;
          go(rest);
        })}
    </div>
  );
}

function ChosenBar({
  state,
  pagination,
  plural,
  pageIds,
  children,
}: {
  readonly state: SelectionState;
  readonly pagination: Pagination | undefined;
  readonly plural: string;
  readonly pageIds: readonly string[];
  readonly children: ReactNode;
}) {
  const total = pagination?.total ?? 0;
  const count = countChosen(state.selection, total);
  const isMore = state.selection.isAll && pagination?.total_is_exact === false;
  const isPageChosen = pageIds.length > 0 && pageIds.every(state.has);
  return (
    <div
      role="toolbar"
      aria-label={`Chosen ${plural}`}
      className="flex min-h-11 flex-wrap items-center gap-2 bg-selected px-6 py-1.5"
    >
      <span className="font-medium">
        {isMore && "More than "}
        {counted(count, "chosen", "chosen")}
      </span>
      {isPageChosen && !state.selection.isAll && count < total && pagination && (
        <Button kind="quiet" className="text-accent" onPress={state.chooseAll}>
          Choose all {totalText(pagination)} that match
        </Button>
      )}
      <Button kind="quiet" onPress={state.clear}>
        Clear
      </Button>
      <div className="ml-auto flex flex-wrap gap-2">{children}</div>
    </div>
  );
}
