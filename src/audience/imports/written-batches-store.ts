/**
 * The SQL of imports: which batches of a job are written, with their counts. The people are written by
 * subscribers/memberships/add-members.ts.
 */
import sql from "sql-template-tag";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Numbers of people in what was written. */
export interface ImportCounts {
  /** People who joined the list. */
  readonly created: number;
  /** Members whose names, custom fields or status changed. */
  readonly updated: number;
  /** Members for whom the file has nothing new. */
  readonly unchanged: number;
}

interface BatchKey {
  readonly jobId: string;
  /** From 0. */
  readonly batch: number;
}

/**
 * Claims a batch of a job for this transaction. Another run of the job that claims the same batch waits for the commit
 * and then gets false. The commit is asynchronous: if a crash loses it, it loses the claim with it, and
 * listDurableBatches notices.
 */
export async function claimImportBatch(
  tx: Queryable,
  workspaceId: WorkspaceId,
  key: BatchKey,
): Promise<boolean> {
  const claimed = await tx.run(sql`
    insert into import_batches (workspace_id, job_id, batch)
    select ${workspaceId}, ${key.jobId}, ${key.batch} from set_config('synchronous_commit', 'off', true)
    on conflict do nothing`);
  return claimed === 1;
}

export async function updateImportBatch(
  tx: Queryable,
  workspaceId: WorkspaceId,
  key: BatchKey,
  { created, updated, unchanged }: ImportCounts,
): Promise<void> {
  await tx.run(sql`
    update import_batches set created = ${created}, updated = ${updated}, unchanged = ${unchanged}
    where workspace_id = ${workspaceId} and job_id = ${key.jobId} and batch = ${key.batch}`);
}

export type WrittenBatch = ImportCounts & { readonly batch: number };

/** The batches that are written. */
export function listWrittenBatches(
  db: Queryable,
  workspaceId: WorkspaceId,
  jobId: string,
): Promise<WrittenBatch[]> {
  return db.rows(sql`
    select batch, created, updated, unchanged from import_batches
    where workspace_id = ${workspaceId} and job_id = ${jobId}`);
}

/**
 * The written batches that a crash can no longer lose: this update changes nothing, but its synchronous commit flushes
 * the write-ahead log up to here.
 */
export function listDurableBatches(
  db: Queryable,
  workspaceId: WorkspaceId,
  jobId: string,
): Promise<WrittenBatch[]> {
  return db.rows(sql`
    update import_batches set created = created where workspace_id = ${workspaceId} and job_id = ${jobId}
    returning batch, created, updated, unchanged`);
}

/** The addresses of people who have a stored value for every field that they lack here. */
export async function listHolders(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: readonly { readonly email: string; readonly lacking: readonly string[] }[],
): Promise<Set<string>> {
  const given = sql`
    unnest(${people.map(({ email }) => email)}::text[], ${people.map(({ lacking }) => JSON.stringify(lacking))}::jsonb[])
      as g (email, lacking)`;
  const rows = await db.rows<{ email: string }>(sql`
    select p.email
    from (${withWorkspace(workspaceId, given)}) p cross join lateral (
      select custom_fields from subscribers where workspace_id = p.workspace and email = p.email offset 0) s
    where s.custom_fields ?& array(select jsonb_array_elements_text(p.lacking))`);
  return new Set(rows.map(({ email }) => email));
}
