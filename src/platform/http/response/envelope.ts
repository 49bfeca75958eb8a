/** The two envelopes of the contract: every answer under /api/v1 has one of them. */
import type { FastifyError } from "fastify";
import { ApiError, type FieldFault } from "#platform/errors.ts";
import { noAnswer } from "#platform/in-time.ts";

export interface Success {
  readonly success: true;
  readonly data: unknown;
  readonly message: string;
  /** For `after`, of a list whose answer has no `pagination`. */
  readonly next_cursor?: string | null;
  /** Names in the request that are not known here and were ignored, where there were any. */
  readonly warnings?: readonly FieldFault[];
}

export interface Failure {
  readonly success: false;
  readonly error: string;
  readonly code: string;
  readonly details?: readonly FieldFault[];
  readonly required_scopes?: readonly string[];
}

export function failure(error: ApiError): Failure {
  return {
    success: false,
    error: error.message,
    code: error.code,
    ...(error.details && { details: error.details }),
    ...(error.requiredScopes && { required_scopes: error.requiredScopes }),
  };
}

/**
 * PostgreSQL is away or overloaded: what the driver and the server say then (SQLSTATE classes 08, 53, 57; 57014 is a
 * statement that took too long, 55P03 one that waited too long for a lock).
 */
const databaseAway = /^(08|53|57P|57014|55P03)|^(ECONNREFUSED|ECONNRESET|ENOENT|EPIPE)$/;
/** What the driver says without a code: no connection in time, or one that broke under a statement. */
const driverLostIt = /timeout exceeded when trying to connect|Connection terminated|Query read timeout/;

/**
 * Status and error of anything thrown. What is not an ApiError is ours: its text stays in the log, except for the
 * framework's own refusals of a malformed request.
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
  // An upload that breaks off has the code of a lost database too, but Fastify gives it a status.
  if (statusCode < 500 && (code.startsWith("FST_") || code === "ECONNRESET")) {
    return { status: 400, error: new ApiError("VALIDATION_ERROR", message), isOurFault: false };
  }
  const away = databaseAway.test(code) || driverLostIt.test(message);
  const error = away ? noAnswer() : new ApiError("INTERNAL_ERROR");
  return { status: error.status, error, isOurFault: true };
}
