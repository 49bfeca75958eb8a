/**
 * Temporary files: uploads until the response, and local copies of the files of a job. A killed process leaves them
 * behind.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";

/** Far longer than any process of this machine uses a temporary file. */
const UNTOUCHED_MS = 24 * HOUR_MS;

/** The folder of temporary files, which writers must create. */
export function tempFolder(dataDir: string): string {
  return join(dataDir, "uploads");
}

/** Deletes files that were left behind, now and every hour. */
export function sweepTempFiles(dataDir: string, log: Log): { stop(): void } {
  const sweep = async () => {
    const files = await removeLeftovers(dataDir);
    log.debug({ files }, "old temporary files deleted");
  };
  const tick = () =>
    void sweep().catch((err: unknown) => log.warn({ err }, "old temporary files could not be deleted"));
  tick();
  const timer = setInterval(tick, HOUR_MS);
  return { stop: () => clearInterval(timer) };
}

/** @returns the number of deleted files */
export async function removeLeftovers(dataDir: string): Promise<number> {
  const folder = tempFolder(dataDir);
  const before = Date.now() - UNTOUCHED_MS;
  let removed = 0;
  // A missing folder counts as empty.
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    // The process that used the file may have deleted it meanwhile.
    const file = await stat(path).catch(() => undefined);
    if (file === undefined || file.mtimeMs >= before) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}
