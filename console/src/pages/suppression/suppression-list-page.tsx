/** A suppression list: its entries, found by their beginning, with ways to add and remove. */
import parameters from "operation:listSuppressionEntries";
import type { Schema } from "@posthaste/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import type { SuppressionList } from "../../api/suppression.ts";
import { filterFields } from "../../filter/filter.ts";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { ListPage, type RowsAnswer } from "../../parts/list-page.tsx";
import { counted } from "../../parts/numbers.ts";
import { Page } from "../../parts/page.tsx";
import type { Pagination } from "../../parts/pager.tsx";
import { Time } from "../../parts/time.tsx";
import { AddEntriesDialog } from "./add-entries-dialog.tsx";
import { EntryDialog } from "./entry-dialog.tsx";
import { ImportEntriesDialog } from "./import-entries-dialog.tsx";
import { SuppressionListDialog } from "./suppression-list-dialog.tsx";
import { ListState, targetText } from "./suppression-page.tsx";

type Entry = Schema<"SuppressionEntry">;

const PAGE_ROWS = 100;
/** Above this the name is typed before the list is deleted. */
const TYPED_ABOVE = 1_000;

const fields = filterFields(parameters, {});

const columns: readonly Column<Entry>[] = [
  { id: "value", head: "Address or domain", cell: ({ entry_value }) => entry_value },
  {
    id: "reason",
    head: "Reason",
    width: "128px",
    cell: ({ reason }) => <span className="capitalize">{reason.replaceAll("_", " ")}</span>,
  },
  {
    id: "by",
    head: "Added by",
    width: "22%",
    isSecondary: true,
    cell: ({ created_by }) => <span className="text-muted">{created_by}</span>,
  },
  {
    id: "since",
    head: "Since",
    width: "120px",
    isNumeric: true,
    isSecondary: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

export function SuppressionListPage() {
  const { list: id = "" } = useParams({ strict: false }) as { readonly list?: string };
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["suppression-list", workspace.id, id],
    queryFn: ({ signal }) => api.getSuppressionList({ id, signal }),
  });
  if (error) {
    return (
      <Page title="Suppression list">
        <Failure error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  return data ? <KnownList list={data} /> : <Page title="Suppression list">{null}</Page>;
}

function KnownList({ list }: { readonly list: SuppressionList }) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<"add" | "import" | "settings" | "delete">();
  const close = () => setDialog(undefined);
  const mayChange = !list.is_system && mayCall(workspace, "updateSuppressionList");
  const mayAdd = mayCall(workspace, "addSuppressionEntries");
  return (
    <Page
      title={list.name}
      acts={
        <>
          {mayAdd && !list.is_system && <Button onPress={() => setDialog("import")}>Import</Button>}
          {mayAdd && (
            <Button kind="primary" onPress={() => setDialog("add")}>
              Add
            </Button>
          )}
          {mayChange && (
            <ActMenu
              label="More about this list"
              acts={[
                { name: "Settings", run: () => setDialog("settings") },
                { name: "Delete the list", run: () => setDialog("delete"), isDanger: true },
              ]}
            />
          )}
        </>
      }
    >
      <p className="-mt-3 mb-4 flex flex-wrap items-center gap-x-4 gap-y-1 text-muted">
        <Link to={`/${workspace.id}/suppression`} className="text-accent hover:underline">
          Suppression
        </Link>
        <ListState isActive={list.is_active} />
        <span>Keeps away {targetText(list)}</span>
        <span>{counted(list.entry_count, "entry", "entries")}</span>
      </p>
      {list.description && <p className="mb-4">{list.description}</p>}
      {list.is_system && (
        <p className="mb-4 text-muted">
          The service adds addresses that bounced for good or complained. It cannot be changed or deleted.
        </p>
      )}
      <Entries list={list} />
      {dialog === "add" && <AddEntriesDialog list={list} onClose={close} />}
      {dialog === "import" && <ImportEntriesDialog list={list} onClose={close} />}
      {dialog === "settings" && <SuppressionListDialog list={list} onClose={close} onSaved={close} />}
      {dialog === "delete" && (
        <DeleteList
          list={list}
          onClose={close}
          onDone={() => void navigate({ to: `/${workspace.id}/suppression` })}
        />
      )}
    </Page>
  );
}

function Entries({ list }: { readonly list: SuppressionList }) {
  const { api } = usePlace();
  const [open, setOpen] = useState<Entry>();
  const queries = useQueryClient();
  const queryKey = `entries ${list.id}`;
  const shown = () =>
    queries
      .getQueriesData<RowsAnswer<Entry>>({ queryKey: [queryKey] })
      .flatMap(([, answer]) => answer?.rows ?? []);
  return (
    <>
      <ListPage
        isPart
        title="Entries"
        noun="entry"
        plural="entries"
        queryKey={queryKey}
        load={async ({ page, ...values }, signal) => {
          const answer = await api
            .listSuppressionEntries({
              id: list.id,
              query: { ...values, page, limit: PAGE_ROWS },
              signal,
            })
            .withResponse();
          const rows = answer.data ?? [];
          return { rows, pagination: paginationOf(list, page, values, rows.length, answer.nextCursor) };
        }}
        columns={columns}
        idOf={({ id }) => id}
        fields={fields}
        free="search"
        placeholder="Beginning of an address or a domain"
        onOpen={(id) => setOpen(shown().find((entry) => entry.id === id))}
        empty={
          <Empty title="The list is empty">
            {list.is_system
              ? "No address has bounced for good or complained."
              : "Add addresses and domains that must get no mail. A domain stands for all its addresses."}
          </Empty>
        }
      />
      {open && <EntryDialog list={list} entry={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

/** The client does not pass on how many entries a search finds: the end shows on its last page. */
function paginationOf(
  { entry_count }: SuppressionList,
  page: number,
  values: Readonly<Record<string, unknown>>,
  rows: number,
  nextCursor: string | null | undefined,
): Pagination {
  const end = (page - 1) * PAGE_ROWS + rows;
  const isSearch = Object.keys(values).length > 0;
  const total = nextCursor && !isSearch ? Math.max(entry_count, end + 1) : end;
  return {
    page,
    limit: PAGE_ROWS,
    total,
    total_pages: nextCursor && isSearch ? page + 1 : Math.ceil(total / PAGE_ROWS),
    total_is_exact: !(nextCursor && isSearch),
  };
}

function DeleteList({
  list,
  onClose,
  onDone,
}: {
  readonly list: SuppressionList;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const { api } = usePlace();
  const remove = useAct({
    run: () => api.deleteSuppressionList({ id: list.id }),
    changes: ["suppression-lists", "findings"],
    done: `${list.name} is deleted`,
    onDone,
  });
  return (
    <Question
      title={`Delete ${list.name}?`}
      isOpen
      onClose={onClose}
      act="Delete the list"
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error}
      {...(list.entry_count > TYPED_ABOVE && { typed: list.name })}
    >
      {counted(list.entry_count, "entry", "entries")} are deleted with it, and those addresses get mail again
      unless another list has them.
    </Question>
  );
}
