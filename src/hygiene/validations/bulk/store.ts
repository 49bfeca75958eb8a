/** SQL of bulk validations: the batches of a job that are done, with their results. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { LimitReason } from "#workspace/billing/meter-arithmetic.ts";

export interface BatchKey {
  readonly jobId: string;
  /** From 0. */
  readonly batch: number;
}

/** A batch that is done, without its rows. */
export interface DoneBatch {
  readonly batch: number;
  readonly answered: number;
  /** Answers by status. */
  readonly counts: Readonly<Record<string, number>>;
  /** Places of addresses whose server greylists; it is asked once more. */
  readonly greylisted: readonly number[];
  /** Places of addresses to retry: the rate limit of the provider or the hourly cap was reached. */
  readonly put_back: readonly number[];
  /** The limit that stopped the job; null: none. */
  readonly stopped_by: LimitReason | null;
  readonly done_at: Date;
}

export interface BatchRows {
  /** Places in the file, and the rows of the result file that belong to them. */
  readonly places: readonly number[];
  readonly rows: readonly string[];
}

/**
 * Claims a batch for this transaction; false when another run of the job has written it. Waits for the end of another
 * transaction that has claimed it.
 */
export async function claimValidationBatch(
  tx: Queryable,
  workspaceId: WorkspaceId,
  key: BatchKey,
  now: Date,
): Promise<boolean> {
  const claimed = await tx.run(sql`
    insert into validation_batches (workspace_id, job_id, batch, done_at)
    values (${workspaceId}, ${key.jobId}, ${key.batch}, ${now}) on conflict do nothing`);
  return claimed === 1;
}

export async function updateValidationBatch(
  tx: Queryable,
  workspaceId: WorkspaceId,
  key: BatchKey,
  done: BatchRows & Pick<DoneBatch, "counts" | "greylisted" | "put_back" | "stopped_by">,
): Promise<void> {
  await tx.run(sql`
    update validation_batches set places = ${done.places}, rows = ${done.rows},
      counts = ${JSON.stringify(done.counts)}, greylisted = ${done.greylisted}, put_back = ${done.put_back},
      stopped_by = ${done.stopped_by}
    where workspace_id = ${workspaceId} and job_id = ${key.jobId} and batch = ${key.batch}`);
}

/** The batches of a job that are done, in their order. */
export function listDoneBatches(
  db: Queryable,
  workspaceId: WorkspaceId,
  jobId: string,
): Promise<DoneBatch[]> {
  return db.rows(sql`
    select batch, cardinality(places) as answered, counts, greylisted, put_back, stopped_by, done_at
    from validation_batches where workspace_id = ${workspaceId} and job_id = ${jobId} order by batch`);
}

/** The rows of up to `most` batches after this one, in their order. */
export function listBatchRows(
  db: Queryable,
  workspaceId: WorkspaceId,
  jobId: string,
  page: { readonly after: number; readonly most: number },
): Promise<(BatchRows & Pick<DoneBatch, "batch">)[]> {
  return db.rows(sql`
    select batch, places, rows from validation_batches
    where workspace_id = ${workspaceId} and job_id = ${jobId} and batch > ${page.after}
    order by batch limit ${page.most}`);
}
