/**
 * Where jobs keep their files: a folder each under DATA_DIR, gone when the job expires. Machines that share the work
 * of one installation share DATA_DIR too, or a result can only be fetched from the machine that made it.
 */
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** The folder of one job; whoever writes into it makes it first. */
export function jobFolder(dataDir: string, jobId: string): string {
  return join(jobsFolder(dataDir), jobId);
}

/** The folder of all jobs' folders. */
export function jobsFolder(dataDir: string): string {
  return join(dataDir, "jobs");
}

/** Moves an upload into the folder of the job that will read it, which is made, under the name `input`. */
export async function moveToJob(dataDir: string, jobId: string, path: string): Promise<void> {
  const folder = jobFolder(dataDir, jobId);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await rename(path, join(folder, INPUT_FILE));
}

/** What an upload is called in the folder of its job. */
export const INPUT_FILE = "input";

/** Names in a folder that nobody has written to for so long; none when there is no folder. */
export async function listUntouched(folder: string, ms: number): Promise<string[]> {
  const before = Date.now() - ms;
  const names = await readdir(folder).catch(() => []);
  const ages = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)));
  return names.filter((_, at) => (ages[at]?.mtimeMs ?? before) < before);
}

export async function removeJobFolder(dataDir: string, jobId: string): Promise<void> {
  await rm(jobFolder(dataDir, jobId), { recursive: true, force: true });
}
