/** A job: how far it is, its result, its files, and the way to stop it. */
import { Download } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ProgressBar } from "react-aria-components";
import { useAct } from "../api/act.ts";
import { isRunning, type Job } from "../api/jobs.ts";
import { mayCall, usePlace } from "../api/session.tsx";
import { Button } from "./button.tsx";
import { Question } from "./dialog.tsx";
import { Fact, Facts } from "./facts.tsx";
import { isTrial } from "./job-words.ts";
import { counted, countText } from "./numbers.ts";
import { Time } from "./time.tsx";

export function JobProgress({ job }: { readonly job: Job }) {
  const { progress, processed, total, status } = job;
  const share = total === null ? "" : ` of ${countText(total)}`;
  return (
    <ProgressBar aria-label="Progress" value={progress} className="flex flex-col gap-1.5">
      <div className="h-2 overflow-hidden rounded-full bg-sunken">
        <div
          className="h-full rounded-full bg-accent transition-[width] duration-100"
          style={{ width: `${progress}%` }}
        />
      </div>
      <p className="min-h-5 text-muted">
        {status === "pending"
          ? "Waiting for its turn. Jobs of a workspace run one after the other."
          : total === null
            ? "The file is being read."
            : `${countText(processed)}${share} · ${progress} %${paceText(job)}`}
      </p>
    </ProgressBar>
  );
}

/** The rate since it began and the time that is left at that rate. */
function paceText({ started_at, processed, total }: Job): string {
  const seconds = started_at === null ? 0 : (Date.now() - Date.parse(started_at)) / 1_000;
  if (seconds < 1 || processed === 0 || total === null) return "";
  const rate = processed / seconds;
  const left = Math.ceil((total - processed) / rate);
  const rest = left >= 90 ? `${Math.round(left / 60)} min` : `${left} s`;
  return ` · ${countText(Math.round(rate))} a second${left > 0 ? ` · about ${rest} left` : ""}`;
}

/** The counts by outcome; those that are zero say little, except what an import refused. */
export function JobCounts({ job }: { readonly job: Job }) {
  const counts = Object.entries<number | undefined>(job.counts);
  const named = counts.flatMap(([name, count = 0]) =>
    count > 0 || name === "invalid" ? [[name, count] as const] : [],
  );
  if (job.total === null) return null;
  return (
    <Facts>
      <Fact name="Rows">{countText(job.total)}</Fact>
      {named.map(([name, count]) => (
        <Fact key={name} name={countName(name)}>
          <span className={name === "invalid" && count > 0 ? "text-bad" : ""}>{countText(count)}</span>
        </Fact>
      ))}
    </Facts>
  );
}

function countName(name: string): string {
  const words = name === "invalid" ? "refused" : name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function JobFiles({ job }: { readonly job: Job }) {
  const { workspace } = usePlace();
  const links = [
    // The report of a trial run is shown in the page.
    { url: isTrial(job) ? null : job.download_url, name: "Download the file" },
    { url: job.error_rows_url, name: "Download the refused rows" },
    { url: job.errors_url, name: "Download the reasons" },
  ];
  const shown = links.flatMap(({ url, name }) => (url === null ? [] : [{ url, name }]));
  if (shown.length === 0) return null;
  return (
    <div>
      <div className="flex flex-wrap gap-2">
        {shown.map(({ url, name }) => (
          <a
            key={url}
            href={withWorkspace(url, workspace.id)}
            download
            className="inline-flex h-8 items-center gap-1.5 rounded-control border border-control/60 bg-surface px-3 font-medium hover:bg-sunken"
          >
            <Download size={15} aria-hidden /> {name}
          </a>
        ))}
      </div>
      {job.expires_at && (
        <p className="mt-2 text-small text-muted">
          Files are kept until <Time at={job.expires_at} isPrecise />.
        </p>
      )}
    </div>
  );
}

/** A link sends no header, so its address names the workspace. */
function withWorkspace(path: string, workspaceId: string): string {
  const url = new URL(path, location.origin);
  url.searchParams.set("workspace", workspaceId);
  return `${url.pathname}${url.search}`;
}

export function CancelJob({ job }: { readonly job: Job }) {
  const { api, workspace } = usePlace();
  const [isAsking, setAsking] = useState(false);
  const cancel = useAct({
    run: () => api.cancelJob({ job_id: job.id }),
    changes: ["jobs", "job"],
    done: "The job is cancelled",
    onDone: () => setAsking(false),
  });
  if (!isRunning(job) || !mayCall(workspace, "cancelJob")) return null;
  return (
    <>
      <Button onPress={() => setAsking(true)} className="self-start">
        Cancel the job
      </Button>
      <Question
        title="Cancel the job?"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        act="Cancel the job"
        onConfirm={() => cancel.mutate()}
        isPending={cancel.isPending}
        error={cancel.error}
      >
        {doneText(job)}
      </Question>
    </>
  );
}

function doneText({ succeeded, total }: Job): ReactNode {
  if (succeeded === 0) return "Nothing is written yet. What is written before it stops stays.";
  return `${counted(succeeded, "row")}${total === null ? "" : ` of ${countText(total)}`} ${succeeded === 1 ? "is" : "are"} written, and stay. The rest is left out.`;
}

/** The result of an ended job, in a sentence. */
export function storyOfJob(job: Job): string {
  switch (job.status) {
    case "pending":
      return "Waits for its turn.";
    case "processing":
      return "Is running. This page may be closed: the job goes on.";
    case "failed":
      return job.error ?? "Failed.";
    case "cancelled":
      return job.succeeded === 0
        ? "Cancelled before anything was written."
        : `Cancelled. ${counted(job.succeeded, "row")} ${job.succeeded === 1 ? "was" : "were"} written before, and stay.`;
    default:
      return endText(job);
  }
}

function endText({ succeeded, failed, total }: Job): string {
  if (total === null) return "Completed.";
  const done = `${counted(succeeded, "row")} ${succeeded === 1 ? "was" : "were"} processed`;
  return failed > 0 ? `${done}, ${countText(failed)} refused.` : `${done}.`;
}
