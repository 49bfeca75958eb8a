/** A PostgreSQL server of the embedded programs for tests. Linux only: /proc tells which processes belong to it. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { appendFile, chown, mkdtemp, open, readdir, readFile, readlink, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

/** The superuser. */
export const USER = "posthaste";
export const DATABASE = "mail";
/** Not one of those that the kernel gives to outgoing connections, so that it is free also after a restart. */
const PORT = 5432;
/** How much of a server's log the error of a failed start shows. */
const LAST_CHARACTERS = 2_000;

/** Where a server listens: its address, and the command that enters its network, if that is another one. */
export interface Place {
  readonly address: string;
  readonly enter: readonly string[];
}

/** An address of this machine that nothing else uses: every one in 127.0.0.0/8 belongs to it. */
export function loopback(): Place {
  const octets = Array.from({ length: 3 }, () => randomInt(1, 255));
  return { address: `127.${octets.join(".")}`, enter: [] };
}

/** Servers with their data in one folder, which is removed at the end. */
export class ServerFolder implements AsyncDisposable {
  readonly #folder: string;
  readonly #binaries: Binaries;
  readonly #launch: Launch;
  readonly #servers: DatabaseServer[] = [];

  private constructor(folder: string, binaries: Binaries, launch: Launch) {
    this.#folder = folder;
    this.#binaries = binaries;
    this.#launch = launch;
  }

  static async make(): Promise<ServerFolder> {
    const binaries = await locateBinaries();
    const folder = await mkdtemp(join(tmpdir(), "posthaste-servers-"));
    if (process.geteuid?.() === 0) await chown(folder, OWN_USER, OWN_USER);
    return new ServerFolder(
      folder,
      binaries,
      await chooseLaunch(folder, await stat(folder), binaries.postgres),
    );
  }

  /** A server that has no data yet. @param settings of PostgreSQL */
  add(name: string, place: Place, settings: Readonly<Record<string, string>> = {}): DatabaseServer {
    const options = { binaries: this.#binaries, launch: this.#launch, data: join(this.#folder, name) };
    const server = new DatabaseServer({ ...options, place, settings });
    this.#servers.push(server);
    return server;
  }

  /** A running server with the empty database DATABASE. */
  async start(
    name: string,
    place: Place,
    settings?: Readonly<Record<string, string>>,
  ): Promise<DatabaseServer> {
    const server = this.add(name, place, settings);
    await initialise(this.#binaries, this.#launch, server);
    await server.start();
    await server.ask(`create database ${DATABASE}`);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server.stop();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface ServerOptions {
  readonly binaries: Binaries;
  readonly launch: Launch;
  readonly data: string;
  readonly place: Place;
  readonly settings: Readonly<Record<string, string>>;
}

export class DatabaseServer {
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
    const { binaries, launch, data, place, settings } = this.#options;
    const all = { ...settings, port: PORT, listen_addresses: place.address, unix_socket_directories: "" };
    const words = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
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
    for (const pid of await this.#processes()) {
      try {
        process.kill(pid, signal);
      } catch (fault) {
        // It ended meanwhile, as those of connections do when the first process ends.
        if (!isNoSuchProcess(fault)) throw fault;
      }
    }
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

const isNoSuchProcess = (fault: unknown) =>
  fault instanceof Error && "code" in fault && fault.code === "ESRCH";

async function initialise(binaries: Binaries, launch: Launch, { data }: DatabaseServer): Promise<void> {
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
