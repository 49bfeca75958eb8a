/**
 * What the first reading of an import file found: everything that the writing needs, kept beside the people that were
 * read, so that an import that was interrupted goes on where it was. It is there only when the whole file was read.
 */
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { readWhole, storeWhole } from "#platform/jobs/files.ts";

/** Some thousand people, written in one transaction. */
export interface Batch {
  /** Where its lines begin in the file of people, and how many bytes they are. */
  readonly offset: number;
  readonly bytes: number;
  /** How many people its lines are, and which of them (from 0) a later row replaces. */
  readonly lines: number;
  readonly replaced: readonly number[];
}

export interface ImportPlan {
  /** The moment of the import: when all its people came. ISO 8601. */
  readonly now: string;
  /** Files of the job; the second one only when rows were refused. */
  readonly people_file: string;
  readonly errors_file: string | null;
  readonly batches: readonly Batch[];
  /** Rows with something in them: people, duplicates and refused ones. */
  readonly rows: number;
  readonly duplicates: number;
  readonly invalid: number;
  /** Rows of people who get no mail that are written without the values that have faults; a plan of an earlier version has none. */
  readonly written_in_part?: number;
  /** Custom fields of people who join the list, where they have no value. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly encoding: string;
  /** The encoding is a guess: what the file says replaces nothing that is stored. */
  readonly is_guessed?: boolean;
  /** What the sender should know; a plan of an earlier version has none. */
  readonly warnings?: readonly string[];
  readonly delimiter: string;
  readonly skipped_columns: readonly string[];
  /** The columns that said who gets no mail, and in how many rows; a plan of an earlier version has none. */
  readonly opt_out_columns?: readonly { readonly column: string; readonly opted_out: number }[];
}

/** Whose plan it is. */
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
 * Keeps the plan, at once and whole. Of two runs of one job that both read the file, as happens when one was thought
 * dead, the first decides, and both work by its plan.
 */
export async function keepPlan(db: Database, owner: Owner, plan: ImportPlan): Promise<ImportPlan> {
  const octets = Buffer.from(JSON.stringify(plan));
  if (await storeWhole(db, fileOf(owner), octets)) return plan;
  const kept = await findPlan(db, owner);
  if (kept === undefined) throw new Error("the plan of an import went while the import was read");
  return kept;
}
