/**
 * The data folder of the embedded PostgreSQL: created once, checked at every start.
 *
 *     DATA_DIR/postgres/                 private to the server's user; the socket, unless its path would be too long
 *     DATA_DIR/postgres/data/            the cluster
 *     DATA_DIR/postgres/making-<pid>/    a new cluster: renamed to `data` when complete, removed if that was interrupted
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
import { makeDataDir } from "#platform/process/make-data-dir.ts";
import { type Binaries, locateBinaries } from "./binaries.ts";
import { chooseLaunch, type Launch, launchAsOwnUser, OWN_USER, runToEnd } from "./server-user.ts";

export interface Cluster {
  readonly binaries: Binaries;
  readonly launch: Launch;
  /** PGDATA. */
  readonly data: string;
  readonly socketFolder: string;
}

/** The superuser that initdb creates and that we connect as. */
export const USER = "posthaste";
/** Part of the name of the Unix socket; there is no TCP port. */
export const PORT = 5432;
/** The file in the cluster with the text of `settingsFile()`. */
export const SETTINGS = "posthaste.conf";

/** The sticky bit of folders that several users share, such as /tmp. */
const STICKY = 0o1000;

/** Longest path of a Unix socket in bytes (`sun_path` without the final NUL). */
const SOCKET_PATH_MAX = process.platform === "darwin" ? 103 : 107;

/** Creates the cluster in `dataDir` unless it exists. @throws Error, one sentence, if it cannot be used here */
export async function openCluster(dataDir: string, log: Log): Promise<Cluster> {
  const binaries = await locateBinaries();
  makeDataDir(dataDir);
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
    log.info({ folder: cluster.data }, "creating the database cluster");
    await initialise(folder, cluster);
  } else if (major !== binaries.major) {
    throw new Error(
      `${cluster.data} was created by PostgreSQL ${major}, but this version of Posthaste includes ${binaries.major}: restore a backup into a new DATA_DIR, or set DATABASE_URL to a PostgreSQL ${major} that serves this folder.`,
    );
  }
  return cluster;
}

async function majorOf(data: string): Promise<string | undefined> {
  const version = await readFile(join(data, "PG_VERSION"), "utf8").catch(() => undefined);
  return version?.trim();
}

/** Runs initdb in a temporary folder, so that an interrupted start does not leave an incomplete cluster. */
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
    "--auth-local=trust", // only the owner can reach the socket in its folder
    "--auth-host=reject",
    "--encoding=UTF8",
    // Sorted by bytes as in C, but lower() supports all of Unicode; neither depends on the system's locales.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    // A new WAL file is zeroed and synced while every commit waits, so short files mean short waits. With 16 MB they took a
    // third of the p99 of accepting messages of 10 KB (41 ms instead of 29).
    "--wal-segsize=4",
    "--no-instructions",
  );
  await appendFile(join(making, "postgresql.conf"), `\ninclude_if_exists '${SETTINGS}'\n`);
  await rename(making, data).catch(async (fault: Error) => {
    await rm(making, { recursive: true, force: true });
    if ((await majorOf(data)) === undefined) throw fault; // else another process has created it
  });
  await using directory = await open(folder);
  await directory.sync();
}

/**
 * Creates the folder. If we are root, it is given to the server's own user (OWN_USER) if that user can reach it; for this,
 * the group of that user gets the permission to pass through DATA_DIR, but not to list or read it. The owner is set before
 * the folder has its final name, so that concurrent first starts all see the same owner.
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
        // Checks that we can still write there: root in a container may lack the usual capabilities.
        await rm(await mkdtemp(join(making, "trial-")), { recursive: true });
        await rename(making, folder);
        return;
      }
    } catch {
      // Falls back to a folder owned by root.
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

/** Changes the owner of everything in the folder; of the folder itself last, so that an interruption is noticed. */
async function handOver(folder: string, { uid, gid }: Launch): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) await lchown(join(folder, name), uid, gid);
  await chown(folder, uid, gid);
}

/** `folder`, or if its path is too long, a folder in /tmp (not $TMPDIR, so that all processes of this machine agree). */
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
  // The folder may be left from an earlier server that ran as our user.
  const left = await lstat(short);
  if (left.isDirectory() && left.uid === process.geteuid?.()) await lchown(short, uid, gid);
  const found = await lstat(short);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${short}, the folder for PostgreSQL's socket, can be accessed by other users: remove it and start again.`,
    );
  }
  return short;
}
