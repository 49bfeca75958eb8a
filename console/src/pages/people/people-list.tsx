/** People as a list: all of the workspace, or those on one mailing list. Many are changed at once by jobs. */
import type { Schema } from "@posthaste/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { listsQuery, type MailingList, useLists } from "../../api/lists.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import type { FilterValues } from "../../filter/filter.ts";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { JobLine, type StartedJob } from "../../parts/job-line.tsx";
import { ListPage } from "../../parts/list-page.tsx";
import { nameOf } from "../../parts/person-name.ts";
import type { SelectionState } from "../../parts/selection.ts";
import { Time } from "../../parts/time.tsx";
import { AddPersonDialog } from "./add-person-dialog.tsx";
import { BulkActs } from "./bulk-acts.tsx";
import { ExportButton } from "./export-people.tsx";
import { bulkFilterOf, peopleFields, peoplePageSizes, peopleQuery } from "./people-filter.ts";
import { PersonPanel } from "./person-panel.tsx";
import { PersonState } from "./person-state.tsx";

type Row = Schema<"SubscriberSummary">;

interface Chosen {
  readonly state: SelectionState;
  readonly values: FilterValues;
}

function columnsOf(listId: string | undefined): readonly Column<Row>[] {
  const timeOf = (at: string | null) => (at ? <Time at={at} /> : <span className="text-muted">Never</span>);
  const columns: readonly Column<Row>[] = [
    { id: "email", head: "Address", cell: ({ email }) => email },
    {
      id: "name",
      head: "Name",
      // On a list there are fewer columns.
      width: listId === undefined ? "14%" : "24%",
      isSecondary: true,
      cell: (row) => nameOf(row) ?? <span className="text-muted">No name</span>,
    },
    {
      id: "status",
      head: "State",
      width: "132px",
      cell: ({ status, lists }) => (
        <PersonState status={lists.find(({ id }) => id === listId)?.status ?? status} />
      ),
    },
    {
      id: "lists",
      head: "Lists",
      width: "12%",
      isSecondary: true,
      cell: ({ lists }) => <span className="text-muted">{lists.map(({ name }) => name).join(", ")}</span>,
    },
    {
      id: "joined",
      head: "Joined",
      width: "100px",
      isSecondary: true,
      isNumeric: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: "opened",
      head: "Opened",
      width: "100px",
      isSecondary: true,
      isNumeric: true,
      cell: ({ last_opened_at }) => timeOf(last_opened_at),
    },
    {
      id: "clicked",
      head: "Clicked",
      width: "100px",
      isSecondary: true,
      isNumeric: true,
      cell: ({ last_clicked_at }) => timeOf(last_clicked_at),
    },
    {
      id: "score",
      head: "Score",
      width: "60px",
      isSecondary: true,
      isNumeric: true,
      cell: ({ engagement_score }) => engagement_score,
    },
  ];
  return listId === undefined ? columns : columns.filter(({ id }) => id !== "lists" && id !== "joined");
}

const allColumns = columnsOf(undefined);

export function PeopleList({ list }: { readonly list?: MailingList }) {
  const place = usePlace();
  const { api, workspace } = place;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const lists = useLists();
  const [isAdding, setAdding] = useState(false);
  const [job, setJob] = useState<StartedJob>();
  const queryKey = list ? `members ${list.id}` : "people";
  const mayWrite = mayCall(workspace, "addMember");
  const add = mayWrite && (
    <Button kind="primary" onPress={() => setAdding(true)}>
      <Plus size={16} aria-hidden /> Add a person
    </Button>
  );
  const bulk = ({ state, values }: Chosen) => (
    <BulkActs
      selection={state.selection}
      filter={bulkFilterOf(peopleQuery(values, lists, list?.id))}
      onStarted={(started) => {
        setJob(started);
        state.clear();
      }}
    />
  );
  return (
    <>
      <ListPage
        title="People"
        noun="person"
        plural="people"
        isPart={list !== undefined}
        queryKey={queryKey}
        load={async (values, signal) => {
          const known = "list" in values ? await queries.ensureQueryData(listsQuery(place)) : undefined;
          const query = peopleQuery(values, known, list?.id);
          const { subscribers, pagination } = await api.listSubscribers({ query, signal });
          return { rows: subscribers, pagination };
        }}
        columns={list ? columnsOf(list.id) : allColumns}
        idOf={({ id }) => id}
        nameOf={({ email }) => email}
        pageSizes={peoplePageSizes}
        fields={peopleFields(list ? undefined : lists)}
        free="search"
        placeholder="Beginning of a name, an address or a domain; status:, opened_since: …"
        onOpen={(id) => void navigate({ to: `/${workspace.id}/people/${id}` })}
        {...(!list && {
          panel: (id: string, onClose: () => void) => <PersonPanel key={id} id={id} onClose={onClose} />,
        })}
        acts={(values) => (
          <>
            <ExportButton list={list} values={values} onStarted={setJob} />
            {add}
          </>
        )}
        {...(mayCall(workspace, "runBulkAction") && { bulk })}
        isEmptyWithActs
        empty={<NoPeople list={list} add={add} />}
      />
      {isAdding && <AddPersonDialog list={list} onClose={() => setAdding(false)} />}
      {job && (
        <JobLine
          key={job.id}
          job={job}
          changes={[queryKey, "person", "lists", "list", "jobs"]}
          onClose={() => setJob(undefined)}
        />
      )}
    </>
  );
}

/** Three ways to the first person. */
function NoPeople({ list, add }: { readonly list: MailingList | undefined; readonly add: ReactNode }) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const base = `/${workspace.id}/lists`;
  return (
    <Empty
      title={list ? `No person is on ${list.name} yet` : "No person is on a list yet"}
      action={
        <>
          {add}
          {mayCall(workspace, "importSubscribers") && (
            <Button onPress={() => void navigate({ to: list ? `${base}/${list.id}/import` : base })}>
              {list ? "Import a file" : "Choose a list to import into"}
            </Button>
          )}
        </>
      }
    >
      People come from a file, from a sign-up form, from your programs through the API, or one by one.
    </Empty>
  );
}
