/**
 * DATA_DIR is its owner's alone: what others could read or write of it, because it was made before the service or by an
 * earlier version, is taken from them at start. Only what is the service's own is touched. The database in it keeps its own
 * modes (database/embedded/cluster.ts).
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "#platform/log/log.ts";

const OTHERS = 0o077;
/** Group members may pass, and neither list nor write. */
const PASSING = 0o010;
const STICKY = 0o1000;

/** What the service keeps in DATA_DIR beside the database. */
const OURS = ["secret.key", "smtp-tls.pem", "journals", "uploads", "lists"];

/** Makes DATA_DIR where it is missing. What cannot be taken from others is a warning that names the path. */
export function makePrivate(folder: string, log: Pick<Log, "warn">): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const dataDir = realpathSync(folder);
  const { mode } = statSync(dataDir);
  if ((mode & STICKY) !== 0) {
    log.warn({ path: dataDir }, "DATA_DIR is a folder that others share: give the service one of its own");
  } else if (isPassedByGroup(dataDir)) {
    tighten(dataDir, OTHERS & ~PASSING, log);
  } else {
    tighten(dataDir, OTHERS, log);
  }
  for (const name of OURS) tightenAll(join(dataDir, name), log);
}

/** PostgreSQL under a user of its own passes DATA_DIR, as a member of its group. */
function isPassedByGroup(dataDir: string): boolean {
  const postgres = lstatSync(join(dataDir, "postgres"), { throwIfNoEntry: false });
  const { uid, gid, mode } = statSync(dataDir);
  if (postgres === undefined || postgres.uid === uid) return false;
  if (postgres.gid === gid) return true;
  // It passed as others do.
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
    log.warn({ err, path }, "a folder in DATA_DIR cannot be read");
  }
}

/** @param taken the bits that others must not have */
function tighten(path: string, taken: number, log: Pick<Log, "warn">): void {
  // A file of a running process may be gone by now, and a link's own mode means nothing.
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink() || (found.mode & taken) === 0) return;
  try {
    chmodSync(path, found.mode & 0o7777 & ~taken);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === "ENOENT") return;
    const mode = (found.mode & 0o777).toString(8);
    log.warn({ err, path, mode }, "others can reach this path, and its mode cannot be changed: chmod go= it");
  }
}
