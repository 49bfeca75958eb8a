/**
 * The plan of an import: what reading the file found, and all that writing needs. It is stored with the people that
 * were read once the whole file was read, so that an interrupted import continues from it.
 */
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { readWhole, storeWhole } from "#platform/jobs/files.ts";

/** A range of people that one transaction writes. */
export interface Batch {
  /** The range of bytes in the file of people. */
  readonly offset: number;
  readonly bytes: number;
  /** The number of people in the range, and the indexes (from 0) of those that a later row replaces. */
  readonly lines: number;
  readonly replaced: readonly number[];
}

export interface ImportPlan {
  /** The time of the import, for all its people. ISO 8601. */
  readonly now: string;
  /** Files of the job; errors_file is null if no row had a fault. */
  readonly people_file: string;
  readonly errors_file: string | null;
  /** The same rows as they were uploaded. */
  readonly error_rows_file: string | null;
  readonly batches: readonly Batch[];
  /** Rows that are not blank: people, duplicates and refused rows. */
  readonly rows: number;
  readonly duplicates: number;
  readonly invalid: number;
  /** Rows of people who get no mail that are written without their faulty values. */
  readonly written_in_part: number;
  /** Custom fields for people who join the list and have no value. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly encoding: string;
  /** Whether the encoding is a guess: then the values of the file replace no stored ones. */
  readonly is_guessed: boolean;
  /** Warnings for the sender. */
  readonly warnings: readonly string[];
  readonly delimiter: string;
  readonly skipped_columns: readonly string[];
  /** The columns that said who gets no mail, with the number of rows. */
  readonly opt_out_columns: readonly { readonly column: string; readonly opted_out: number }[];
}

/** The job of the plan. */
interface Owner {
  readonly workspaceId: WorkspaceId;
  readonly jobId: string;
}

const fileOf = ({ workspaceId, jobId }: Owner) => ({ workspaceId, jobId, name: "plan.json" });

export async function findPlan(db: Database, owner: Owner): Promise<ImportPlan | undefined> {
  const kept = await readWhole(db, fileOf(owner));
  return kept && (JSON.parse(kept.toString()) as ImportPlan);
}

/**
 * Stores the plan atomically. If two runs of a job read the file, because one was presumed dead, the first plan stored
 * is the plan of both.
 */
export async function keepPlan(db: Database, owner: Owner, plan: ImportPlan): Promise<ImportPlan> {
  const octets = Buffer.from(JSON.stringify(plan));
  if (await storeWhole(db, fileOf(owner), octets)) return plan;
  const kept = await findPlan(db, owner);
  if (kept === undefined) throw new Error("the plan of an import disappeared while the file was read");
  return kept;
}
