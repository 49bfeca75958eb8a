/**
 * All errors that callers may see: a table of codes, and the exception that carries one.
 *
 * Only `message`, which is written for the caller, leaves the service; `cause` is logged with the request id. Code outside
 * `platform/http` uses HTTP status codes only through this table.
 */

/** HTTP status and default text of each code. */
export const errorTable = {
  VALIDATION_ERROR: { status: 400, text: "The request is malformed or a field is invalid" },
  BAD_REQUEST: { status: 400, text: "The request could not be processed as sent" },
  UNAUTHORIZED: { status: 401, text: "The API key or the session is missing or not valid" },
  PLAN_LIMIT_REACHED: { status: 402, text: "The plan's monthly volume is used up" },
  INSUFFICIENT_BALANCE: { status: 402, text: "The prepaid balance is too low" },
  FORBIDDEN: { status: 403, text: "This action is not allowed" },
  INSUFFICIENT_SCOPE: {
    status: 403,
    text: "The permissions of the API key, or of the person's role, do not cover this operation",
  },
  EMAIL_NOT_VERIFIED: { status: 403, text: "The sender address or domain is not verified yet" },
  SECOND_FACTOR_REQUIRED: {
    status: 403,
    text: "The workspace requires a second factor: add one to your account",
  },
  REAUTHENTICATION_REQUIRED: { status: 403, text: "Confirm that it is you, then repeat the request" },
  SERVICE_SUSPENDED: { status: 403, text: "The workspace is suspended" },
  NOT_FOUND: { status: 404, text: "The resource does not exist" },
  METHOD_NOT_ALLOWED: { status: 405, text: "This path does not take that method" },
  CONFLICT: { status: 409, text: "The request conflicts with existing data" },
  PRECONDITION_FAILED: { status: 412, text: "The resource was changed since the version in If-Match" },
  GONE: { status: 410, text: "The resource is no longer kept" },
  PAYLOAD_TOO_LARGE: { status: 413, text: "The request body is too large" },
  RATE_LIMIT_EXCEEDED: { status: 429, text: "Too many requests; slow down and retry" },
  INTERNAL_ERROR: { status: 500, text: "Something failed on our side; retry shortly" },
} as const;

export type ErrorCode = keyof typeof errorTable;

/** An invalid field: its path in the request (`attachments[0].content`), and a message that says what is valid. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

interface ErrorOptions {
  readonly details?: readonly FieldFault[];
  readonly requiredScopes?: readonly string[];
  /** With PRECONDITION_FAILED: the resource as it is now. */
  readonly current?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
  /** Overrides the status of the table. */
  readonly status?: number;
}

/** An error that is sent to the caller as the failure envelope: invalid input, or a state of the service. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly FieldFault[] | undefined;
  readonly requiredScopes: readonly string[] | undefined;
  readonly current: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message?: string, options: ErrorOptions = {}) {
    super(message ?? errorTable[code].text, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? errorTable[code].status;
    this.details = options.details;
    this.requiredScopes = options.requiredScopes;
    this.current = options.current;
    this.headers = options.headers ?? {};
  }
}

/** A VALIDATION_ERROR for at least one invalid field. */
export function invalid(...faults: [FieldFault, ...FieldFault[]]): ApiError {
  return new ApiError("VALIDATION_ERROR", faults.map((fault) => fault.message).join("; "), {
    details: faults,
  });
}

/** 503 because of too much load: nothing was done, and the caller may retry soon. */
export function overloaded(message: string): ApiError {
  return new ApiError("INTERNAL_ERROR", message, { status: 503, headers: { "Retry-After": "1" } });
}

/** The row, when there is one. @throws ApiError NOT_FOUND */
export function required<Row>(row: Row | undefined, noun: string): Row {
  if (row === undefined) throw notFound(noun);
  return row;
}

/** A NOT_FOUND that names the kind of resource; the same for an unknown id and for one of another workspace. */
export function notFound(noun: string): ApiError {
  return new ApiError("NOT_FOUND", `${noun} not found`);
}
