/** Starting a job: the record and its place in the queue belong to the caller's transaction. */
import { type Static, Type } from "typebox";
import type { Queryable } from "../database/pool.ts";
import { ApiError } from "../errors.ts";
import { type Need, permissionOf } from "../http/endpoint.ts";
import { Id } from "../http/shapes.ts";
import { newId, type WorkspaceId } from "../ids.ts";
import { countOpenJobs, insertJob, lockStart } from "./store.ts";

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
 * it) may see the job. Give an `id` when files are stored for the job beside it.
 */
export async function startJob(
  tx: Queryable,
  workspaceId: WorkspaceId,
  job: { type: string; needs: Need; input: unknown; total?: number; id?: string },
): Promise<Static<typeof JobStarted>> {
  const id = job.id ?? newId();
  const permission = permissionOf({ ...job.needs, action: "read" });
  await insertJob(tx, workspaceId, { ...job, id, permission, total: job.total ?? null });
  return { job_id: id, status: "pending" };
}
