/** Jobs in words, and the look of their states. */
import type { Query } from "@posthaste/client";
import type { Job } from "../api/jobs.ts";
import type { Look } from "./state-mark.tsx";

type JobType = NonNullable<Query<"listJobs">["type"]>;

const types: Readonly<Record<JobType, string>> = {
  subscriber_import: "Import",
  subscriber_export: "Export",
  subscriber_bulk_action: "Bulk action",
  campaign_recipient_export: "Export of recipients",
  validation_bulk: "Validation",
  subscriber_erasure: "Erasure",
};

export function typeWords(type: string): string {
  return (types as Readonly<Record<string, string>>)[type] ?? type.replaceAll("_", " ");
}

/** "Trial run" for an import that changes nothing, which its report says. */
export function nameOfJob(job: Job): string {
  return isTrial(job) ? "Trial run" : typeWords(job.type);
}

/** Whether it changed nothing, and only says what it would do. */
export function isTrial({ result }: Job): boolean {
  return result !== null && "dry_run" in result && result.dry_run === true;
}

export const lookOfJob: Readonly<Record<Job["status"], Look>> = {
  pending: { shape: "○", tone: "text-muted" },
  processing: { shape: "◐", tone: "text-info" },
  completed: { shape: "●", tone: "text-good" },
  failed: { shape: "▲", tone: "text-bad" },
  cancelled: { shape: "■", tone: "text-muted" },
};

export const wordOfJob: Readonly<Record<Job["status"], string>> = {
  pending: "waiting",
  processing: "running",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};
