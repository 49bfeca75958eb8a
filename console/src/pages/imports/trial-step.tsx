/** Step 4: the whole file is sent and tried without writing; then the same file and rules are imported. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useAct } from "../../api/act.ts";
import { isRunning, mayReadJobs, useJob } from "../../api/jobs.ts";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { JobHidden } from "../../parts/job-line.tsx";
import { CancelJob, JobFiles, JobProgress } from "../../parts/job-view.tsx";
import { counted } from "../../parts/numbers.ts";
import { sizeText } from "./file-words.ts";
import { ImportReport, readReport } from "./import-report.tsx";
import { type ImportOptions, importBody } from "./options.ts";
import { targetsOfColumns } from "./targets.ts";
import { type Reading, useFileColumns } from "./use-file-columns.ts";

interface Props {
  readonly listId: string;
  readonly listName: string;
  readonly file: File;
  readonly reading: Reading;
  readonly chosen: ReadonlyMap<number, string>;
  readonly options: ImportOptions;
}

/** A large file on a slow line. */
const SENDING_MS = 600_000;

export function TrialStep({ listId, listName, file, reading, chosen, options }: Props) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const { data } = useFileColumns(listId, file, reading);
  const columns = data?.columns ?? undefined;
  const exact = { ...reading, hasHeader: columns?.has_header };
  const targets = targetsOfColumns(columns?.columns ?? [], chosen);
  const { name, size, lastModified } = file;
  const send = (isTrial: boolean, signal?: AbortSignal) =>
    api.importSubscribers({
      id: listId,
      query: { dry_run: isTrial },
      body: importBody(file, targets, exact, options),
      timeoutMs: SENDING_MS,
      signal,
    });
  // The same file with the same choices is tried once, also when an earlier step was looked at meanwhile.
  const trial = useQuery({
    queryKey: ["import-trial", workspace.id, listId, name, size, lastModified, exact, [...targets], options],
    queryFn: async ({ signal }) => (await send(true, signal)).job_id,
    enabled: columns !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const go = useAct({
    run: () => send(false),
    changes: ["jobs"],
    done: "The import has started",
    onDone: ({ job_id }) => void navigate({ to: ".", search: { job: job_id } as never }),
  });
  return (
    <>
      {trial.error ? <Failure error={trial.error} onRetry={() => void trial.refetch()} /> : null}
      {trial.isPending && (
        <p role="status" className="text-muted">
          Sending {name} ({sizeText(size)}) …
        </p>
      )}
      {trial.data && (
        <Trial id={trial.data}>
          {(count) => (
            <>
              {go.error ? <Failure error={go.error} /> : null}
              <div className="mt-6 flex flex-wrap items-center justify-end gap-3 border-t border-line pt-4">
                <p className="text-muted">Nothing is written yet.</p>
                <Button
                  kind="primary"
                  onPress={() => go.mutate()}
                  isPending={go.isPending}
                  isDisabled={count === 0}
                >
                  {go.isPending
                    ? "Sending the file …"
                    : count === 0
                      ? "No row can be imported"
                      : `Import ${counted(count, "person", "people")} into ${listName}`}
                </Button>
              </div>
            </>
          )}
        </Trial>
      )}
    </>
  );
}

/** @param children gets how many people an import would write or confirm */
function Trial({ id, children }: { readonly id: string; readonly children: (count: number) => ReactNode }) {
  const { workspace } = usePlace();
  const { data: job, error, refetch } = useJob(id);
  if (!mayReadJobs(workspace)) return <JobHidden />;
  if (error && !job) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!job)
    return (
      <p role="status" className="text-muted">
        The trial run begins …
      </p>
    );
  if (isRunning(job))
    return (
      <div className="flex flex-col items-start gap-3">
        <div className="w-full">
          <JobProgress job={job} />
        </div>
        <CancelJob job={job} />
      </div>
    );
  const report = readReport(job);
  if (job.status !== "completed" || !report)
    return (
      <p role="alert" className="border-l-2 border-bad px-3 py-1">
        {job.error ?? "The trial run was cancelled."}
      </p>
    );
  return (
    <>
      <ImportReport report={report} />
      <div className="mt-5">
        <JobFiles job={job} />
      </div>
      {children(report.created + report.updated + report.unchanged)}
    </>
  );
}
