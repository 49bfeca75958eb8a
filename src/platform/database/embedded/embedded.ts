/**
 * A real PostgreSQL of our own, for whoever has not set DATABASE_URL: `DATA_DIR` holds its data, a Unix socket leads
 * to it, and it is there for as long as the process that started it.
 *
 * - Every process on the machine may call `startEmbedded` for the same DATA_DIR (the service, an operator's command):
 *   the first starts the server, the others use it. One session with an advisory lock marks whoever answers for the
 *   server; a server without one (its owner was killed and could not take it along) is taken over as it runs.
 * - When the server ends, whoever loses its session starts it again on the same socket.
 * - After a SIGKILL of our process the kernel ends the server (Linux); elsewhere the next start takes it over.
 */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { lockKey } from "#platform/database/advisory-lock.ts";
import type { Log } from "#platform/log/log.ts";
import { type Cluster, openCluster, PORT, USER } from "./cluster.ts";
import { adviseHugePages } from "./huge-pages.ts";
import { endOrphans, findPostmaster, POLL_MS, startPostmaster, stopPostmaster } from "./postmaster.ts";

export interface Connection {
  /** The folder of the Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** The same as a connection URL, as `DATABASE_URL` would have it. */
  readonly url: string;
}

export interface Embedded {
  /** Stays the same when the server is started again. */
  readonly connection: Connection;
  /** Ends the server, unless another process answers for it, and starts it no more. */
  readonly stop: () => Promise<void>;
}

/** Our own session with the server: while it lives, so does the server. */
interface Session {
  readonly client: pg.Client;
  /** True for the process that ends the server when it stops. */
  readonly owner: boolean;
  readonly ended: Promise<unknown>;
}

const DATABASE = "posthaste";

const OWNER_LOCK = lockKey("owner of the embedded server");

const CONNECT_TIMEOUT_MS = 10_000;

/** How long the remains of a killed server may keep a new one off the cluster: by themselves, and in any case. */
const REMAINS_MS = 1_000;
const TAKEN_MS = 15_000;

/** The pause before starting a lost server again: none at first, then growing to the most; steady running resets it. */
const RESTART_MS = { step: 100, most: 5_000, steady: 60_000 };

/** No server at the socket, or one that is starting up or shutting down (57P03 cannot_connect_now, 57P01). */
const NOBODY_ANSWERS = new Set<unknown>(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03", "57P01"]);
/** 3D000 invalid_catalog_name, 42P04 duplicate_database, 23505 the same from two that create it at once. */
const NO_SUCH_DATABASE = "3D000";
const DATABASE_EXISTS = new Set<unknown>(["42P04", "23505"]);

/**
 * Starts PostgreSQL (or joins the one that runs) with its data in `dataDir`/postgres, and keeps it running.
 * `onExit` is called when it is lost, and again for every restart that fails; statements fail until it is back.
 * Throws one sentence when it cannot run.
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
    log.info({ folder: cluster.data, as: cluster.launch.who }, "PostgreSQL runs");
    await adviseHugePages(session.client, log);
  }

  async function keepRunning(): Promise<void> {
    for (let pause = 0; !signal.aborted; pause = Math.min(2 * pause + RESTART_MS.step, RESTART_MS.most)) {
      const since = performance.now();
      await session.ended;
      if (signal.aborted) return;
      if (performance.now() - since > RESTART_MS.steady) pause = 0;
      log.warn({ pause_ms: pause }, "PostgreSQL is gone and is started again");
      onExit?.();
      try {
        await delay(pause, undefined, { signal });
        session = await attach(cluster, log, signal);
      } catch (error) {
        if (!signal.aborted) log.error({ err: error }, "PostgreSQL could not be started again");
      }
    }
  }
  const running = keepRunning();

  async function shutDown(): Promise<void> {
    stopping.abort();
    await session.client.end();
    await running;
    await session.client.end(); // of a server that was just coming back
    if (session.owner) await stopPostmaster(cluster);
  }
  let stopped: Promise<void> | undefined;
  return { connection: connectionTo(cluster), stop: () => (stopped ??= shutDown()) };
}

function connectionTo({ socketFolder }: Cluster, database = DATABASE): Connection {
  const url = `postgresql://${USER}@${encodeURIComponent(socketFolder)}:${PORT}/${database}`;
  return { host: socketFolder, port: PORT, user: USER, database, url };
}

/** A session with the server of this cluster, which is started if there is none. */
async function attach(cluster: Cluster, log: Log, signal: AbortSignal): Promise<Session> {
  const startedAt = performance.now();
  for (;;) {
    const session = await joinServer(cluster);
    if (session !== undefined) return session;
    signal.throwIfAborted(); // not sooner: a server that we started must not be forgotten
    // A server that does not answer yet is starting up or shutting down, which takes as long as it takes.
    if ((await findPostmaster(cluster)) === undefined) {
      const outcome = await startPostmaster(cluster, log);
      if (outcome === "ready") continue;
      const waited = performance.now() - startedAt;
      if (waited > TAKEN_MS) throw new Error("The remains of a killed PostgreSQL hold its data.");
      if (waited > REMAINS_MS) await endOrphans(cluster);
    }
    await delay(POLL_MS);
  }
}

/** A session with the server that runs, if one does; makes our database where it is missing. */
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
    if (NOBODY_ANSWERS.has(codeOf(error))) return undefined;
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
  client.on("error", () => {}); // a broken session also ends, and that is what we wait for
  return client;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
