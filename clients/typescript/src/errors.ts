/** The error that every failed call rejects with, and how it is read from an answer. */
import type { components } from "./generated.ts";

type Failure = components["schemas"]["Failure"];

/** The codes of the API, and those of a call that got no answer from it. */
export type PosthasteErrorCode = Failure["code"] | "CONNECTION_FAILED" | "TIMED_OUT" | "UNEXPECTED_RESPONSE";

/** An invalid field of the request: its path (`attachments[0].content`), and what is valid. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

interface Circumstances {
  readonly status?: number | undefined;
  readonly details?: readonly FieldError[] | undefined;
  readonly requiredScopes?: readonly string[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** A call that did not succeed. Programs decide by `code`; `message` is a text for people. */
export class PosthasteError extends Error {
  override readonly name = "PosthasteError";
  /**
   * A code of the API, or: `CONNECTION_FAILED`, no connection or a broken one; `TIMED_OUT`, no answer in time;
   * `UNEXPECTED_RESPONSE`, an answer that is not the API's, such as the error page of a proxy.
   */
  readonly code: PosthasteErrorCode;
  /** HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** The invalid fields; empty if the error is not about fields. */
  readonly details: readonly FieldError[];
  /** With `INSUFFICIENT_SCOPE`: the permissions that the key lacks. */
  readonly requiredScopes: readonly string[];
  /** `X-Request-Id` of the answer: quote it in a support request. */
  readonly requestId: string | undefined;
  /** Seconds until a retry can succeed, if the service said so. */
  readonly retryAfter: number | undefined;

  constructor(code: PosthasteErrorCode, message: string, circumstances: Circumstances = {}) {
    super(message, { cause: circumstances.cause });
    this.code = code;
    this.status = circumstances.status;
    this.details = circumstances.details ?? [];
    this.requiredScopes = circumstances.requiredScopes ?? [];
    this.requestId = circumstances.requestId;
    this.retryAfter = circumstances.retryAfter;
  }
}

/** The error of an answer that is no success. @param body the parsed body, or its text if it is no JSON */
export function errorOfAnswer({ status, headers, type }: Response, body: unknown): PosthasteError {
  const circumstances = {
    status,
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfter: secondsOf(headers.get("Retry-After")),
  };
  if (isFailure(body)) {
    const { details, required_scopes: requiredScopes } = body;
    return new PosthasteError(body.code, body.error, { ...circumstances, details, requiredScopes });
  }
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  const message = isRedirect
    ? "The answer is a redirect, which is not followed because it could take the API key elsewhere: set baseUrl to the final address"
    : `The answer (HTTP ${status}) is not one of the Posthaste API: check baseUrl and the proxies in between`;
  return new PosthasteError("UNEXPECTED_RESPONSE", message, circumstances);
}

function isFailure(body: unknown): body is Failure {
  return typeof body === "object" && body !== null && "code" in body && "error" in body;
}

/** The seconds of a Retry-After header, which may also be a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
