/** Starts and cancels jobs, in the transaction of the caller. */
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { type Need, permissionOf } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { described, Id } from "#platform/shapes.ts";
import { countOpenJobs, insertJob, type JobRow, lockStart, updateJobToCancel } from "./job-record-store.ts";
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
  job: { type: string; needs: Need; input: unknown; total?: number; id?: string },
): Promise<Static<typeof JobStarted>> {
  const id = job.id ?? newId();
  const permission = permissionOf({ ...job.needs, action: "read" });
  await insertJob(tx, workspaceId, { ...job, id, permission, total: job.total ?? null });
  if (job.id === undefined) await queueTurn(tx, workspaceId, id);
  return { job_id: id, status: "pending" };
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
