/** Starting a job: the record and its place in the queue belong to the caller's transaction. */
import { type Static, Type } from "typebox";
import type { Queryable } from "../database/pool.ts";
import { type Need, permissionOf } from "../http/endpoint.ts";
import { Id } from "../http/shapes.ts";
import { newId, type WorkspaceId } from "../ids.ts";
import { insertJob } from "./store.ts";

/** What an endpoint answers (202) that started a job. */
export const JobStarted = Type.Object(
  { job_id: Id, status: Type.Literal("pending") },
  { $id: "JobStarted", description: "Follow the job at /jobs/{job_id}." },
);

/**
 * Starts a job with the commit of `tx`. Whoever may read the resource of `needs` (the need of the endpoint that starts
 * it) may see the job. Give an `id` when files were put into the job's folder before.
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
