/** Why a connection to the primary is missing or was closed. Callers get 503 for each of these. */

/** SQLSTATE 25006, read_only_sql_transaction: a standby, or a server that became read-only. */
const READ_ONLY = "25006";
/** SQLSTATE 08001, sqlclient_unable_to_establish_sqlconnection. */
const NO_CONNECTION = "08001";
/** SQLSTATE 53300, too_many_connections: of the server, the database or the role. */
export const TOO_MANY_CONNECTIONS = "53300";

/** The server of this connection is not the primary (any more). */
export class NotPrimaryError extends Error {
  override readonly name = "NotPrimaryError";
  readonly code = READ_ONLY;
}

/** None of the servers can be written to. */
export class NoPrimaryError extends Error {
  override readonly name = "NoPrimaryError";
  readonly code = NO_CONNECTION;
}

/** The server has too many connections, or too many of this process that it does not answer. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
  readonly code = TOO_MANY_CONNECTIONS;
}

export function isReadOnlyCode(code: unknown): boolean {
  return code === READ_ONLY;
}
