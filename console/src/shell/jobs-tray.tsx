/** Jobs that run now, live, with the way to all jobs. Nothing is shown while none runs. */
import { Link } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { Button, Dialog, DialogTrigger, Heading, Popover, ProgressBar } from "react-aria-components";
import { isRunning, type JobsLive, type LiveJob } from "../api/jobs.ts";
import { useLive } from "../api/live.ts";
import { mayCall, usePlace } from "../api/session.tsx";
import { typeWords, wordOfJob } from "../parts/job-words.ts";
import { counted, countText } from "../parts/numbers.ts";
import { Time } from "../parts/time.tsx";
import { CountBadge } from "./count-badge.tsx";

export function JobsTray() {
  const { workspace } = usePlace();
  if (!mayCall(workspace, "listJobs")) return null;
  return <Tray />;
}

function Tray() {
  const { workspace } = usePlace();
  const jobs = useLive<JobsLive | null>(workspace.id, "jobs")?.jobs ?? [];
  const running = jobs.filter(isRunning);
  if (jobs.length === 0) return null;
  return (
    <DialogTrigger>
      <Button
        aria-label={running.length > 0 ? `${counted(running.length, "job")} running` : "Jobs that just ended"}
        className="relative grid h-8 w-8 shrink-0 place-items-center rounded-control text-muted max-[900px]:h-10 max-[900px]:w-10 hover:bg-sunken hover:text-text"
      >
        <ListChecks size={16} aria-hidden />
        {running.length > 0 && <CountBadge count={running.length} tone="bg-info" />}
      </Button>
      <Popover
        placement="bottom start"
        className="w-96 max-w-[calc(100vw-16px)] rounded-panel bg-surface shadow-overlay"
      >
        <Dialog className="flex max-h-[70dvh] flex-col outline-none">
          {({ close }) => (
            <>
              <div className="flex items-center border-b border-line px-4 py-2.5">
                <Heading slot="title" className="flex-1 font-semibold">
                  Jobs
                </Heading>
                <Link to={`/${workspace.id}/jobs`} onClick={close} className="text-accent hover:underline">
                  All jobs
                </Link>
              </div>
              <ul className="min-h-0 overflow-auto px-4">
                {jobs.map((job) => (
                  <JobRow key={job.id} job={job} />
                ))}
              </ul>
            </>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
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
