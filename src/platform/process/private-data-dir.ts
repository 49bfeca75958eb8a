/**
 * Removes the permissions of other users from DATA_DIR at start, which it may have because it was created by the
 * operator or an earlier version. Only files of the service are changed; the embedded database sets its own modes
 * (embedded/cluster.ts).
 */
import { chmodSync, chownSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "#platform/log/log.ts";
import { makeDataDir } from "./make-data-dir.ts";

const OTHERS = 0o077;
/** Group members may pass through the folder, but not list or write it. */
const PASSING = 0o010;
const STICKY = 0o1000;

/** Files and folders of the service in DATA_DIR, without the database. */
const OURS = ["secret.key", "smtp-tls.pem", "journals", "uploads", "lists"];

/**
 * Creates DATA_DIR if it is missing. Logs a warning for each path whose mode cannot be changed.
 * @throws Error if it cannot be created, or have no files
 */
export function makeDataDirPrivate(folder: string, log: Pick<Log, "warn">): void {
  makeDataDir(folder);
  const dataDir = realpathSync(folder);
  const { mode } = statSync(dataDir);
  if ((mode & STICKY) !== 0) {
    log.warn(
      { path: dataDir },
      "DATA_DIR is a folder shared with other users: set it to a folder for Posthaste only",
    );
  } else if (isPassedByGroup(dataDir)) {
    tighten(dataDir, OTHERS & ~PASSING, log);
  } else {
    tighten(dataDir, OTHERS, log);
  }
  for (const name of OURS) tightenAll(join(dataDir, name), log);
}

/** Whether PostgreSQL runs as a separate user and passes through DATA_DIR as a member of its group. */
function isPassedByGroup(dataDir: string): boolean {
  const postgres = lstatSync(join(dataDir, "postgres"), { throwIfNoEntry: false });
  const { uid, gid, mode } = statSync(dataDir);
  if (postgres === undefined || postgres.uid === uid) return false;
  if (postgres.gid === gid) return true;
  // PostgreSQL passes through with the permissions for others, which are replaced by permissions for the group.
  if ((mode & 0o001) === 0) return false;
  try {
    chownSync(dataDir, uid, postgres.gid);
    chmodSync(dataDir, (mode & 0o7777) | PASSING);
    return true;
  } catch {
    return false;
  }
}

function tightenAll(path: string, log: Pick<Log, "warn">): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  tighten(path, OTHERS, log);
  if (!found.isDirectory()) return;
  try {
    for (const name of readdirSync(path)) tightenAll(join(path, name), log);
  } catch (err) {
    log.warn({ err, path }, "folder in DATA_DIR cannot be read");
  }
}

/** @param taken mode bits to remove */
function tighten(path: string, taken: number, log: Pick<Log, "warn">): void {
  // A running process may have deleted the file, and symbolic links have no mode of their own.
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink() || (found.mode & taken) === 0) return;
  try {
    chmodSync(path, found.mode & 0o7777 & ~taken);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === "ENOENT") return;
    const mode = (found.mode & 0o777).toString(8);
    log.warn(
      { err, path, mode },
      "other users can access this path, and its mode cannot be changed: run chmod go= on it",
    );
  }
}
