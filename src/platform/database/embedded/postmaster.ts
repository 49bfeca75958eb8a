/**
 * Finds, starts and stops the server process (the postmaster).
 *
 * The lock file `postmaster.pid` has the process id in its first line and prevents two servers on one cluster. It remains
 * after a SIGKILL, and its process id may be reused by another process.
 */
import { execFile, spawn } from "node:child_process";
import { chown, open, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { Log } from "#platform/log/log.ts";
import { isAlive } from "#platform/process/alive.ts";
import { type Cluster, PORT, SETTINGS } from "./cluster.ts";
import { settingsFile } from "./server-settings.ts";
import { commandLine, SURROUNDINGS } from "./server-user.ts";

export const SERVER_POLL_MS = 5;

/**
 * Time for a shutdown, which writes all changed pages; then the server is ended and the next start recovers from the
 * WAL.
 */
const SHUTDOWN_MS = 30_000;

/** Output of a server that found another one, or children of a killed one, on its cluster. */
const TAKEN = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/;

/** A starting server writes its process id into the lock file within this time. */
const WRITTEN_MS = 1_000;

/** Above the largest process id of any system. */
const NO_PROCESS = 2 ** 31 - 1;

/** Process id of the server that runs on this cluster; undefined if none does. */
export async function findPostmaster({ data }: Cluster): Promise<number | undefined> {
  const lock = await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number.parseInt(lock, 10);
  return pid > 0 && (await serves(pid, data)) ? pid : undefined;
}

/** Whether the process is a server of this cluster, and not a zombie or another process with a reused id. */
async function serves(pid: number, data: string): Promise<boolean> {
  const words =
    process.platform === "linux"
      ? await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")
      : await promisify(execFile)("ps", ["-o", "command=", "-p", `${pid}`]).then(
          ({ stdout }) => stdout,
          () => "",
        );
  return words.replaceAll("\0", " ").includes(`postgres -D ${data} `);
}

/**
 * Starts a server and waits until it accepts connections, including the recovery from the WAL.
 * @returns "taken" if another server runs on the cluster, or children of a killed one
 * @throws Error with the last output of the server if it fails
 */
export async function startPostmaster(cluster: Cluster, log: Log): Promise<"ready" | "taken"> {
  const { binaries, data, launch, socketFolder } = cluster;
  await clearStaleLock(join(data, "postmaster.pid"));
  await clearStaleLock(join(socketFolder, `.s.PGSQL.${PORT}.lock`));
  await writeFile(join(data, SETTINGS), settingsFile(), { mode: 0o600 });
  // Only root can start the server as another user, so we can change the owner.
  if (launch.uid !== process.geteuid?.()) await chown(join(data, SETTINGS), launch.uid, launch.gid);
  // The setting is a comma-separated list, so the path is quoted.
  const sockets = `unix_socket_directories="${socketFolder.replaceAll('"', '""')}"`;
  const [file, words] = commandLine(launch, binaries.postgres, "-D", data, "-c", sockets);
  // A separate process group, so that Ctrl-C in a terminal reaches only Posthaste, which then stops the server itself.
  const child = spawn(file, words, { ...SURROUNDINGS, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  const output = createInterface(child.stderr);
  return new Promise((resolve, reject) => {
    const lastWords: string[] = [];
    output.on("line", (line) => {
      lastWords.push(line);
      if (lastWords.length > 5) lastWords.shift();
      if (/^PANIC|was terminated by signal/.test(line)) log.warn({ line }, "PostgreSQL");
      else log.debug({ line }, "PostgreSQL");
      if (line.endsWith("database system is ready to accept connections")) resolve("ready");
    });
    child.once("error", reject);
    child.once("close", () => {
      const text = lastWords.join(" ");
      if (TAKEN.test(text)) resolve("taken");
      else reject(new Error(`PostgreSQL did not start: ${text}`));
    });
  });
}

/**
 * Replaces the process id in a stale lock file. PostgreSQL refuses to start while a process with that id lives; the
 * caller knows that no server runs, so it is an unrelated process or a zombie. The rest of the file is kept: with it
 * the new server finds shared memory that children of the old one still use. An empty file, of a server killed before
 * it wrote its id, would be refused forever and gets an id, too. A server that starts meanwhile creates a new file, so
 * the open file is safe to write.
 */
async function clearStaleLock(lockFile: string): Promise<void> {
  const file = await open(lockFile, "r+").catch(() => undefined);
  if (file === undefined) return;
  try {
    const [pid = "", ...rest] = (await file.readFile("utf8")).split("\n");
    const isAbandoned = pid === "" && Date.now() - (await file.stat()).mtimeMs > WRITTEN_MS;
    if (isAbandoned || isAlive(Number.parseInt(pid, 10)))
      await file.write([NO_PROCESS, ...rest].join("\n"), 0);
  } finally {
    await file.close();
  }
}

/**
 * Kills the children of a server whose main process was killed. They normally end on their own, except one that waits for
 * another killed child; while any is left, no new server starts. Works on Linux only, where /proc identifies them.
 */
export async function endOrphans({ data }: Cluster): Promise<void> {
  const pids =
    process.platform === "linux" ? (await readdir("/proc")).map(Number).filter((pid) => pid > 0) : [];
  for (const pid of pids) {
    if ((await readlink(`/proc/${pid}/cwd`).catch(() => "")) !== data) continue;
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const isOurs = /^Name:\tpostgres$/m.test(status) && !(await serves(pid, data));
    const parent = Number(/^PPid:\t(\d+)$/m.exec(status)?.[1]);
    // Skips children of a running server, which another process may just have started.
    if (isOurs && !(await serves(parent, data))) process.kill(pid, "SIGKILL");
  }
}

/** Shuts the server down if one runs: closes sessions and writes changed pages. */
export async function stopPostmaster(cluster: Cluster): Promise<void> {
  const pid = await findPostmaster(cluster);
  if (pid === undefined) return;
  const deadline = performance.now() + SHUTDOWN_MS;
  process.kill(pid, "SIGINT");
  while (await serves(pid, cluster.data)) {
    await delay(SERVER_POLL_MS);
    if (performance.now() > deadline && isAlive(pid)) process.kill(pid, "SIGQUIT");
  }
}
