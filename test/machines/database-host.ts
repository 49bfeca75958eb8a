/** PostgreSQL on a host of a test network, from the package that comes with Posthaste. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { type Cluster, openCluster, PORT, SETTINGS, USER } from "#platform/database/embedded/cluster.ts";
import { settingsFile } from "#platform/database/embedded/server-settings.ts";
import { SURROUNDINGS } from "#platform/database/embedded/server-user.ts";
import { createLog } from "#platform/log/log.ts";
import type { Host } from "./network.ts";

const DATABASE = "posthaste";

export class DatabaseHost implements AsyncDisposable {
  readonly url: string;
  readonly #host: Host;
  readonly #cluster: Cluster;
  #server: ChildProcess | undefined;

  private constructor(host: Host, cluster: Cluster) {
    this.#host = host;
    this.#cluster = cluster;
    this.url = this.#urlOf(DATABASE);
  }

  /** Makes an empty database in `folder` and starts the server. */
  static async start(host: Host, folder: string): Promise<DatabaseHost> {
    const cluster = await openCluster(folder, createLog("silent"));
    const settings = join(cluster.data, SETTINGS);
    await writeFile(settings, settingsFile());
    await chown(settings, cluster.launch.uid, cluster.launch.gid);
    await appendFile(join(cluster.data, "pg_hba.conf"), "host all all samenet trust\n");
    const database = new DatabaseHost(host, cluster);
    await database.start();
    const client = new pg.Client({ connectionString: database.#urlOf("postgres") });
    await client.connect();
    await client.query(`create database ${DATABASE}`);
    await client.end();
    return database;
  }

  /** Starts the server; resolves when it takes connections. */
  async start(): Promise<void> {
    const { binaries, data, launch, socketFolder } = this.#cluster;
    const words = [...this.#host.command, ...launch.prefix, binaries.postgres, "-D", data];
    const settings = {
      listen_addresses: this.#host.address,
      unix_socket_directories: `"${socketFolder}"`,
      max_connections: "300",
    };
    for (const [name, value] of Object.entries(settings)) words.push("-c", `${name}=${value}`);
    const [file = "", ...rest] = words;
    const server = spawn(file, rest, {
      ...SURROUNDINGS,
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#server = server;
    const output: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface(server.stderr).on("line", (line) => {
        output.push(line);
        if (line.endsWith("database system is ready to accept connections")) resolve();
      });
      server.once("close", () => reject(new Error(`PostgreSQL did not start:\n${output.join("\n")}`)));
    });
  }

  /** Kills all processes of the server, as if the machine had lost its power. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    await this.#host.killProcesses();
    await ended;
  }

  #urlOf(database: string): string {
    return `postgres://${USER}@${this.#host.address}:${PORT}/${database}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
