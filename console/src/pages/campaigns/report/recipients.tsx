/** All people who got the campaign, or were to get it: found by the state of the message and what they did. */

import parameters from "operation:listCampaignMessages";
import type { Data, Query } from "@posthaste/client";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useCampaignLinks } from "../../../api/campaign-links.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { filterFields, type Parameter } from "../../../filter/filter.ts";
import { Button } from "../../../parts/button.tsx";
import type { Column } from "../../../parts/data-table.tsx";
import { Empty } from "../../../parts/empty.tsx";
import { JobLine, type StartedJob } from "../../../parts/job-line.tsx";
import { ListPage } from "../../../parts/list-page.tsx";
import { MessageState } from "../../../parts/state-mark.tsx";
import { Time } from "../../../parts/time.tsx";
import { RecipientActs } from "./recipient-acts.tsx";
import { SuppressChosen } from "./suppress-chosen.tsx";

type Row = Data<"listCampaignMessages">["messages"][number];

const fields = filterFields(parameters.map(withAnswers), { email: "to" });
const names = fields.map(({ parameter }) => parameter.name);

/** A yes or no has these two values, which the filter line then offers. */
function withAnswers(parameter: Parameter): Parameter {
  return "type" in parameter && parameter.type === "boolean"
    ? { ...parameter, enum: ["true", "false"] }
    : parameter;
}

interface Search {
  readonly after?: string;
  readonly [parameter: string]: string | number | boolean | undefined;
}

export function Recipients({ campaign }: { readonly campaign: Data<"getCampaign"> }) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as Search;
  const [job, setJob] = useState<StartedJob>();
  const { id } = campaign;
  const filter = Object.fromEntries(
    names.flatMap((name) => (search[name] === undefined ? [] : [[name, String(search[name])]])),
  );
  const mayOpen = mayCall(workspace, "getMessage");
  const searchOn = (after: string) =>
    void navigate({ to: ".", search: { ...search, after, page: undefined } as never });
  return (
    <>
      {filter.link !== undefined && <ClickedLink id={id} index={Number(filter.link)} />}
      <ListPage<Row>
        isPart
        title="Recipients"
        noun="recipient"
        queryKey={`campaign-recipients ${id} ${search.after ?? ""}`}
        load={async (query, signal) => {
          const { messages, pagination, searched_since } = await api.listCampaignMessages({
            id,
            query: {
              ...query,
              ...(search.after && { after: search.after }),
            } as Query<"listCampaignMessages">,
            signal,
          });
          const { next_cursor } = pagination;
          const isCut = searched_since !== null && next_cursor;
          return {
            rows: messages,
            pagination,
            note: isCut ? (
              <SearchedPart since={searched_since} onSearch={() => searchOn(next_cursor)} />
            ) : undefined,
          };
        }}
        columns={columns}
        // Names the message, which a row opens, and the person, whom the act on chosen rows is about.
        idOf={({ id: message, subscriber_id }) => `${message} ${subscriber_id ?? ""}`}
        nameOf={({ localpart, domain }) => `${localpart}@${domain}`}
        fields={fields}
        free="email"
        placeholder="Filter by address, opened:, clicked:, link: …"
        onOpen={(row) => {
          if (mayOpen) void navigate({ to: `/${workspace.id}/messages/${row.split(" ")[0]}` });
        }}
        acts={<RecipientActs campaign={campaign} filter={filter} onStarted={setJob} />}
        {...(mayCall(workspace, "runBulkAction") && {
          bulk: ({ state }) => <SuppressChosen state={state} />,
        })}
        empty={
          <Empty title="No recipient is in the log">
            {campaign.sent_count > 0
              ? "The message log has dropped the messages of this campaign. Its figures stay."
              : "Recipients appear here once sending begins."}
          </Empty>
        }
      />
      {job && <JobLine key={job.id} job={job} changes={["jobs"]} onClose={() => setJob(undefined)} />}
    </>
  );
}

/** Which link the people of the filter clicked. */
function ClickedLink({ id, index }: { readonly id: string; readonly index: number }) {
  const { data } = useCampaignLinks(id);
  const link = data?.find((one) => one.index === index);
  return <p className="min-h-8 truncate text-muted">{link && `Clicked ${link.url}`}</p>;
}

function SearchedPart({ since, onSearch }: { readonly since: string; readonly onSearch: () => void }) {
  return (
    <>
      Searched the messages made since <Time at={since} isPrecise />.{" "}
      <Button kind="quiet" className="text-accent" onPress={onSearch}>
        Search the ones before
      </Button>
    </>
  );
}

const columns: readonly Column<Row>[] = [
  { id: "status", head: "State", width: "116px", cell: (row) => <MessageState status={row.status} /> },
  {
    id: "to",
    head: "Address",
    cell: (row) => (
      <span title={`${row.localpart}@${row.domain}`}>
        {row.localpart}
        <span className="text-muted">@{row.domain}</span>
      </span>
    ),
  },
  {
    id: "opened",
    head: "Opened",
    width: "116px",
    isSecondary: true,
    cell: (row) => <When at={row.first_opened_at} />,
  },
  {
    id: "clicked",
    head: "Clicked",
    width: "116px",
    isSecondary: true,
    cell: (row) => <When at={row.first_clicked_at} />,
  },
  {
    id: "reason",
    head: "What else",
    width: "28%",
    isSecondary: true,
    cell: (row) => <Remark row={row} />,
  },
];

function When({ at }: { readonly at: string | null }) {
  return at === null ? <span className="text-muted">–</span> : <Time at={at} />;
}

function Remark({ row: { unsubscribed_at, next_attempt_at, error_message } }: { readonly row: Row }) {
  if (unsubscribed_at) {
    return (
      <>
        Unsubscribed <Time at={unsubscribed_at} />
      </>
    );
  }
  return (
    <span className="text-muted" title={error_message ?? undefined}>
      {next_attempt_at && (
        <>
          Next try <Time at={next_attempt_at} />.{" "}
        </>
      )}
      {error_message}
    </span>
  );
}
