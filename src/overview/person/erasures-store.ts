/** SQL of erasures that have not ended. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { isOpen } from "#platform/jobs/job-record-store.ts";
import { ERASURE_JOB, type ErasureInput } from "./erasure-job.ts";

/** The id of the job that does the same already. */
export async function findOpenErasure(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { subscriber_id, suppress }: ErasureInput,
): Promise<string | undefined> {
  const same = JSON.stringify({ subscriber_id, suppress });
  const row = await tx.row<{ id: string }>(sql`
    select id from jobs
    where workspace_id = ${workspaceId} and type = ${ERASURE_JOB} and ${isOpen}
      and input @> ${same}::jsonb
    limit 1`);
  return row?.id;
}
