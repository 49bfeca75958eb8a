/**
 * Reads the JSON bodies of requests. Small ones are parsed at once; large ones, and those with many elements, are parsed in a
 * worker thread, one of each workspace at a time, so that the event loop is not blocked.
 */
import { isUtf8 } from "node:buffer";
import type { FastifyRequest } from "fastify";
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import { ApiError, overloaded } from "#platform/errors.ts";
import { workspaceCaller } from "#platform/http/auth/caller.ts";
import { networkOf } from "#platform/http/auth/source-network.ts";
import { createWorkerThread, type WorkerThread } from "#platform/process/worker-thread.ts";
import { NO_UTF8, parseFewElements } from "./json-body.ts";
import type { JsonAnswer, JsonQuestion } from "./json-thread.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Digest of the body for its Idempotency-Key, if the thread has computed it; otherwise null. */
    bodyDigest: string | null;
  }
}

/** Within both limits, parsing takes a few milliseconds, less than copying the value from a thread. */
const SMALL_BYTES = 256 * 1024;
const FEW_ELEMENTS = 2_000;
/** A body of 30 MB takes well under a second; the deadline allows for a busy machine. */
const THREAD = { deadlineMs: 30_000, heapMb: 512 };
const LINE = { concurrency: 1, maxWaiting: 200, maxWaitMs: 30_000 };

export class JsonReader {
  readonly #thread: WorkerThread<JsonQuestion, JsonAnswer> = createWorkerThread(
    new URL("json-thread.ts", import.meta.url),
    THREAD,
  );
  readonly #turns = createWorkspaceLimiter(
    LINE,
    "Too many large bodies of this workspace are being read: retry shortly",
  );

  /** The parsed body. @throws ApiError VALIDATION_ERROR; 503 if the thread runs out of time or memory */
  async read(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
    if (bytes.length <= SMALL_BYTES) {
      const parsed = parseFewElements(utf8Text(request, bytes), FEW_ELEMENTS);
      if (parsed !== undefined) return parsed.value;
    }
    requireUtf8Headers(request);
    return this.#turns(workspaceCaller(request.caller)?.workspaceId ?? networkOf(request.ip), () =>
      this.#ask(request, bytes),
    );
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #ask(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
    // Only a buffer with its own memory can be transferred; small ones share a pool.
    const own = bytes.buffer.byteLength === bytes.length ? bytes : new Uint8Array(bytes);
    const wantsDigest = request.headers["idempotency-key"] !== undefined;
    const asked = await this.#thread.ask({ bytes: own, wantsDigest }, [own.buffer as ArrayBuffer]);
    if (!asked.ok) throw overloaded("The service is too busy to read a body of this size: retry shortly");
    if ("value" in asked.answer) {
      request.bodyDigest = asked.answer.digest;
      return asked.answer.value;
    }
    const { refusal, details } = asked.answer;
    throw new ApiError("VALIDATION_ERROR", refusal, details && { details });
  }
}

/** @throws ApiError VALIDATION_ERROR if the body is not UTF-8, or is compressed */
export function utf8Text(request: FastifyRequest, bytes: Buffer): string {
  requireUtf8(request, bytes);
  return bytes.toString("utf8");
}

/** JSON is UTF-8 (RFC 8259 section 8.1). Compressed bodies are refused, because a small one may expand to any size. */
function requireUtf8(request: FastifyRequest, bytes: Buffer): void {
  requireUtf8Headers(request);
  if (!isUtf8(bytes)) throw new ApiError("VALIDATION_ERROR", NO_UTF8);
}

/** Checks Content-Encoding and the charset. */
function requireUtf8Headers({ headers }: FastifyRequest): void {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    throw new ApiError("VALIDATION_ERROR", "Send the body uncompressed, without Content-Encoding");
  }
  if (/charset\s*=\s*"?(?!utf-?8\b)/i.test(headers["content-type"] ?? "")) {
    throw new ApiError("VALIDATION_ERROR", NO_UTF8);
  }
}
