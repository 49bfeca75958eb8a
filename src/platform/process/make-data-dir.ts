/** Creates DATA_DIR. What cannot be such a folder is refused with one sentence that names the setting. */
import { mkdirSync, mkdtempSync, rmdirSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Why a system refuses to create a folder, by code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "nothing can be created there",
  EEXIST: "a link with this name leads to a folder that does not exist",
  EACCES: "the user of this process has no permission",
  EPERM: "the user of this process has no permission",
  EROFS: "the disk cannot be written",
};

/**
 * Creates the folder and its parents, if they are missing, for their owner only, and checks that files can be there.
 * @throws Error that names DATA_DIR and says what to do
 */
export function makeDataDir(folder: string): void {
  const path = resolve(folder);
  makeWithParents(path, path);
  try {
    rmdirSync(mkdtempSync(join(path, "trial-")));
  } catch (fault) {
    // A folder that this user may not write, or a full disk, is no reason not to start: health checks report them.
    if (codeOf(fault) === "ENOENT") throw refusal(path, `cannot be used: ${reasonOf(fault)}`, fault);
  }
}

/** Not the recursive mkdir of Node.js: it never ends where the system says that a folder is missing which is there, as in /proc. */
function makeWithParents(path: string, dataDir: string): void {
  const found = find(path, dataDir);
  if (found?.isDirectory()) return;
  if (found !== undefined) {
    throw refusal(
      dataDir,
      path === dataDir ? "is not a folder" : `cannot be created: ${path} is not a folder`,
    );
  }
  const parent = dirname(path);
  makeWithParents(parent, dataDir);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (fault) {
    // Another process may have created it meanwhile.
    if (find(path, dataDir)?.isDirectory()) return;
    throw refusal(dataDir, `cannot be created in ${parent}: ${reasonOf(fault)}`, fault);
  }
}

function find(path: string, dataDir: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (fault) {
    throw refusal(dataDir, `cannot be reached at ${path}: ${reasonOf(fault)}`, fault);
  }
}

function refusal(dataDir: string, problem: string, cause?: unknown): Error {
  return new Error(
    `DATA_DIR: ${dataDir} ${problem}. Set DATA_DIR to a folder that the user of this process can write, or start Posthaste as another user.`,
    { cause },
  );
}

function reasonOf(fault: unknown): string {
  return REASONS[codeOf(fault)] ?? codeOf(fault);
}

function codeOf(fault: unknown): string {
  return fault instanceof Error && "code" in fault ? String(fault.code) : String(fault);
}
