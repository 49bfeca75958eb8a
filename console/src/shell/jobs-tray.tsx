/** Jobs that run now, live, with the way to all jobs. Nothing is shown while none runs. */
import { type Query, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { useEffect, useRef } from "react";
import { ProgressBar } from "react-aria-components";
import { isRunning, type JobsLive, type LiveJob } from "../api/jobs.ts";
import { useLive } from "../api/live.ts";
import { mayCall, usePlace } from "../api/session.tsx";
import { typeWords, wordOfJob } from "../parts/job-words.ts";
import { counted, countText } from "../parts/numbers.ts";
import { Time } from "../parts/time.tsx";
import { Tray } from "./tray.tsx";

export function JobsTray() {
  const { workspace } = usePlace();
  if (!mayCall(workspace, "listJobs")) return null;
  return <LiveJobs />;
}

function LiveJobs() {
  const { workspace } = usePlace();
  const live = useLive<JobsLive | null>(workspace.id, "jobs")?.jobs;
  useEndedJobs(live);
  const jobs = live ?? [];
  const running = jobs.filter(isRunning).length;
  if (jobs.length === 0) return null;
  return (
    <Tray
      label={running > 0 ? `${counted(running, "job")} running` : "Jobs that just ended"}
      icon={ListChecks}
      count={running}
      tone="bg-info"
      title="Jobs"
      beside={(close) => (
        <Link to={`/${workspace.id}/jobs`} onClick={close} className="text-accent hover:underline">
          All jobs
        </Link>
      )}
    >
      {() => (
        <ul>
          {jobs.map((job) => (
            <JobRow key={job.id} job={job} />
          ))}
        </ul>
      )}
    </Tray>
  );
}

/** First words of the keys of queries about people and suppression, which imports and bulk actions change. */
const changedByJobs: ReadonlySet<string> = new Set([
  "entries",
  "jobs",
  "list",
  "lists",
  "members",
  "people",
  "person",
  "segment",
  "segments",
  "suppression-list",
  "suppression-lists",
  "suppressions",
]);

/** When a job ends, what is shown of people is loaded again. */
function useEndedJobs(jobs: readonly LiveJob[] | undefined) {
  const queries = useQueryClient();
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (jobs === undefined) return;
    const ended = jobs.filter((job) => !isRunning(job)).map(({ id }) => id);
    // What had ended when the page was opened is in what it loaded.
    const isNews = known.current !== undefined && ended.some((id) => !known.current?.has(id));
    known.current = new Set(ended);
    if (!isNews) return;
    const isChanged = ({ queryKey: [first] }: Query) => changedByJobs.has(String(first).replace(/ .*/, ""));
    void queries.invalidateQueries({ predicate: isChanged });
  }, [jobs, queries]);
}

function JobRow({ job }: { readonly job: LiveJob }) {
  const { type, label, file_name, resource, status, progress, total, processed, completed_at } = job;
  const name = label ?? typeWords(type);
  return (
    <li className="border-b border-line/60 py-3 last:border-0">
      <p className="flex gap-3">
        <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
        <span className="shrink-0 text-muted">
          {completed_at ? (
            <>
              {wordOfJob[status]} <Time at={completed_at} />
            </>
          ) : (
            `${progress} %`
          )}
        </span>
      </p>
      {completed_at === null && (
        <ProgressBar aria-label={name} value={progress} className="mt-2 h-1 rounded-full bg-sunken">
          <div className="h-1 rounded-full bg-accent" style={{ width: `${progress}%` }} />
        </ProgressBar>
      )}
      <p className="mt-1 truncate text-small text-muted">
        {[
          resource?.name,
          file_name,
          total === null ? undefined : `${countText(processed)} of ${countText(total)}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
    </li>
  );
}
