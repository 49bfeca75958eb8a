/**
 * Two PostgreSQL servers of the embedded programs: a primary, and a standby that confirms every commit
 * (`synchronous_standby_names`). The standby is a copy of the primary's files between pg_backup_start and pg_backup_stop,
 * because the embedded programs have no pg_basebackup. Linux only: /proc tells which processes belong to a server.
 */
import { execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import {
  appendFile,
  chown,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { type Binaries, locateBinaries } from "#platform/database/embedded/binaries.ts";
import {
  chooseLaunch,
  commandLine,
  type Launch,
  OWN_USER,
  runToEnd,
  SURROUNDINGS,
} from "#platform/database/embedded/server-user.ts";
import { eventually } from "./eventually.ts";

const USER = "posthaste";
const DATABASE = "mail";
const STANDBY = "s1";
/** Not one of those that the kernel gives to outgoing connections, so that it is free also after a restart. */
const PORT = 5432;
/** How much of a server's log the error of a failed start shows. */
const LAST_CHARACTERS = 2_000;
const run = promisify(execFile);

/** Where a server listens: its address, and the command that enters its network, if that is another one. */
export interface Place {
  readonly address: string;
  readonly enter: readonly string[];
}

/** An address of this machine that nothing else uses: every one in 127.0.0.0/8 belongs to it. */
function loopback(): Place {
  const octets = Array.from({ length: 3 }, () => randomInt(1, 255));
  return { address: `127.${octets.join(".")}`, enter: [] };
}

interface ServerOptions {
  readonly binaries: Binaries;
  readonly launch: Launch;
  readonly data: string;
  readonly place: Place;
}

/** One server of the pair. */
export class PairedServer {
  readonly #options: ServerOptions;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get address(): string {
    return this.#options.place.address;
  }

  /** Such as `127.7.7.7:5432`. */
  get name(): string {
    return `${this.address}:${PORT}`;
  }

  get url(): string {
    return `postgres://${USER}@${this.name}/${DATABASE}`;
  }

  get data(): string {
    return this.#options.data;
  }

  /** Resolves when the server answers, a standby as well. */
  async start(): Promise<void> {
    const { binaries, launch, data, place } = this.#options;
    const settings = [`port=${PORT}`, `listen_addresses=${place.address}`, "unix_socket_directories="];
    const words = settings.flatMap((setting) => ["-c", setting]);
    const [program, args] = commandLine(launch, binaries.postgres, "-D", data, ...words);
    const [file = program, ...rest] = [...place.enter, program, ...args];
    await using log = await open(`${data}.log`, "a");
    spawn(file, rest, { ...SURROUNDINGS, detached: true, stdio: ["ignore", log.fd, log.fd] }).unref();
    await eventually(`${this.name} to answer`, () => this.ask("select").catch(() => undefined)).catch(
      async (cause) => {
        throw new Error((await readFile(`${data}.log`, "utf8")).slice(-LAST_CHARACTERS), { cause });
      },
    );
  }

  /** Runs statements as the superuser, each on its own, in one session. Resolves to the rows of the last. */
  async ask(...statements: readonly string[]): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url.replace(DATABASE, "postgres") });
    client.on("error", () => {});
    await client.connect();
    try {
      let rows: Record<string, unknown>[] = [];
      for (const statement of statements) rows = (await client.query(statement)).rows;
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Makes the standby the primary, as a failover does. */
  async promote(): Promise<void> {
    await this.ask("select pg_promote()");
  }

  /** SIGKILL, SIGSTOP or SIGCONT for every process of the server. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    for (const pid of await this.#processes()) process.kill(pid, signal);
  }

  async stop(): Promise<void> {
    await this.signal("SIGKILL");
    await eventually(`${this.name} to end`, async () => (await this.#processes()).length === 0);
  }

  /** Every process of a server works in its data folder. */
  async #processes(): Promise<number[]> {
    const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
    const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
    return pids.filter((_, at) => folders[at] === this.data);
  }
}

export interface DatabasePair extends AsyncDisposable {
  readonly primary: PairedServer;
  readonly standby: PairedServer;
  /** DATABASE_URL with both servers, the present standby first. */
  readonly url: string;
}

/** @param place of the primary; the standby is on the loopback address of this machine */
export async function startDatabasePair(place: Place = loopback()): Promise<DatabasePair> {
  const binaries = await locateBinaries();
  const folder = await mkdtemp(join(tmpdir(), "posthaste-pair-"));
  if (process.geteuid?.() === 0) await chown(folder, OWN_USER, OWN_USER);
  const launch = await chooseLaunch(folder, await stat(folder), binaries.postgres);
  const serverIn = (name: string, at: Place) =>
    new PairedServer({ binaries, launch, data: join(folder, name), place: at });
  const primary = serverIn("primary", place);
  const standby = serverIn("standby", loopback());
  await initialise(binaries, launch, primary);
  await primary.start();
  await primary.ask(`create database ${DATABASE}`);
  await copyToStandby(primary, standby);
  await standby.start();
  await primary.ask(`alter system set synchronous_standby_names = '${STANDBY}'`, "select pg_reload_conf()");
  await eventually("the standby to confirm commits", async () => {
    const [row] = await primary.ask("select from pg_stat_replication where sync_state = 'sync'");
    return row !== undefined;
  });
  return {
    primary,
    standby,
    url: `postgres://${USER}@${standby.name},${primary.name}/${DATABASE}?target_session_attrs=read-write`,
    async [Symbol.asyncDispose]() {
      await primary.stop();
      await standby.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function initialise(binaries: Binaries, launch: Launch, { data }: PairedServer): Promise<void> {
  await runToEnd(
    { ...launch, prefix: launch.initPrefix ?? launch.prefix },
    binaries.initdb,
    `--pgdata=${data}`,
    `--username=${USER}`,
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--wal-segsize=4",
    "--no-instructions",
  );
  await appendFile(
    join(data, "pg_hba.conf"),
    "host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n",
  );
  await appendFile(
    join(data, "postgresql.conf"),
    // Processes are killed, machines are not: what was written without fsync is kept.
    "max_connections = 60\nwal_keep_size = '256MB'\nshared_buffers = '64MB'\nfsync = off\n",
  );
}

async function copyToStandby(primary: PairedServer, standby: PairedServer): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    await run("cp", ["-a", primary.data, standby.data]);
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop()");
    await rm(join(standby.data, "postmaster.pid"));
    await writeOwned(standby, "backup_label", rows[0]?.labelfile ?? "");
  } finally {
    await client.end();
  }
  const { hostname, port } = new URL(primary.url);
  const source = `host=${hostname} port=${port} user=${USER} application_name=${STANDBY} connect_timeout=2`;
  await appendFile(join(standby.data, "postgresql.conf"), `primary_conninfo = '${source}'\n`);
  await writeOwned(standby, "standby.signal", "");
}

/** The server may run as another user, and must be able to remove the file. */
async function writeOwned({ data }: PairedServer, name: string, text: string): Promise<void> {
  const owner = await stat(data);
  await writeFile(join(data, name), text);
  await chown(join(data, name), owner.uid, owner.gid);
}
