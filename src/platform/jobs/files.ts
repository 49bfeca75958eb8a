/**
 * Where jobs keep their files: a folder each under DATA_DIR, gone when the job expires. Machines that share the work
 * of one installation share DATA_DIR too, or a result can only be fetched from the machine that made it.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";

/** The folder of one job; whoever writes into it makes it first. */
export function jobFolder(dataDir: string, jobId: string): string {
  return join(dataDir, "jobs", jobId);
}

export async function removeJobFolder(dataDir: string, jobId: string): Promise<void> {
  await rm(jobFolder(dataDir, jobId), { recursive: true, force: true });
}
