/** Starts a bulk validation: reads the uploaded file, checks that allowance or balance cover it, and starts the job. */
import { validations } from "#hygiene/validations/validation.ts";
import type { Clock } from "#platform/clock.ts";
import type { Encoding } from "#platform/csv/encodings.ts";
import type { Database } from "#platform/database/pool.ts";
import { need } from "#platform/http/endpoint.ts";
import type { UploadedFile } from "#platform/http/request/uploads.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { startWithInput } from "#platform/jobs/files.ts";
import {
  type JobOrigin,
  requireFewOpen,
  requirePlace,
  startJob,
} from "#platform/jobs/start-or-cancel-job.ts";
import { quotaOf } from "#workspace/billing/derive-meter-reading.ts";
import { limitError } from "#workspace/billing/limit-error.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import { capacityOf, refusalOf } from "#workspace/billing/meter-arithmetic.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { requireBytes } from "#workspace/billing/storage-limit.ts";
import { readAddressFile } from "./address-file.ts";
import { BULK_JOB, type BulkInput } from "./bulk-job.ts";

export interface StartDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
}

/**
 * Starts the job if allowance or balance cover the whole file. The hourly cap is not checked here: a job that reaches it
 * continues in the next hour.
 * @throws ApiError as readAddressFile does; PLAN_LIMIT_REACHED or INSUFFICIENT_BALANCE; CONFLICT when too many jobs are open
 */
export async function startBulkValidation(
  deps: StartDeps,
  workspaceId: WorkspaceId,
  file: UploadedFile,
  encoding: Encoding | undefined,
  starter: Pick<JobOrigin, "actor" | "label">,
) {
  const { db, clock, plans } = deps;
  await requireFewOpen(db, workspaceId, BULK_JOB, "validations");
  const { addresses, duplicates } = await readAddressFile(file.path, encoding);
  const now = clock.now();
  const reading = await getMeterReading(db, plans, workspaceId, now);
  const standing = quotaOf(reading, "validation");
  const most = capacityOf(standing);
  const cost = addresses.filter(({ syntax }) => syntax.ok).length;
  if (most !== null && most < cost) {
    throw limitError(refusalOf(standing), reading, "validation", now, cost);
  }
  const input: BulkInput = { file_name: file.name, encoding: encoding ?? null };
  const total = addresses.length + duplicates;
  return startWithInput(db, workspaceId, file.path, async (tx, id) => {
    await requirePlace(tx, workspaceId, BULK_JOB, "validations");
    await requireBytes(deps, tx, workspaceId, file.bytes);
    return startJob(tx, workspaceId, {
      id,
      type: BULK_JOB,
      needs: need(validations, "write"),
      input,
      total,
      origin: { ...starter, fileName: file.name },
    });
  });
}
