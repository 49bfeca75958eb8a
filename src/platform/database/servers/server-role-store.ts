/** Asks one server of a database, over a connection of its own, whether it can be written to, and what it still works on. */
import pg from "pg";
import sql from "sql-template-tag";
import { sentence } from "#platform/error-sentence.ts";
import type { ServerAddress } from "./database-address.ts";
import { TOO_MANY_CONNECTIONS } from "./server-faults.ts";

/** Longest time to connect to one of several servers, and for its answer to a question about its role. */
export const SERVER_MS = 2_000;

export type ServerRole =
  | { readonly kind: "away"; readonly reason: string }
  /** It works, but takes no more connections. */
  | { readonly kind: "full" }
  | { readonly kind: "read-only"; readonly system: string | null }
  | {
      readonly kind: "writable";
      /** The identifier that a primary and its standbys have in common; null if the server does not tell. */
      readonly system: string | null;
      /** Raised by each promotion; 0 if the server does not tell. */
      readonly timeline: number;
    };

/** Never rejects: a server without an answer is away. @param connectionString a URL of any server of the database */
export async function findServerRole(connectionString: string, server: ServerAddress): Promise<ServerRole> {
  try {
    return await askServer(connectionString, server, readRole);
  } catch (fault) {
    if (fault instanceof pg.DatabaseError && fault.code === TOO_MANY_CONNECTIONS) return { kind: "full" };
    return { kind: "away", reason: sentence(fault) };
  }
}

/** Those of the process ids that the server has. Never rejects: null if it does not answer. */
export async function findBackends(
  connectionString: string,
  server: ServerAddress,
  pids: readonly number[],
): Promise<ReadonlySet<number> | null> {
  try {
    const { rows } = await askServer(connectionString, server, (client) =>
      client.query<{ pid: number }>(sql`
        select pid from pg_stat_activity where pid = any (${[...pids]}::integer[])`),
    );
    return new Set(rows.map(({ pid }) => pid));
  } catch {
    return null;
  }
}

/** @throws Error of the driver, also for a certificate of the URL that cannot be read now */
async function askServer<Answer>(
  connectionString: string,
  server: ServerAddress,
  question: (client: pg.Client) => Promise<Answer>,
): Promise<Answer> {
  const client = new pg.Client({
    connectionString,
    application_name: "posthaste search",
    connectionTimeoutMillis: SERVER_MS,
    query_timeout: SERVER_MS,
  });
  client.host = server.host;
  client.port = server.port;
  // The connection may break after the answer; it is closed in any case.
  client.on("error", () => {});
  try {
    await client.connect();
    return await question(client);
  } finally {
    // A frozen server would not answer a goodbye.
    client.connection.stream.destroy();
  }
}

async function readRole(client: pg.Client): Promise<ServerRole> {
  // In recovery, transactions are read-only as well; a server may also be told to be read-only.
  const { rows } = await client.query<{ isReadOnly: boolean }>(sql`
    select current_setting('transaction_read_only')::boolean as "isReadOnly"`);
  const system = await readSystem(client);
  if (rows[0]?.isReadOnly) return { kind: "read-only", system };
  return { kind: "writable", system, timeline: await readTimeline(client) };
}

async function readSystem(client: pg.Client): Promise<string | null> {
  const { rows } = await client
    .query<{ id: string }>(sql`select system_identifier::text as id from pg_control_system()`)
    .catch(() => ({ rows: [] }));
  return rows[0]?.id ?? null;
}

/** The first eight digits of the name of a WAL file. Servers with another kind of WAL refuse the function. */
async function readTimeline(client: pg.Client): Promise<number> {
  const { rows } = await client
    .query<{ file: string }>(sql`select pg_walfile_name(pg_current_wal_lsn()) as file`)
    .catch(() => ({ rows: [] }));
  return Number.parseInt(rows[0]?.file.slice(0, 8) ?? "0", 16);
}
