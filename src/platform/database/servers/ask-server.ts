/** Asks one server of a database for its role over a connection of its own. */
import pg from "pg";
import type { ServerAddress } from "./database-address.ts";
import { findServerRole, type ServerRole } from "./server-role-store.ts";

/** Longest time to connect to one of several servers, and for its answer to each question. */
export const SERVER_MS = 2_000;

/** Never rejects: a server without an answer is away. */
export async function askServer(
  connectionString: string,
  server: ServerAddress,
): Promise<ServerRole | { readonly kind: "away"; readonly reason: string }> {
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
    return await findServerRole(client);
  } catch (fault) {
    return { kind: "away", reason: fault instanceof Error ? fault.message : String(fault) };
  } finally {
    // A frozen server answers no goodbye.
    client.connection.stream.destroy();
  }
}
