/** One job beside the list: its progress live, its result, its files. */
import { isRunning, type Job, useJob } from "../../api/jobs.ts";
import { Copyable } from "../../parts/copyable.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { Failure } from "../../parts/failure.tsx";
import { CancelJob, JobCounts, JobFiles, JobProgress, storyOfJob } from "../../parts/job-view.tsx";
import { lookOfJob, nameOfJob, wordOfJob } from "../../parts/job-words.ts";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { ImportReport, readReport } from "../imports/import-report.tsx";

export function JobPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, error, refetch } = useJob(id);
  return (
    <SidePanel label="Job" title={data ? nameOfJob(data) : "Job"} onClose={onClose}>
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <JobDetails job={data} />
      ) : null}
    </SidePanel>
  );
}

function JobDetails({ job }: { readonly job: Job }) {
  const report = readReport(job);
  return (
    <>
      <div className="flex flex-col gap-3 border-b border-line px-5 py-4">
        <StateMark {...lookOfJob[job.status]} word={wordOfJob[job.status]} />
        <p className={`text-[15px] leading-6 ${job.status === "failed" ? "text-bad" : ""}`}>
          {storyOfJob(job)}
        </p>
        {isRunning(job) && <JobProgress job={job} />}
        <CancelJob job={job} />
        <JobFiles job={job} />
      </div>
      <div className="border-b border-line px-5 py-4">
        <JobFacts job={job} />
      </div>
      <div className="px-5 py-4">
        {report?.dry_run ? <ImportReport report={report} /> : <JobCounts job={job} />}
      </div>
      {report && !report.dry_run && <Warnings warnings={report.warnings} />}
    </>
  );
}

function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  return (
    <ul className="px-5 pb-6">
      {warnings.map((text) => (
        <li key={text} className="mb-2 border-l-2 border-warning px-3">
          {text}
        </li>
      ))}
    </ul>
  );
}

function JobFacts({ job }: { readonly job: Job }) {
  const { label, file_name, resource, actor, created_at, started_at, completed_at, id } = job;
  return (
    <Facts>
      {label && <Fact name="Label">{label}</Fact>}
      {file_name && <Fact name="File">{file_name}</Fact>}
      {resource && (
        <Fact name="About">
          {resource.kind === "mailing_lists" ? (
            <PlaceLink to={`lists/${resource.id}`} className="text-accent hover:underline">
              {resource.name}
            </PlaceLink>
          ) : (
            resource.name
          )}
        </Fact>
      )}
      {actor && <Fact name="Started by">{actor.name}</Fact>}
      <Fact name="Asked for">
        <Time at={created_at} isPrecise />
      </Fact>
      {started_at && (
        <Fact name="Began">
          <Time at={started_at} isPrecise />
        </Fact>
      )}
      {completed_at && (
        <Fact name="Ended">
          <Time at={completed_at} isPrecise />
        </Fact>
      )}
      <Fact name="Id">
        <Copyable text={id} label="job id" />
      </Fact>
    </Facts>
  );
}
