/**
 * What the first reading of an import file found: everything that the writing needs, kept beside the people that were
 * read, so that an import that was interrupted goes on where it was. It is there only when the whole file was read.
 */
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../platform/ids.ts";

/** Some thousand people, written in one transaction. */
export interface Batch {
  /** Where its lines begin in the file of people, and how many bytes they are. */
  readonly offset: number;
  readonly bytes: number;
  /** How many people its lines are, and which of them (from 0) a later row replaces. */
  readonly lines: number;
  readonly replaced: readonly number[];
}

export interface Plan {
  /** The moment of the import: when all its people came. ISO 8601. */
  readonly now: string;
  /** Files in the job's folder; the second one only when rows were refused. */
  readonly people_file: string;
  readonly errors_file: string | null;
  readonly batches: readonly Batch[];
  /** Rows with something in them: people, duplicates and refused ones. */
  readonly rows: number;
  readonly duplicates: number;
  readonly invalid: number;
  /** Custom fields of people who join the list, where they have no value. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly encoding: string;
  readonly delimiter: string;
  readonly skipped_columns: readonly string[];
}

const PLAN_FILE = "plan.json";

export async function findPlan(folder: string): Promise<Plan | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, PLAN_FILE), "utf8")) as Plan;
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
    throw fault;
  }
}

/**
 * Keeps the plan, at once and whole. Of two runs of one job that both read the file, as happens when one was thought
 * dead, the first decides, and both work by its plan.
 */
export async function keepPlan(folder: string, plan: Plan): Promise<Plan> {
  const path = join(folder, `${newId()}.json`);
  await writeFile(path, JSON.stringify(plan), { flag: "wx", flush: true });
  try {
    await link(path, join(folder, PLAN_FILE));
    return plan;
  } catch (fault) {
    const kept = await findPlan(folder);
    if (kept === undefined) throw fault;
    return kept;
  } finally {
    await rm(path, { force: true });
  }
}
