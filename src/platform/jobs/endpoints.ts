/**
 * Endpoints for background jobs. Each job has a permission, the read form of the one that was needed to start it. A key with
 * that permission or `jobs:read` can see the job; with its write form or `jobs:write` it can cancel the job. The files of a
 * job require the permission of the job itself.
 */

import type { Static } from "typebox";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { missingPermissions, requirePermissions } from "#platform/http/authenticate.ts";
import {
  type Action,
  type Endpoint,
  endpoint,
  need,
  permissionOf,
  type Resource,
} from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields, idField, textField } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import { API_PREFIX } from "#platform/http/server.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { OnJobEnded } from "./attempt.ts";
import { removeOtherFiles } from "./file-store.ts";
import { downloadName, openFile } from "./files.ts";
import {
  countJobs,
  findJob,
  type JobRow,
  jobStatuses,
  listJobs,
  progressPercent,
} from "./job-record-store.ts";
import { type AnyJob, type JobOutcomeShape, jobShape } from "./job-shape.ts";
import { cancelJob } from "./start-or-cancel-job.ts";
import { jobs, visibleJobs } from "./visible-jobs.ts";

/** How the errors of a job are laid out. */
const errorLayouts = ["list", "rows"] as const;

const Csv = (description: string) => fileShape("text/csv", description);

interface Dependencies {
  readonly db: Database;
  /** All types of jobs, with the resource whose read permission shows them. */
  readonly types: Readonly<Record<string, Resource>>;
  /** What each type counts and results in, for the reference. */
  readonly outcomes?: Readonly<Record<string, JobOutcomeShape>>;
  /**
   * For types whose result quotes what only callers with the permission of the job may read: the result as others see it,
   * null included.
   */
  readonly withoutValues?: Readonly<Record<string, (result: unknown) => unknown>>;
  readonly onEnded?: OnJobEnded;
}

export function jobEndpoints({
  db,
  types,
  outcomes = {},
  withoutValues = {},
  onEnded,
}: Dependencies): Endpoint[] {
  const Job = jobShape(outcomes);
  const permissions = Object.values(types).map((resource) => permissionOf(need(resource, "read")));
  /** Refuses keys that can see no job at all, instead of an empty list. @throws ApiError INSUFFICIENT_SCOPE */
  const requireAny = (caller: Caller) => {
    const missing = missingPermissions(caller.permissions, permissions);
    if (missing.length === new Set(permissions).size) {
      requirePermissions(caller, [permissionOf(need(jobs, "read"))]);
    }
  };
  /** The job, if it exists and the caller has the permission. @throws ApiError */
  const get = async (caller: Caller, id: string, action: Action): Promise<JobRow> => {
    const job = required(await findJob(db, caller.workspaceId, id), "Job");
    requireGrant(caller, job, action);
    return job;
  };
  /**
   * The job, for access to its files, for which `jobs:read` is not enough: they may contain, for example, exported
   * people.
   */
  const getOwn = async (caller: Caller, id: string): Promise<JobRow> => {
    const job = required(await findJob(db, caller.workspaceId, id), "Job");
    requirePermissions(caller, [job.permission]);
    return job;
  };
  /** A job as this caller may see it: only those who may read what it is about see the values in its result. */
  const shownTo = ({ permissions }: Caller, job: JobRow): Static<typeof AnyJob> => {
    const mayReadValues = missingPermissions(permissions, [job.permission]).length === 0;
    const hide = mayReadValues ? undefined : withoutValues[job.type];
    return describe(hide === undefined ? job : { ...job, result: hide(job.result) });
  };
  /** Cancels a job. A waiting job ends here, a running one by its run. */
  const cancel = (workspaceId: WorkspaceId, id: string) =>
    db.transaction(async (tx) => {
      const job = await cancelJob(tx, workspaceId, id);
      if (job?.status === "cancelled") {
        const { type, status } = job;
        await removeOtherFiles(tx, workspaceId, id, []);
        await onEnded?.(tx, { workspaceId, id, type, status, error: undefined, progress: job });
      }
      return job;
    });
  const file = async ({ workspaceId }: Caller, job: JobRow, kind: JobFileKind): Promise<FileAnswer> => {
    const name = { result: job.result_file, errors: job.errors_file, rows: job.error_rows_file }[kind];
    if (name === null) throw new ApiError("NOT_FOUND", whyNoFile(job, kind));
    const content = await openFile(db, { workspaceId, jobId: job.id, name });
    if (content === undefined) throw new ApiError("NOT_FOUND", "The job's files have been removed");
    return new FileAnswer(downloadName(name), content);
  };

  return [
    endpoint({
      id: "listJobs",
      method: "GET",
      path: "/jobs",
      summary: "List the background jobs that the caller can see, newest first",
      description:
        "Work that takes longer than a request: imports, exports, validations of files, bulk actions and erasures. A caller sees the jobs about what it may read (imports and exports with `subscribers:read`), or all jobs with `jobs:read`. Filter by what a job is about and who started it; for long lists follow `pagination.next_cursor`.",
      needs: need(jobs, "read", "handler"),
      query: {
        type: choiceField(Object.keys(types), "Only jobs of this type."),
        status: choiceField(jobStatuses, "Only jobs in this state."),
        resource: textField(
          100,
          "Only jobs about this kind of resource, such as `mailing_lists` or `campaigns`.",
        ),
        resource_id: idField("Only jobs about the resource with this id, such as a mailing list."),
        actor: idField("Only jobs that this key or person started."),
        ...cursorFields(),
      },
      answer: pageOf("jobs", Job),
      message: "Jobs",
      async handle({ caller, query }) {
        requireAny(caller);
        const { workspaceId } = caller;
        const { type, status, resource, resource_id, actor } = query;
        const walk = new ListPage(query, "listJobs", workspaceId, type, status, resource, resource_id, actor);
        const filter = { ...query, permissions: visibleJobs(caller.permissions) };
        const [rows, total] = await Promise.all([
          listJobs(db, workspaceId, filter, walk.page),
          countJobs(db, workspaceId, filter),
        ]);
        const page = walk.shown(rows, total, ({ id }) => id);
        return { jobs: page.rows.map((job) => shownTo(caller, job)), pagination: page.pagination };
      },
    }),
    endpoint({
      id: "getJob",
      method: "GET",
      path: "/jobs/{job_id}",
      summary: "Get a job and its progress",
      description:
        "Ask every few seconds, or listen to the event `job.completed`, until `status` is `completed`, `failed` or `cancelled`.",
      needs: need(jobs, "read", "handler"),
      answer: Job,
      message: "Job",
      handle: async ({ caller, params }) => shownTo(caller, await get(caller, params.job_id, "read")),
    }),
    endpoint({
      id: "downloadJobResult",
      method: "GET",
      path: "/jobs/{job_id}/download",
      mayTakeLong: "reading",
      summary: "Download the result file of a job, available for seven days",
      description:
        "The file of a completed export or validation, or the report of a dry run. Answered 404 until it exists and after it has expired.",
      needs: need(jobs, "read", "handler"),
      answer: Csv("The result; its columns depend on the type of the job."),
      async handle({ caller, params }) {
        const job = await getOwn(caller, params.job_id);
        return file(caller, job, "result");
      },
    }),
    endpoint({
      id: "downloadJobErrors",
      method: "GET",
      path: "/jobs/{job_id}/errors",
      mayTakeLong: "reading",
      summary: "Download what a job refused, with the reasons; available for seven days",
      description:
        "A CSV file of what was refused. As a `list` it has one line for each error: Line, Column, Value, Reason; of a bulk action the ids of people with the reasons. As `rows` it has the rows that have errors, in the columns of the uploaded file and with the reasons in a last column `Import error`, which the values follow that a row has too many: correct it and upload it again, with the same mapping; only imports have it. Both are limited to 100,000 lines. Answered 404 if there are no errors.",
      needs: need(jobs, "read", "handler"),
      query: {
        layout: choiceField(
          errorLayouts,
          "`list` (the default): one line for each error; `rows`: one for each row.",
        ),
      },
      answer: Csv("The rejected rows, each with its reason."),
      async handle({ caller, params, query }) {
        const job = await getOwn(caller, params.job_id);
        return file(caller, job, query.layout === "rows" ? "rows" : "errors");
      },
    }),
    endpoint({
      id: "cancelJob",
      method: "POST",
      path: "/jobs/{job_id}/cancel",
      summary: "Cancel a job: at once if it waits, within seconds if it runs",
      description: "What the job has written already stays. A job that has ended is refused (409).",
      needs: need(jobs, "write", "handler"),
      errors: ["CONFLICT"],
      answer: Job,
      message: (job) => (job.status === "cancelled" ? "Job cancelled" : "The job will stop shortly"),
      async handle({ caller, params }) {
        const job = await get(caller, params.job_id, "write");
        return shownTo(
          caller,
          (await cancel(caller.workspaceId, job.id)) ?? (await ended(db, caller.workspaceId, job.id)),
        );
      },
    }),
  ];
}

/** A job that is already cancelled. @throws ApiError CONFLICT if it has ended in another way; NOT_FOUND */
async function ended(db: Database, workspaceId: WorkspaceId, id: string): Promise<JobRow> {
  const job = required(await findJob(db, workspaceId, id), "Job");
  if (job.status !== "cancelled")
    throw new ApiError("CONFLICT", `The job has already ${job.status === "failed" ? "failed" : "completed"}`);
  return job;
}

/** @throws ApiError INSUFFICIENT_SCOPE that names the permission of the job */
function requireGrant(caller: Caller, job: JobRow, action: Action): void {
  const general = permissionOf(need(jobs, action));
  if (missingPermissions(caller.permissions, [general]).length === 0) return;
  requirePermissions(caller, [job.permission.replace(/:read$/, `:${action}`)]);
}

type JobFileKind = "result" | "errors" | "rows";

/** The error message for a file that the job does not have. */
function whyNoFile({ id, status, failed, errors_file }: JobRow, kind: JobFileKind): string {
  const record = `GET ${API_PREFIX}/jobs/${id}`;
  if (status === "pending" || status === "processing") {
    return `The job has not ended yet: when it has, ${record} lists its files`;
  }
  if (kind === "result") return `The job has no result file: ${record} says how it ended`;
  if (kind === "rows" && errors_file !== null) {
    return "The errors of this job are only available as a list: leave out layout";
  }
  return failed === 0
    ? "No row was rejected, so there is no errors file"
    : `The job has no errors file: ${record} says how it ended`;
}

function describe(job: JobRow): Static<typeof AnyJob> {
  const { permission: _, result_file, errors_file, error_rows_file, ...shown } = job;
  const url = `${API_PREFIX}/jobs/${job.id}`;
  return {
    ...shown,
    job_id: job.id,
    progress: progressPercent(job),
    counts: { created: 0, updated: 0, duplicates: 0, invalid: 0, ...job.counts },
    download_url: result_file === null ? null : `${url}/download`,
    errors_url: errors_file === null ? null : `${url}/errors`,
    error_rows_url: error_rows_file === null ? null : `${url}/errors?layout=rows`,
  };
}
