/** Asks one server of a database, over a connection of its own, whether it can be written to. */
import pg from "pg";
import sql from "sql-template-tag";
import type { ServerAddress } from "./database-address.ts";

/** Longest time to connect to one of several servers, and for its answer to a question about its role. */
export const SERVER_MS = 2_000;

export type ServerRole =
  | { readonly kind: "away"; readonly reason: string }
  | { readonly kind: "read-only" }
  | {
      readonly kind: "writable";
      /** Raised by each promotion; 0 if the server does not tell. */
      readonly timeline: number;
    };

/** Never rejects: a server without an answer is away. @param connectionString a URL of any server of the database */
export async function findServerRole(connectionString: string, server: ServerAddress): Promise<ServerRole> {
  try {
    return await askServer(connectionString, server);
  } catch (fault) {
    return { kind: "away", reason: fault instanceof Error ? fault.message : String(fault) };
  }
}

/** @throws Error of the driver, also for a certificate of the URL that cannot be read now */
async function askServer(connectionString: string, server: ServerAddress): Promise<ServerRole> {
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
    return await readRole(client);
  } finally {
    // A frozen server would not answer a goodbye.
    client.connection.stream.destroy();
  }
}

async function readRole(client: pg.Client): Promise<ServerRole> {
  // In recovery, transactions are read-only as well; a server may also be told to be read-only.
  const { rows } = await client.query<{ isReadOnly: boolean }>(sql`
    select current_setting('transaction_read_only')::boolean as "isReadOnly"`);
  if (rows[0]?.isReadOnly) return { kind: "read-only" };
  return { kind: "writable", timeline: await readTimeline(client) };
}

/** The first eight digits of the name of a WAL file. Servers with another kind of WAL refuse the function. */
async function readTimeline(client: pg.Client): Promise<number> {
  const { rows } = await client
    .query<{ file: string }>(sql`select pg_walfile_name(pg_current_wal_lsn()) as file`)
    .catch(() => ({ rows: [] }));
  return Number.parseInt(rows[0]?.file.slice(0, 8) ?? "0", 16);
}
