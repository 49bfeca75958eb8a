/** The import that runs or has ended: its id is in the address, so that a reload comes back to it. */
import { Link } from "@tanstack/react-router";
import { isRunning, mayReadJobs, useJob } from "../../api/jobs.ts";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { JobHidden } from "../../parts/job-line.tsx";
import { CancelJob, JobCounts, JobFiles, JobProgress, storyOfJob } from "../../parts/job-view.tsx";
import { lookOfJob, wordOfJob } from "../../parts/job-words.ts";
import { StateMark } from "../../parts/state-mark.tsx";
import { readReport } from "./import-report.tsx";

interface Props {
  readonly id: string;
  readonly listId: string;
  readonly listName: string;
}

export function ImportJob({ id, listId, listName }: Props) {
  const { workspace } = usePlace();
  const { data: job, error, refetch } = useJob(id);
  if (!mayReadJobs(workspace)) return <JobHidden />;
  if (error && !job) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!job) return <div aria-busy="true" className="h-40" />;
  const report = readReport(job);
  const list = `/${workspace.id}/lists/${listId}`;
  return (
    <div className="flex max-w-2xl flex-col gap-5">
      <div>
        <StateMark {...lookOfJob[job.status]} word={wordOfJob[job.status]} />
        <p
          role="status"
          className={`mt-2 text-[15px] leading-6 ${job.status === "failed" ? "text-bad" : ""}`}
        >
          {job.file_name && <span className="font-medium">{job.file_name}: </span>}
          {storyOfJob(job)}
        </p>
      </div>
      {isRunning(job) && <JobProgress job={job} />}
      <CancelJob job={job} />
      <JobCounts job={job} />
      {report && report.warnings.length > 0 && (
        <ul className="flex flex-col gap-2">
          {report.warnings.map((text) => (
            <li key={text} className="border-l-2 border-warning px-3">
              {text}
            </li>
          ))}
        </ul>
      )}
      <JobFiles job={job} />
      {job.error_rows_url && (
        <p className="text-muted">
          The file of refused rows has the columns of yours and the reasons in a last column. Correct it and
          import it again, with the same choices.
        </p>
      )}
      <p className="flex flex-wrap gap-x-5 gap-y-1 border-t border-line pt-4">
        <Link to={list} className="text-accent hover:underline">
          Open {listName}
        </Link>
        <Link to={`${list}/import`} className="text-accent hover:underline">
          Import another file
        </Link>
        <Link to={`/${workspace.id}/jobs`} className="text-accent hover:underline">
          All jobs
        </Link>
      </p>
    </div>
  );
}
