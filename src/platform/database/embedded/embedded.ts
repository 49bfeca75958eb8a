/**
 * The embedded PostgreSQL, used if DATABASE_URL is not set. Its data is in `DATA_DIR`, it listens on a Unix socket, and it
 * runs as long as the process that started it.
 *
 * - Every process on the machine may call `startEmbedded` for the same DATA_DIR (the service, an operator's command): the
 *   first starts the server, the others use it. The owner, which stops the server, holds an advisory lock in its session. A
 *   running server without an owner (which was killed) is taken over.
 * - When the server ends, the processes that lose their session start it again on the same socket.
 * - When the owner is killed (SIGKILL), the kernel ends the server (Linux); elsewhere the next start takes it over.
 */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Log } from "#platform/log/log.ts";
import { type Cluster, openCluster, PORT, USER } from "./cluster.ts";
import { endOrphans, findPostmaster, SERVER_POLL_MS, startPostmaster, stopPostmaster } from "./postmaster.ts";

export interface Connection {
  /** The folder of the Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** The connection URL, in the form of `DATABASE_URL`. */
  readonly url: string;
}

export interface Embedded {
  /** Unchanged when the server is restarted. */
  readonly connection: Connection;
  /** Stops the server, unless another process owns it, and does not restart it. */
  readonly stop: () => Promise<void>;
}

/** Our session with the server; its end means that the server has ended. */
interface Session {
  readonly client: pg.Client;
  /** True for the process that stops the server when it ends itself. */
  readonly owner: boolean;
  readonly ended: Promise<unknown>;
}

const DATABASE = "posthaste";

const OWNER_LOCK = lockKey("owner of the embedded server");

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Children of a killed server block a new one. After REMAINS_MS they are killed, after TAKEN_MS the start fails.
 */
const REMAINS_MS = 1_000;
const TAKEN_MS = 15_000;

/** The pause before a restart: none at first, then growing by steps to the maximum; a run of `steady` ms resets it. */
const RESTART_MS = { step: 100, most: 5_000, steady: 60_000 };

/** No server at the socket, or one that is starting up or shutting down (57P03 cannot_connect_now, 57P01). */
const NOT_READY = new Set<unknown>(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03", "57P01"]);
/** SQLSTATE 3D000 invalid_catalog_name, 42P04 duplicate_database, 23505 if two processes create it at once. */
const NO_SUCH_DATABASE = "3D000";
const DATABASE_EXISTS = new Set<unknown>(["42P04", "23505"]);

/**
 * Starts PostgreSQL with its data in `dataDir`/postgres (or uses the one that runs), and restarts it whenever it ends.
 * `onExit` is called when it ends, and for every restart that fails; until it runs again, statements fail.
 *
 * @throws Error, one sentence, if it cannot run
 */
export async function startEmbedded(options: {
  readonly dataDir: string;
  readonly log: Log;
  readonly onExit?: () => void;
}): Promise<Embedded> {
  const { dataDir, log, onExit } = options;
  const cluster = await openCluster(dataDir, log);
  const stopping = new AbortController();
  const { signal } = stopping;
  let session = await attach(cluster, log, signal);
  if (session.owner) {
    log.info({ folder: cluster.data, as: cluster.launch.who }, "embedded PostgreSQL started");
    await adviseHugePages(session.client, log);
  }

  async function keepRunning(): Promise<void> {
    for (let pause = 0; !signal.aborted; pause = Math.min(2 * pause + RESTART_MS.step, RESTART_MS.most)) {
      const since = performance.now();
      await session.ended;
      if (signal.aborted) return;
      if (performance.now() - since > RESTART_MS.steady) pause = 0;
      log.warn({ pause_ms: pause }, "embedded PostgreSQL has ended, restarting it");
      onExit?.();
      try {
        await delay(pause, undefined, { signal });
        session = await attach(cluster, log, signal);
      } catch (error) {
        if (!signal.aborted) log.error({ err: error }, "embedded PostgreSQL could not be restarted");
      }
    }
  }
  const running = keepRunning();

  async function shutDown(): Promise<void> {
    stopping.abort();
    await session.client.end();
    await running;
    await session.client.end(); // a restart may have replaced the session meanwhile
    if (session.owner) await stopPostmaster(cluster);
  }
  let stopped: Promise<void> | undefined;
  return { connection: connectionTo(cluster), stop: () => (stopped ??= shutDown()) };
}

function connectionTo({ socketFolder }: Cluster, database = DATABASE): Connection {
  const url = `postgresql://${USER}@${encodeURIComponent(socketFolder)}:${PORT}/${database}`;
  return { host: socketFolder, port: PORT, user: USER, database, url };
}

/** A session with the server of this cluster. Starts the server if it does not run. */
async function attach(cluster: Cluster, log: Log, signal: AbortSignal): Promise<Session> {
  const startedAt = performance.now();
  for (;;) {
    const session = await joinServer(cluster);
    if (session !== undefined) return session;
    signal.throwIfAborted(); // not earlier: a server that we have started needs a session, so that it is stopped
    // A server that does not answer yet is starting up or shutting down; that is waited for without a limit.
    if ((await findPostmaster(cluster)) === undefined) {
      const outcome = await startPostmaster(cluster, log);
      if (outcome === "ready") continue;
      const waited = performance.now() - startedAt;
      if (waited > TAKEN_MS)
        throw new Error("Processes of a killed PostgreSQL still use its data: end them and start again.");
      if (waited > REMAINS_MS) await endOrphans(cluster);
    }
    await delay(SERVER_POLL_MS);
  }
}

/** A session with the running server, undefined if none runs. Creates our database if it is missing. */
async function joinServer(cluster: Cluster): Promise<Session | undefined> {
  const client = newClient(cluster, DATABASE);
  const ended = new Promise((resolve) => client.once("end", resolve));
  try {
    await client.connect();
    const { rows } = await client.query<{ owner: boolean }>("select pg_try_advisory_lock($1) as owner", [
      OWNER_LOCK,
    ]);
    return { client, owner: rows[0]?.owner === true, ended };
  } catch (error) {
    if (NOT_READY.has(codeOf(error))) return undefined;
    if (codeOf(error) !== NO_SUCH_DATABASE) throw error;
  }
  await createDatabase(cluster);
  return joinServer(cluster);
}

async function createDatabase(cluster: Cluster): Promise<void> {
  const client = newClient(cluster, "postgres");
  await client.connect();
  try {
    await client.query(`create database ${DATABASE}`);
  } catch (error) {
    if (!DATABASE_EXISTS.has(codeOf(error))) throw error;
  } finally {
    await client.end();
  }
}

function newClient(cluster: Cluster, database: string): pg.Client {
  const client = new pg.Client({
    connectionString: connectionTo(cluster, database).url,
    application_name: "posthaste supervisor",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => {}); // a broken session also emits "end", which is awaited
  return client;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** 1 GiB; with less shared memory, huge pages make no difference. */
const LEAST_PAGES = 512;

/**
 * Logs how many huge pages PostgreSQL needs for its shared memory if it uses none. It uses them only if the operator has set up
 * enough of them; the line is shown with LOG_LEVEL=debug.
 */
export async function adviseHugePages(client: Pick<pg.Client, "query">, log: Log): Promise<void> {
  const { rows } = await client.query<{ status: string; wanted: number }>(`
    select current_setting('huge_pages_status') as status,
      current_setting('shared_memory_size_in_huge_pages')::int as wanted`);
  const [memory] = rows;
  if (memory?.status !== "off" || memory.wanted < LEAST_PAGES) return;
  log.debug(
    { nr_hugepages: memory.wanted },
    "PostgreSQL has no huge pages: with them it scans large lists in half the time (docs/operations.md)",
  );
}
