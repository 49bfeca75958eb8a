/**
 * Files that lie on this machine only while somebody works with them: uploads whose requests are not answered yet, and
 * copies of those that a job reads. Who is killed leaves them behind.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "#platform/log/log.ts";

const HOUR_MS = 3_600_000;
/** Far longer than anybody works with a file, in whichever process of this machine. */
const UNTOUCHED_MS = 24 * HOUR_MS;

/** Whoever writes into it makes it first. */
export function scratchFolder(dataDir: string): string {
  return join(dataDir, "uploads");
}

/** Removes what was left behind, now and every hour, until it is told to stop. */
export function sweepScratch(dataDir: string, log: Log): { stop(): void } {
  const sweep = async () => {
    const files = await removeLeftovers(dataDir);
    log.debug({ files }, "files that were left behind removed");
  };
  const tick = () =>
    void sweep().catch((err: unknown) => log.warn({ err }, "files that were left behind not removed"));
  tick();
  const timer = setInterval(tick, HOUR_MS);
  return { stop: () => clearInterval(timer) };
}

/** @returns how many went */
export async function removeLeftovers(dataDir: string): Promise<number> {
  const folder = scratchFolder(dataDir);
  const before = Date.now() - UNTOUCHED_MS;
  let removed = 0;
  // No folder yet is an empty one.
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    // Who works with it may have removed it meanwhile.
    const file = await stat(path).catch(() => undefined);
    if (file === undefined || file.mtimeMs >= before) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}
