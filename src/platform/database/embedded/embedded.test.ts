import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { restoreLinks } from "./binaries.ts";
import { openCluster } from "./cluster.ts";
import { type Connection, type Embedded, startEmbedded } from "./embedded.ts";
import { findPostmaster, startPostmaster } from "./postmaster.ts";
import { TIED } from "./server-user.ts";

const log = createLog("silent");
const folders: string[] = [];
const processes: ChildProcess[] = [];
const started: Embedded[] = [];

/** Closed to other users (0700), as mkdtemp creates it: as root this is a folder that only root can read. */
async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "embedded-"));
  folders.push(folder);
  return folder;
}

async function start(dataDir: string, onExit?: () => void): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir, log, ...(onExit && { onExit }) });
  started.push(embedded);
  return embedded;
}

/** Runs `startEmbedded` in a separate process; resolves when it has its database. */
async function startElsewhere(dataDir: string): Promise<ChildProcess> {
  const source = `
    const { startEmbedded } = await import(${JSON.stringify(new URL("./embedded.ts", import.meta.url))});
    const { createLog } = await import(${JSON.stringify(new URL("../../log/log.ts", import.meta.url))});
    await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: createLog("silent") });
    console.log("ready");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  processes.push(child);
  await once(child.stdout, "data");
  return child;
}

async function query(connection: Connection, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: connection.url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, "postgres/data/postmaster.pid"), "utf8"), 10);
}

/** Number of a process that has ended. */
async function spentPid(): Promise<number> {
  const child = spawn("true");
  await once(child, "exit");
  return child.pid ?? 0;
}

afterEach(async () => {
  for (const embedded of started.splice(0)) await embedded.stop();
  for (const child of processes.splice(0)) child.kill("SIGKILL");
});

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

describe("with one cluster", () => {
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await temporaryFolder();
    const { connection, stop } = await startEmbedded({ dataDir, log });
    await query(connection, "create table letters (word text primary key)");
    await stop();
  });

  test("data is kept over a stop and a start", async () => {
    const first = await start(dataDir);
    await query(first.connection, "insert into letters values ('kept')");
    await first.stop();
    const second = await start(dataDir);
    expect(second.connection).toEqual(first.connection);
    expect(await query(second.connection, "select * from letters where word = 'kept'")).toHaveLength(1);
  });

  test("after a stop no server is left", async () => {
    const { stop } = await start(dataDir);
    await stop();
    expect(await readdir(join(dataDir, "postgres"))).toEqual(["data"]);
  });

  test("the server is durable, has no network, and uses all our settings", async () => {
    const { connection } = await start(dataDir);
    expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
    const settings = await query(
      connection,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
              current_setting('listen_addresses') as listen_addresses, current_setting('timezone') as timezone`,
    );
    expect(settings).toEqual([
      { fsync: "on", synchronous_commit: "on", listen_addresses: "", timezone: "UTC" },
    ]);
    const refused =
      "select name from pg_file_settings where sourcefile like '%posthaste.conf' and not applied";
    expect(await query(connection, refused)).toEqual([]);
  });

  test("text is ordered by bytes and lower-cased in all of Unicode", async () => {
    const { connection } = await start(dataDir);
    const [row] = await query(connection, "select lower('ÉÑŽ') as lower, 'a' > 'B' as by_bytes");
    expect(row).toEqual({ lower: "éñž", by_bytes: true });
  });

  test("a killed server is restarted on the same socket with all committed data, and onExit is called", async () => {
    const onExit = vi.fn();
    const { connection } = await start(dataDir, onExit);
    await query(connection, "insert into letters values ('committed')");
    process.kill(await postmasterPid(dataDir), "SIGKILL");
    await vi.waitFor(() => expect(onExit).toHaveBeenCalledOnce(), { interval: 5, timeout: 20_000 });
    const rows = await vi.waitFor(() => query(connection, "select * from letters where word = 'committed'"), {
      timeout: 10_000,
      interval: 20,
    });
    expect(rows).toHaveLength(1);
  });

  test("a stop during a restart leaves no server", async () => {
    const lost = Promise.withResolvers<void>();
    const { stop } = await start(dataDir, lost.resolve);
    process.kill(await postmasterPid(dataDir), "SIGKILL");
    await lost.promise;
    const cluster = await openCluster(dataDir, log);
    await vi.waitFor(async () => expect(await findPostmaster(cluster)).toBeDefined(), {
      interval: 1,
      timeout: 20_000,
    });
    await stop();
    expect(await findPostmaster(cluster)).toBeUndefined();
  });

  test("a start right after a kill of our process finds all committed data", async () => {
    const owner = await startElsewhere(dataDir);
    const { connection } = await start(dataDir);
    await query(connection, "insert into letters values ('survivor')");
    owner.kill("SIGKILL");
    const next = await start(dataDir);
    expect(await query(next.connection, "select * from letters where word = 'survivor'")).toHaveLength(1);
  });

  test.runIf(process.platform === "linux")("a server does not outlive our killed process", async () => {
    const owner = await startElsewhere(dataDir);
    const cluster = await openCluster(dataDir, log);
    expect(await findPostmaster(cluster)).toBeDefined();
    owner.kill("SIGKILL");
    await vi.waitFor(async () => expect(await findPostmaster(cluster)).toBeUndefined(), { timeout: 5_000 });
  });

  test.runIf(process.platform === "linux")(
    "a child of a killed server that does not end is ended by the next start",
    async () => {
      const owner = await startElsewhere(dataDir);
      const { connection, stop } = await start(dataDir);
      const client = new pg.Client({ connectionString: connection.url });
      client.on("error", () => {});
      await client.connect();
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      // A stopped process does not notice that its server has ended.
      process.kill(rows[0]?.pid ?? 0, "SIGSTOP");
      const lost = await postmasterPid(dataDir);
      owner.kill("SIGKILL");
      process.kill(lost, "SIGKILL");
      await client.end().catch(() => {});
      await stop();
      const next = await start(dataDir);
      expect(await query(next.connection, "select 1 as one")).toEqual([{ one: 1 }]);
      expect(await postmasterPid(dataDir)).not.toBe(lost);
    },
  );

  test("an orphaned server is taken over while it runs, and stopped by its new owner", async () => {
    const cluster = await openCluster(dataDir, log);
    // "setpriv" also changes the user, where there is one to change to.
    const tied = cluster.launch.prefix.includes("--reuid") ? TIED.slice(1) : TIED;
    const prefix = cluster.launch.prefix.filter((word) => !tied.includes(word));
    await startPostmaster({ ...cluster, launch: { ...cluster.launch, prefix } }, log);
    const orphan = await findPostmaster(cluster);
    const { connection, stop } = await start(dataDir);
    expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(await findPostmaster(cluster)).toBe(orphan);
    await stop();
    expect(await findPostmaster(cluster)).toBeUndefined();
  });

  test("another process uses the running server, leaves it running, and replaces it when its owner stops", async () => {
    const owner = await start(dataDir);
    const guest = await start(dataDir);
    const guestForLong = await start(dataDir);
    await guest.stop();
    expect(await query(owner.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    await owner.stop();
    await vi.waitFor(() => query(guestForLong.connection, "select 1"), { timeout: 10_000, interval: 20 });
  });

  test("a lock file whose process id was reused does not prevent a start", async () => {
    const stranger = spawn("sleep", ["60"], { stdio: "ignore" });
    processes.push(stranger);
    const { stop } = await start(dataDir);
    const lockFile = join(dataDir, "postgres/data/postmaster.pid");
    const [, ...rest] = (await readFile(lockFile, "utf8")).split("\n");
    await stop();
    await writeFile(lockFile, [stranger.pid, ...rest].join("\n"));
    await writeFile(join(dataDir, "postgres/.s.PGSQL.5432.lock"), [stranger.pid, ...rest].join("\n"));
    const { connection } = await start(dataDir);
    expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(stranger.exitCode).toBeNull();
  });

  test("a lock file of a dead process does not prevent a start", async () => {
    const lockFile = join(dataDir, "postgres/data/postmaster.pid");
    await writeFile(lockFile, `${await spentPid()}\n${join(dataDir, "postgres/data")}\n`);
    const { connection } = await start(dataDir);
    expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("an empty lock file does not prevent a start", async () => {
    await writeFile(join(dataDir, "postgres/data/postmaster.pid"), "");
    const { connection } = await start(dataDir);
    expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
  });
});

test("an interrupted first start is cleaned up and repeated", async () => {
  const dataDir = await temporaryFolder();
  const half = join(dataDir, "postgres", `making-${await spentPid()}`);
  await mkdir(join(half, "base"), { recursive: true });
  await writeFile(join(half, "PG_VERSION"), "18\n");
  const { connection } = await start(dataDir);
  expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
  await expect(stat(half)).rejects.toThrow("ENOENT");
});

test("two concurrent first starts share one server", async () => {
  const dataDir = await temporaryFolder();
  const [, { connection }] = await Promise.all([startElsewhere(dataDir), start(dataDir)]);
  expect(
    await query(connection, "select count(*)::int from pg_database where datname = 'posthaste'"),
  ).toEqual([{ count: 1 }]);
});

test("a path too long for a socket is replaced by a short private folder, which is refused if others can access it", async () => {
  const dataDir = join(await temporaryFolder(), "so-long-a-path".repeat(8), "data, with 'signs\" and spaces");
  const { connection, stop } = await start(dataDir);
  folders.push(connection.host);
  expect(connection.host).toMatch(/^\/tmp\/posthaste-[0-9a-f]{16}$/);
  expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
  expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
  await stop();
  await chmod(connection.host, 0o755);
  await expect(start(dataDir)).rejects.toThrow("can be accessed by other users");
});

test("data of another PostgreSQL is refused in one sentence that names both versions", async () => {
  const dataDir = await temporaryFolder();
  await mkdir(join(dataDir, "postgres/data"), { recursive: true });
  await writeFile(join(dataDir, "postgres/data/PG_VERSION"), "17\n");
  await expect(start(dataDir)).rejects.toThrow(
    /was created by PostgreSQL 17, but this version of Posthaste includes 18: .*DATABASE_URL/,
  );
});

test("a server that cannot start is reported with its last output", async () => {
  const dataDir = await temporaryFolder();
  await mkdir(join(dataDir, "postgres/data"), { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, "postgres/data/PG_VERSION"), "18\n");
  await expect(start(dataDir)).rejects.toThrow(/PostgreSQL did not start: .*postgresql\.conf/);
});

test.runIf(process.geteuid?.() === 0)("as root, data of another user is served as that user", async () => {
  const dataDir = await temporaryFolder();
  await mkdir(join(dataDir, "postgres"), { mode: 0o700 });
  await chown(join(dataDir, "postgres"), 65_534, 65_534);
  const { connection } = await start(dataDir);
  expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
  expect((await stat(join(dataDir, "postgres/data/PG_VERSION"))).uid).toBe(65_534);
});

describe.runIf(process.geteuid?.() === 0 && process.platform === "linux")("as root", () => {
  /** Its folders may be passed, as those of /opt or /srv may. */
  async function openFolder(): Promise<string> {
    const folder = await temporaryFolder();
    await chmod(folder, 0o711);
    return join(folder, "data");
  }
  const uidOf = async (pid: number) =>
    Number(/^Uid:\t(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]);
  const OWN_USER = 60_999;

  test("new data belongs to a separate user, which runs the server and can access nothing else", async () => {
    const dataDir = await openFolder();
    const { connection, stop } = await start(dataDir);
    await query(connection, "create table kept (id int)");
    expect(await uidOf(await postmasterPid(dataDir))).toBe(OWN_USER);
    const capabilities = await readFile(`/proc/${await postmasterPid(dataDir)}/status`, "utf8");
    expect(capabilities).toMatch(/^CapEff:\t0+$/m);
    const { mode, uid, gid } = await stat(dataDir);
    expect([mode & 0o777, uid, gid]).toEqual([0o710, 0, OWN_USER]);
    expect((await stat(join(dataDir, "postgres"))).mode & 0o777).toBe(0o700);
    expect(await readdir(dataDir)).toEqual(["postgres"]);
    await stop();
    const again = await start(dataDir);
    expect(await query(again.connection, "select * from kept")).toEqual([]);
  });

  test("data of a separate user survives a kill -9 of us and of the server", async () => {
    const dataDir = await openFolder();
    const owner = await startElsewhere(dataDir);
    const { connection, stop } = await start(dataDir);
    await query(connection, "create table kept (id int)");
    owner.kill("SIGKILL");
    process.kill(await postmasterPid(dataDir), "SIGKILL");
    await stop();
    const next = await start(dataDir);
    expect(await query(next.connection, "select * from kept")).toEqual([]);
  });

  test("several concurrent first starts share one server of a separate user", async () => {
    const dataDir = await openFolder();
    const [, , { connection }] = await Promise.all([
      startElsewhere(dataDir),
      startElsewhere(dataDir),
      start(dataDir),
    ]);
    expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(await uidOf(await postmasterPid(dataDir))).toBe(OWN_USER);
    expect(await readdir(dataDir)).toEqual(["postgres"]);
  });

  test("a folder that only root can access is unchanged, and the server runs as root in a namespace", async () => {
    const dataDir = join(await temporaryFolder(), "data");
    await mkdir(dataDir, { mode: 0o700 });
    const before = await stat(dataDir);
    const { connection } = await start(dataDir);
    expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
    const cluster = await openCluster(dataDir, log);
    expect(cluster.launch.uid === 0 || cluster.launch.uid === 65_534).toBe(true);
    const { mode, uid, gid } = await stat(dataDir);
    expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid });
  });

  test("existing data of root stays owned by root, even if a separate user could reach it", async () => {
    const closed = await temporaryFolder();
    const dataDir = join(closed, "data");
    const first = await start(dataDir);
    await query(first.connection, "create table kept (id int)");
    await first.stop();
    const owner = (await stat(join(dataDir, "postgres"))).uid;
    await chmod(dataDir, 0o755);
    await chmod(closed, 0o755);
    const second = await start(dataDir);
    expect(await query(second.connection, "select * from kept")).toEqual([]);
    expect((await stat(join(dataDir, "postgres"))).uid).toBe(owner);
  });

  test("a short socket folder that an earlier server of root has left is taken over", async () => {
    const long = join(await openFolder(), "so-long-a-path".repeat(8));
    const dataDir = join(long, "data");
    await mkdir(dataDir, { recursive: true, mode: 0o711 });
    const one = await start(dataDir);
    folders.push(one.connection.host);
    await one.stop();
    await chown(one.connection.host, 0, 0);
    const two = await start(dataDir);
    expect(await query(two.connection, "select 1 as one")).toEqual([{ one: 1 }]);
  });
});

test("missing library links are created", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, "native/lib"), { recursive: true });
  const links = [{ source: "native/lib/libx.so.1.2", target: "native/lib/libx.so.1" }];
  await writeFile(join(root, "native/pg-symlinks.json"), JSON.stringify(links));
  await restoreLinks(root);
  await restoreLinks(root);
  expect(await readlink(join(root, "native/lib/libx.so.1"))).toBe("libx.so.1.2");
});
