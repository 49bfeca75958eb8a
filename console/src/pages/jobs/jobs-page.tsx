/** Jobs: what runs longer than a request, how far it is, and its result. */

import parameters from "operation:listJobs";
import type { Query } from "@posthaste/client";
import { useState } from "react";
import { isRunning, type Job, type JobsLive, useLiveJob } from "../../api/jobs.ts";
import { useLive } from "../../api/live.ts";
import { usePlace } from "../../api/session.tsx";
import { filterFields, pageSizes } from "../../filter/filter.ts";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { lookOfJob, nameOfJob, wordOfJob } from "../../parts/job-words.ts";
import { ListPage } from "../../parts/list-page.tsx";
import { countText } from "../../parts/numbers.ts";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { JobPanel } from "./job-panel.tsx";

const fields = filterFields(parameters, { resource: "about", resource_id: "id", actor: "by" });
const sizes = pageSizes(parameters);

const columns: readonly Column<Job>[] = [
  {
    id: "status",
    head: "State",
    width: "124px",
    cell: (job) => <State job={job} />,
  },
  {
    id: "job",
    head: "Job",
    cell: (job) => (
      <>
        <span className="font-medium">{nameOfJob(job)}</span>
        {job.resource && <span className="text-muted"> · {job.resource.name}</span>}
      </>
    ),
  },
  {
    id: "file",
    head: "File or label",
    isSecondary: true,
    cell: ({ label, file_name }) => label ?? file_name ?? "",
  },
  {
    id: "rows",
    head: "Rows",
    width: "150px",
    isNumeric: true,
    isSecondary: true,
    cell: (job) => <Rows job={job} />,
  },
  {
    id: "actor",
    head: "Started by",
    width: "16%",
    isSecondary: true,
    cell: ({ actor }) => actor?.name ?? "",
  },
  {
    id: "time",
    head: "Asked for",
    width: "120px",
    isNumeric: true,
    cell: (job) => <Time at={job.created_at} />,
  },
];

export function JobsPage() {
  const { api } = usePlace();
  return (
    <ListPage
      title="Jobs"
      noun="job"
      queryKey="jobs"
      load={async (query, signal) => {
        const { jobs, pagination } = await api.listJobs({ query: query as Query<"listJobs">, signal });
        return { rows: jobs, pagination };
      }}
      columns={columns}
      pageSizes={sizes}
      idOf={(job) => job.id}
      fields={fields}
      free="type"
      placeholder="Filter by type:, status: …"
      onOpen={() => {}}
      beside={(reload) => <NewJobs onShow={reload} />}
      panel={(id, onClose) => <JobPanel key={id} id={id} onClose={onClose} />}
      empty={
        <Empty title="No job has run yet">
          Imports, exports and changes of many people run in the background. Each is listed here with its
          progress, its result and its files.
        </Empty>
      }
    />
  );
}

/** How many jobs were started since the rows were loaded. Rows never move by themselves. */
function NewJobs({ onShow }: { readonly onShow: () => void }) {
  const { workspace } = usePlace();
  const live = useLive<JobsLive>(workspace.id, "jobs");
  const [seen, setSeen] = useState<ReadonlySet<string>>();
  if (!live) return null;
  const ids = live.jobs.map(({ id }) => id);
  if (!seen) setSeen(new Set(ids));
  const count = ids.filter((id) => seen && !seen.has(id)).length;
  if (count === 0) return null;
  return (
    <Button
      kind="quiet"
      className="text-accent"
      onPress={() => {
        setSeen(new Set(ids));
        onShow();
      }}
    >
      {countText(count)} new
    </Button>
  );
}

function State({ job }: { readonly job: Job }) {
  const { status } = useLiveJob(job);
  return <StateMark {...lookOfJob[status]} word={wordOfJob[status]} />;
}

function Rows({ job }: { readonly job: Job }) {
  const { status, progress, total, failed } = useLiveJob(job);
  if (isRunning({ status })) return status === "pending" ? "" : `${progress} %`;
  if (total === null) return "";
  return (
    <>
      {countText(total)}
      {failed > 0 && <span className="text-bad"> · {countText(failed)} refused</span>}
    </>
  );
}
