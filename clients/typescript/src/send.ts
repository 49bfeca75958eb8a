/** Sends the calls: one HTTP request a try, with a timeout; tries again where that cannot do anything twice. */
import createClient from "openapi-fetch";
import type { Answer } from "./call.ts";
import { errorOfAnswer, type FieldError, PosthasteError } from "./errors.ts";
import type { CallOptions } from "./shapes.ts";
import { formOf, type Upload } from "./upload.ts";

export interface PosthasteOptions {
  /** Address of the service, such as `https://mail.example.com`. In a page of the service itself: `""`. */
  readonly baseUrl: string;
  /** A key of one workspace: `efk_…`. */
  readonly apiKey?: string | undefined;
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the global `fetch`, for example to use a proxy. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Tries after the first one; 2 by default. */
  readonly retries?: number | undefined;
  /** Milliseconds until one try is given up; 60,000 by default. A file must only begin to arrive within this time. */
  readonly timeoutMs?: number | undefined;
}

/** What a method was called with: the options, `query`, `body`, and the ids of the path under their names. */
export type CallInput = CallOptions & Readonly<Record<string, unknown>>;

/** One row of the table of operations. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  /** The service honours Idempotency-Key. */
  readonly takesKey: boolean;
  /** The answer is a file. */
  readonly answersFile: boolean;
  /** The field of the form that is a file; undefined if the body is JSON. */
  readonly fileField: string | undefined;
}

type SendRequest = (
  method: string,
  path: string,
  init: Readonly<Record<string, unknown>>,
) => Promise<{ readonly error?: unknown; readonly response: Response }>;

interface Envelope {
  readonly data: unknown;
  readonly message?: string;
  readonly warnings?: readonly FieldError[];
  readonly next_cursor?: string | null;
}

const API_PREFIX = "/api/v1";
const RETRIES = 2;
const TIMEOUT_MS = 60_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 8_000;
/** A longer wait is the caller's decision: the call fails, and its error has `retryAfter`. */
const LONGEST_RETRY_AFTER_SECONDS = 60;
/** No answer, or none of the service itself. Whether the request was carried out is unknown. */
const UNCERTAIN = new Set<unknown>([408, 502, 503, 504, "CONNECTION_FAILED", "TIMED_OUT"]);

export class Sender {
  readonly #request: SendRequest;
  readonly #options: PosthasteOptions;

  constructor(options: PosthasteOptions) {
    this.#options = options;
    const base = options.baseUrl.replace(/\/+$/, "");
    const client = createClient({
      baseUrl: base.endsWith(API_PREFIX) ? base : `${base}${API_PREFIX}`,
      headers: { ...(options.apiKey !== undefined && { "X-API-Key": options.apiKey }), ...options.headers },
      // A redirect would take the key to another address.
      redirect: "manual",
      ...(options.fetch && { fetch: options.fetch }),
    });
    this.#request = client.request as unknown as SendRequest;
  }

  /** @throws PosthasteError; the reason of `input.signal` if that ended the call */
  async send(operation: Operation, input: CallInput): Promise<Answer<unknown>> {
    const { retries = this.#options.retries ?? RETRIES, signal } = input;
    const key = operation.takesKey ? (input.idempotencyKey ?? randomKey()) : input.idempotencyKey;
    const isRepeatable = operation.method === "GET" || (operation.takesKey && key !== undefined);
    const init = await initOf(operation, input, key);
    for (let tries = 1; ; tries++) {
      try {
        return await this.#try(operation, init, input);
      } catch (error) {
        signal?.throwIfAborted();
        const wait = tries <= retries ? delayAfter(error, tries, isRepeatable) : undefined;
        if (wait === undefined) throw error;
        await sleep(wait, signal);
      }
    }
  }

  async #try(
    { method, path, answersFile }: Operation,
    init: Readonly<Record<string, unknown>>,
    input: CallInput,
  ): Promise<Answer<unknown>> {
    const timeoutMs = input.timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    const signal = input.signal ? AbortSignal.any([input.signal, timeout.signal]) : timeout.signal;
    try {
      const { response, error } = await this.#request(method, path, { ...init, signal, parseAs: "stream" });
      if (!response.ok) throw errorOfAnswer(response, error);
      return answersFile ? fileAnswer(response) : envelopeAnswer(response, await response.text());
    } catch (error) {
      if (error instanceof PosthasteError) throw error;
      throw timeout.signal.aborted
        ? new PosthasteError("TIMED_OUT", `No answer within ${timeoutMs} ms`, { cause: error })
        : new PosthasteError("CONNECTION_FAILED", `No answer from the service: ${causeOf(error)}`, {
            cause: error,
          });
    } finally {
      clearTimeout(timer);
    }
  }
}

async function initOf({ path, fileField }: Operation, input: CallInput, key: string | undefined) {
  const { body, query } = input;
  const ids = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => [name, idOf(input, name)]);
  const isForm = fileField !== undefined && body !== undefined;
  return {
    params: { path: Object.fromEntries(ids), query },
    ...(body !== undefined && {
      body: isForm ? await formOf(body as Readonly<Record<string, Upload>>, fileField) : body,
    }),
    headers: { ...(key !== undefined && { "Idempotency-Key": key }), ...input.headers },
  };
}

/** An id of the path. Without this check an empty one would make another path, such as that of the whole list. */
function idOf(input: CallInput, name: string): string {
  const id = input[name];
  if (typeof id === "string" && /^[\w-]+$/.test(id)) return id;
  throw new TypeError(`${name} must be an id`);
}

function fileAnswer(response: Response): Answer<Response> {
  return { ...partsOf(response), data: response, message: "", warnings: [], nextCursor: undefined };
}

function envelopeAnswer(response: Response, text: string): Answer<unknown> {
  const envelope = parsed(text);
  if (typeof envelope !== "object" || envelope === null || !("data" in envelope)) {
    throw errorOfAnswer(response, text);
  }
  const { data, message = "", warnings = [], next_cursor: nextCursor } = envelope as Envelope;
  return { ...partsOf(response), data, message, warnings, nextCursor };
}

function partsOf(response: Response) {
  return { response, requestId: response.headers.get("X-Request-Id") ?? undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Milliseconds until the next try; undefined if there is to be none. */
function delayAfter(error: unknown, tries: number, isRepeatable: boolean): number | undefined {
  if (!(error instanceof PosthasteError)) return undefined;
  const { status, code, retryAfter } = error;
  // A 429 had no effect, so every call may be sent again. A 409 with Retry-After: the first try is still running.
  const isWorthwhile =
    status === 429 ||
    (isRepeatable && (UNCERTAIN.has(status ?? code) || (status === 409 && retryAfter !== undefined)));
  if (!isWorthwhile) return undefined;
  if (retryAfter === undefined) {
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1)) * (0.5 + Math.random() / 2);
  }
  return retryAfter <= LONGEST_RETRY_AFTER_SECONDS ? retryAfter * 1000 * (1 + Math.random() / 4) : undefined;
}

/** Waits. @throws the signal's reason if it is aborted meanwhile */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** 128 random bits. `crypto.randomUUID` is missing in pages that were not loaded by HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** Node.js says "fetch failed" and has the reason in `cause`. */
function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}
