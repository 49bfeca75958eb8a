/**
 * The server process (PostgreSQL calls it the postmaster): found by its lock file, started, and stopped.
 *
 * `postmaster.pid` carries the process number in its first line and is what keeps two servers off one cluster. It
 * stays behind after a SIGKILL, and the number may by then belong to somebody else.
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
import { commandLine, SURROUNDINGS } from "./launch.ts";
import { settingsFile } from "./server-settings.ts";

export const POLL_MS = 5;

/** A shutdown writes all changed pages; past this it is cut short, and the next start recovers from the log. */
const SHUTDOWN_MS = 30_000;

/** The last words of a server that found another one, or its dying children, on the same cluster. */
const TAKEN = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/;

/** A server that lives has written its number into its lock file by then. */
const WRITTEN_MS = 1_000;

/** More than any system's largest process number. */
const NO_PROCESS = 2 ** 31 - 1;

/** Process number of the server that runs on this cluster, whoever started it. */
export async function findPostmaster({ data }: Cluster): Promise<number | undefined> {
  const lock = await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number.parseInt(lock, 10);
  return pid > 0 && (await serves(pid, data)) ? pid : undefined;
}

/** Whether the process is a server of this cluster, not a zombie and not another that was given its number. */
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
 * Starts a server and waits until it accepts connections, however long the recovery of its log takes.
 * "taken" says that another one was quicker or is not quite gone. Throws the server's last words when it fails.
 */
export async function startPostmaster(cluster: Cluster, log: Log): Promise<"ready" | "taken"> {
  const { binaries, data, launch, socketFolder } = cluster;
  await disown(join(data, "postmaster.pid"));
  await disown(join(socketFolder, `.s.PGSQL.${PORT}.lock`));
  await writeFile(join(data, SETTINGS), settingsFile(), { mode: 0o600 });
  // We are root where the server is another user.
  if (launch.uid !== process.geteuid?.()) await chown(join(data, SETTINGS), launch.uid, launch.gid);
  // The setting is a list, in which quotes keep a comma from parting a path.
  const sockets = `unix_socket_directories="${socketFolder.replaceAll('"', '""')}"`;
  const [file, words] = commandLine(launch, binaries.postgres, "-D", data, "-c", sockets);
  // A process group of its own: Ctrl-C in a terminal is for Posthaste, which stops the server when it is done with it.
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
 * PostgreSQL refuses to start while the process in its lock file lives. The caller knows that no server runs, so a
 * living one is a stranger (or a zombie): its number is struck out. The rest of the file stays, for it leads the new
 * server to children of the old one that still hold memory. An empty file is of a server that was killed before it wrote
 * its number, and is refused for ever: it gets one. Writing through the open file is safe against a server
 * that starts at this moment: that one makes a new file.
 */
async function disown(lockFile: string): Promise<void> {
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
 * Ends what is left of a server whose first process was killed. Its children notice and go, but for one that waits for
 * another that was killed with it, for ever; and while one is there no new server starts. Only Linux says who they are.
 */
export async function endOrphans({ data }: Cluster): Promise<void> {
  const pids =
    process.platform === "linux" ? (await readdir("/proc")).map(Number).filter((pid) => pid > 0) : [];
  for (const pid of pids) {
    if ((await readlink(`/proc/${pid}/cwd`).catch(() => "")) !== data) continue;
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const isOurs = /^Name:\tpostgres$/m.test(status) && !(await serves(pid, data));
    const parent = Number(/^PPid:\t(\d+)$/m.exec(status)?.[1]);
    // The child of a living server is no orphan: another process may just have started one.
    if (isOurs && !(await serves(parent, data))) process.kill(pid, "SIGKILL");
  }
}

/** Ends the server if one runs: sessions are closed, changed pages written. */
export async function stopPostmaster(cluster: Cluster): Promise<void> {
  const pid = await findPostmaster(cluster);
  if (pid === undefined) return;
  const deadline = performance.now() + SHUTDOWN_MS;
  process.kill(pid, "SIGINT");
  while (await serves(pid, cluster.data)) {
    await delay(POLL_MS);
    if (performance.now() > deadline && isAlive(pid)) process.kill(pid, "SIGQUIT");
  }
}
