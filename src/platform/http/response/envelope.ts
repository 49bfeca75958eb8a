/** The two envelopes of the API: every response under /api/v1 is a success or a failure. */
import type { FastifyError } from "fastify";
import { ApiError, type FieldFault } from "#platform/errors.ts";
import { noAnswer } from "#platform/in-time.ts";

export interface Success {
  readonly success: true;
  readonly data: unknown;
  readonly message: string;
  /** Value for `after`, for lists without `pagination`. */
  readonly next_cursor?: string | null;
  /** Rows of all pages, for lists without `pagination`. */
  readonly total?: number;
  /** Unknown names in the request that were ignored, if there are any. */
  readonly warnings?: readonly FieldFault[];
}

export interface Failure {
  readonly success: false;
  readonly error: string;
  readonly code: string;
  readonly details?: readonly FieldFault[];
  readonly required_scopes?: readonly string[];
  /** The resource as it is now, if the version in If-Match is not its latest. */
  readonly current?: unknown;
}

export function failure(error: ApiError): Failure {
  return {
    success: false,
    error: error.message,
    code: error.code,
    ...(error.details && { details: error.details }),
    ...(error.requiredScopes && { required_scopes: error.requiredScopes }),
    ...(error.current !== undefined && { current: error.current }),
  };
}

/**
 * Codes of the server and the driver if PostgreSQL is unreachable or overloaded (SQLSTATE classes 08, 53, 57P; 57014 is a
 * statement timeout, 55P03 a lock timeout, 25006 a server that is no longer the primary).
 */
const databaseAway =
  /^(08|53|57P|57014|55P03|25006)|^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOENT|EPIPE)$/;
/** Messages of driver errors without a code: no connection in time, or a connection that broke. */
const driverFault =
  /^timeout expired$|timeout exceeded when trying to connect|Connection terminated|Query read timeout|is not queryable$/;

/**
 * Status and error for anything thrown. Errors that are not ApiErrors are internal: their text is only logged, except for
 * Fastify's errors about malformed requests.
 */
export function asFailure(thrown: unknown): { status: number; error: ApiError; isOurFault: boolean } {
  if (thrown instanceof ApiError) {
    return { status: thrown.status, error: thrown, isOurFault: thrown.status === 500 };
  }
  const { code = "", statusCode = 500, message = "" } = (thrown ?? {}) as Partial<FastifyError>;
  if (statusCode === 413) {
    return { status: 413, error: new ApiError("PAYLOAD_TOO_LARGE"), isOurFault: false };
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    const error = new ApiError("VALIDATION_ERROR", "Send the body as application/json");
    return { status: 400, error, isOurFault: false };
  }
  // A broken upload has the same code as a lost database connection, but also a status from Fastify.
  if (statusCode < 500 && (code.startsWith("FST_") || code === "ECONNRESET")) {
    return { status: 400, error: new ApiError("VALIDATION_ERROR", message), isOurFault: false };
  }
  const away = databaseAway.test(code) || driverFault.test(message);
  const error = away ? noAnswer() : new ApiError("INTERNAL_ERROR");
  return { status: error.status, error, isOurFault: true };
}
