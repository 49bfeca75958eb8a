/**
 * The data folder of the embedded PostgreSQL: made once, checked at every start.
 *
 *     DATA_DIR/postgres/                 private to the server's user; the socket, unless its path would be too long
 *     DATA_DIR/postgres/data/            the cluster
 *     DATA_DIR/postgres/making-<pid>/    a cluster in the making: renamed to `data` when whole, swept when interrupted
 */
import { createHash } from "node:crypto";
import {
  appendFile,
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "#platform/log/log.ts";
import { isAlive } from "#platform/process/alive.ts";
import { type Binaries, locateBinaries } from "./binaries.ts";
import { chooseLaunch, type Launch, launchAsOwnUser, OWN_USER, runToEnd } from "./launch.ts";

export interface Cluster {
  readonly binaries: Binaries;
  readonly launch: Launch;
  /** PGDATA. */
  readonly data: string;
  readonly socketFolder: string;
}

/** The superuser that initdb makes, and the one we connect as. */
export const USER = "posthaste";
/** Nothing listens on it: it only names the socket. */
export const PORT = 5432;
/** The file in the cluster that `settingsFile()` goes to. */
export const SETTINGS = "posthaste.conf";

/** Others have their own things in such a folder: /tmp is one. */
const STICKY = 0o1000;

/** Bytes of a socket's path that the kernel takes (`sun_path`, less the final NUL). */
const SOCKET_PATH_MAX = process.platform === "darwin" ? 103 : 107;

/** Makes the cluster in `dataDir` unless it is there. Throws one sentence when it cannot be used here. */
export async function openCluster(dataDir: string, log: Log): Promise<Cluster> {
  const binaries = await locateBinaries();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await makeFolder(await realpath(dataDir), binaries.postgres);
  const folder = await realpath(join(dataDir, "postgres"));
  const owner = await stat(folder);
  const ourUid = process.geteuid?.();
  if (ourUid !== 0 && ourUid !== owner.uid) {
    throw new Error(
      `${folder} belongs to another user (uid ${owner.uid}): start Posthaste as that user or as root.`,
    );
  }
  const launch = await chooseLaunch(folder, owner, binaries.postgres);
  if (launch.uid !== owner.uid) await handOver(folder, launch);
  const cluster = {
    binaries,
    launch,
    data: join(folder, "data"),
    socketFolder: await prepareSocketFolder(folder, launch),
  };
  const major = await majorOf(cluster.data);
  if (major === undefined) {
    log.info({ folder: cluster.data }, "making the database, once");
    await initialise(folder, cluster);
  } else if (major !== binaries.major) {
    throw new Error(
      `${cluster.data} was made by PostgreSQL ${major}, this Posthaste brings ${binaries.major}: restore a backup into a new DATA_DIR, or set DATABASE_URL to a PostgreSQL ${major} that serves this folder.`,
    );
  }
  return cluster;
}

async function majorOf(data: string): Promise<string | undefined> {
  const version = await readFile(join(data, "PG_VERSION"), "utf8").catch(() => undefined);
  return version?.trim();
}

/** initdb into a folder of its own, so that a start killed half-way leaves nothing that looks like a cluster. */
async function initialise(folder: string, { binaries, launch, data }: Cluster): Promise<void> {
  for (const name of await readdir(folder)) {
    const maker = Number(/^making-(\d+)$/.exec(name)?.[1]);
    if (maker && !isAlive(maker)) await rm(join(folder, name), { recursive: true, force: true });
  }
  const making = join(folder, `making-${process.pid}`);
  await rm(making, { recursive: true, force: true });
  await runToEnd(
    { ...launch, prefix: launch.initPrefix ?? launch.prefix },
    binaries.initdb,
    `--pgdata=${making}`,
    `--username=${USER}`,
    "--auth-local=trust", // the socket's folder is the guard
    "--auth-host=reject",
    "--encoding=UTF8",
    // Byte order as in C, but lower() knows all of Unicode; neither depends on the system's locales.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    // A new log file is filled with zeros and synced while every commit waits: short files, short waits. Of 16 MB each
    // they took a third of the p99 of accepting (41 ms against 29 with messages of 10 KB).
    "--wal-segsize=4",
    "--no-instructions",
  );
  await appendFile(join(making, "postgresql.conf"), `\ninclude_if_exists '${SETTINGS}'\n`);
  await rename(making, data).catch(async (fault: Error) => {
    await rm(making, { recursive: true, force: true });
    if ((await majorOf(data)) === undefined) throw fault; // else another start was quicker
  });
  await using directory = await open(folder);
  await directory.sync();
}

/**
 * Makes the folder. Of root it becomes the property of the server's own user where nothing is in that user's way, for which
 * DATA_DIR is opened to the group of that user: passing it needs neither listing nor reading. Whose the folder is, is
 * decided before it has its name: of several first starts at once all find the same.
 */
async function makeFolder(dataDir: string, postgres: string): Promise<void> {
  const folder = join(dataDir, "postgres");
  const before = await stat(dataDir);
  const isShared = (before.mode & STICKY) !== 0;
  if (process.geteuid?.() === 0 && before.uid === 0 && !isShared && !(await exists(folder))) {
    const making = join(dataDir, `postgres-${process.pid}`);
    try {
      await mkdir(making, { mode: 0o700 });
      await chown(dataDir, before.uid, OWN_USER);
      await chmod(dataDir, (before.mode & 0o7700) | 0o010);
      const launch = await launchAsOwnUser(making, postgres);
      if (launch !== null) {
        await chown(making, launch.uid, launch.gid);
        // Root without its usual capabilities may now be kept out itself.
        await rm(await mkdtemp(join(making, "trial-")), { recursive: true });
        await rename(making, folder);
        return;
      }
    } catch {
      // Whatever is in the way, there are other ways.
    }
    await rm(making, { recursive: true, force: true });
    if (!(await exists(folder))) {
      await chown(dataDir, before.uid, before.gid).catch(() => {});
      await chmod(dataDir, before.mode & 0o7777).catch(() => {});
    }
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Gives everything in the folder to the server's user; the folder itself last, so that an interruption is seen. */
async function handOver(folder: string, { uid, gid }: Launch): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) await lchown(join(folder, name), uid, gid);
  await chown(folder, uid, gid);
}

/** `folder` itself, or a short one: under /tmp, not $TMPDIR, so that every process of this machine finds the same. */
async function prepareSocketFolder(folder: string, { uid, gid }: Launch): Promise<string> {
  if (Buffer.byteLength(join(folder, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_MAX) return folder;
  const digest = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  const short = `/tmp/posthaste-${digest}`;
  try {
    await mkdir(short, { mode: 0o700 });
    await chown(short, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  // Left by a server of ours that ran as ourselves.
  const left = await lstat(short);
  if (left.isDirectory() && left.uid === process.geteuid?.()) await lchown(short, uid, gid);
  const found = await lstat(short);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${short}, the folder for PostgreSQL's socket, is not ours alone: remove it and start again.`,
    );
  }
  return short;
}
