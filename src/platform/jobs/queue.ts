/** Starting and cancelling a job: the record and its turn belong to the caller's transaction. */
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { type Need, permissionOf } from "#platform/http/endpoint.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { Id } from "#platform/shapes.ts";
import { countOpenJobs, insertJob, type JobRow, lockStart, updateJobToCancel } from "./store.ts";
import { joinLine } from "./turns-store.ts";

/** Of one type and workspace, waiting or under way, each with a file. */
const MOST_OPEN = 50;

/** What an endpoint answers (202) that started a job. */
export const JobStarted = Type.Object(
  { job_id: Id, status: Type.Literal("pending") },
  { $id: "JobStarted", description: "Follow the job at /jobs/{job_id}." },
);

/**
 * Before a job is started in the same transaction: nobody else of the workspace starts one of this type before it ends.
 * @param called what such jobs are, in the plural
 * @throws ApiError CONFLICT
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

/** The same at a glance, before work that would be in vain; others may start one meanwhile. @throws as requirePlace */
export async function requireFewOpen(
  db: Queryable,
  workspaceId: WorkspaceId,
  type: string,
  called: string,
): Promise<void> {
  if ((await countOpenJobs(db, workspaceId, type)) < MOST_OPEN) return;
  throw new ApiError("CONFLICT", `${MOST_OPEN} ${called} are waiting or under way: start this one later`);
}

/**
 * Starts a job with the commit of `tx`. Whoever may read the resource of `needs` (the need of the endpoint that starts
 * it) may see the job. One with an `id` waits for its upload, and joins the line with that (startWithInput).
 */
export async function startJob(
  tx: Queryable,
  workspaceId: WorkspaceId,
  job: { type: string; needs: Need; input: unknown; total?: number; id?: string },
): Promise<Static<typeof JobStarted>> {
  const id = job.id ?? newId();
  const permission = permissionOf({ ...job.needs, action: "read" });
  await insertJob(tx, workspaceId, { ...job, id, permission, total: job.total ?? null });
  if (job.id === undefined) await joinLine(tx, workspaceId, id);
  return { job_id: id, status: "pending" };
}

/**
 * Ends a job that never ran at once and has any other one stop, which may leave what it has done so far. Undefined when it
 * has already ended.
 */
export async function cancelJob(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<JobRow | undefined> {
  const job = await updateJobToCancel(db, workspaceId, id);
  if (job !== undefined && job.status !== "cancelled") await joinLine(db, workspaceId, id);
  return job;
}
