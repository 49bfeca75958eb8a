/** Starts and cancels jobs, in the transaction of the caller. */
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { Actor } from "#platform/http/auth/caller.ts";
import { type Need, permissionOf } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { described, Id } from "#platform/shapes.ts";
import {
  countOpenJobs,
  insertJob,
  type JobResource,
  type JobRow,
  lockStart,
  updateJobToCancel,
} from "./job-record-store.ts";
import { queueTurn } from "./turns-store.ts";

/** Open jobs of one type and workspace; each may have an upload. */
const MOST_OPEN = 50;

/** The response (202) of an endpoint that starts a job. */
export const JobStarted = Type.Object(
  {
    job_id: described(Id, "Id of the job, for `GET /jobs/{job_id}`."),
    status: Type.Literal("pending", { description: "The job waits to begin." }),
  },
  { $id: "JobStarted", description: "Follow the job at /jobs/{job_id}." },
);

/** The field of a request that starts a job. */
export const JobLabel = Type.Optional(
  Type.String({
    maxLength: 200,
    description:
      "A label of your own for the job, to find it by; shown with the job, and otherwise without effect.",
  }),
);

/** What a job is about, for people: shown as it was called when the job started. */
export interface JobOrigin {
  readonly actor: Actor;
  readonly label?: string | null | undefined;
  /** The name of the upload, as its sender gave it. */
  readonly fileName?: string;
  readonly resource?: JobResource | undefined;
}

/**
 * Call before starting a job in the same transaction. Other requests that start a job of this type wait for its end.
 * @param called plural name of such jobs, for the error message
 * @throws ApiError CONFLICT if the workspace has too many open jobs of this type
 */
export async function requirePlace(
  tx: Queryable,
  workspaceId: WorkspaceId,
  type: string,
  called: string,
): Promise<void> {
  await lockStart(tx, workspaceId, type);
  await requireFewOpen(tx, workspaceId, type, called);
}

/** Like `requirePlace`, but without a lock: call it early, to save work that would be refused. @throws ApiError CONFLICT */
export async function requireFewOpen(
  db: Queryable,
  workspaceId: WorkspaceId,
  type: string,
  called: string,
): Promise<void> {
  if ((await countOpenJobs(db, workspaceId, type)) < MOST_OPEN) return;
  throw new ApiError("CONFLICT", `${MOST_OPEN} ${called} are waiting or running: start this one later`);
}

/**
 * Starts a job with the commit of `tx`. Keys that can read the resource of `needs` (of the endpoint that starts the job) can
 * see it. A job with an `id` has an upload, and is queued together with it (startWithInput).
 */
export async function startJob(
  tx: Queryable,
  workspaceId: WorkspaceId,
  job: { type: string; needs: Need; input: unknown; total?: number; id?: string; origin?: JobOrigin },
): Promise<Static<typeof JobStarted>> {
  const id = job.id ?? newId();
  const permission = permissionOf({ ...job.needs, action: "read" });
  const { type, input, total = null, origin } = job;
  await insertJob(tx, workspaceId, { id, type, permission, input, total, ...originColumns(origin) });
  if (job.id === undefined) await queueTurn(tx, workspaceId, id);
  return { job_id: id, status: "pending" };
}

function originColumns({ actor, label, fileName, resource }: Partial<JobOrigin> = {}) {
  return {
    label: label?.trim() || null,
    actor: actor === undefined ? null : { kind: actor.kind, id: actor.id, name: actor.name },
    file_name: fileName ?? null,
    resource: resource ?? null,
  };
}

/**
 * Cancels a job: ends it if it never ran, otherwise asks its run to stop, which may leave a partial result. Undefined
 * if it has ended.
 */
export async function cancelJob(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<JobRow | undefined> {
  const job = await updateJobToCancel(db, workspaceId, id);
  if (job !== undefined && job.status !== "cancelled") await queueTurn(db, workspaceId, id);
  return job;
}
