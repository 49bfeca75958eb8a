/**
 * JSON bodies of requests. What is small is parsed at once; what is large, or has many elements, is parsed in a thread
 * beside the event loop, one body of each workspace at a time, so that the others are answered meanwhile.
 */
import { isUtf8 } from "node:buffer";
import type { FastifyRequest } from "fastify";
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import { ApiError, overloaded } from "#platform/errors.ts";
import { createSideThread, type SideThread } from "#platform/process/worker-thread.ts";
import { NO_UTF8, parseFewElements } from "./json-body.ts";
import type { JsonAnswer, JsonQuestion } from "./json-thread.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Of the body as it came, for its Idempotency-Key; null where it is still to be made (idempotency.ts). */
    bodyDigest: string | null;
  }
}

/** Up to both, parsing takes a few milliseconds, and less than handing the value over from a thread. */
const SMALL_BYTES = 256 * 1024;
const FEW_ELEMENTS = 2_000;
/** A body of 30 MB takes well under a second; the rest is for a busy machine. */
const THREAD = { deadlineMs: 30_000, heapMb: 512 };
const LINE = { concurrency: 1, maxWaiting: 200, maxWaitMs: 30_000 };

export class JsonReader {
  readonly #thread: SideThread<JsonQuestion, JsonAnswer> = createSideThread(
    new URL("json-thread.ts", import.meta.url),
    THREAD,
  );
  readonly #turns = createWorkspaceLimiter(
    LINE,
    "Too many large bodies of this workspace are being read: retry shortly",
  );

  /** The value of a request's body. @throws ApiError VALIDATION_ERROR; 503 when the thread has no time or memory for it */
  async read(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
    if (bytes.length <= SMALL_BYTES) {
      const parsed = parseFewElements(utf8Text(request, bytes), FEW_ELEMENTS);
      if (parsed !== undefined) return parsed.value;
    }
    requireUtf8Headers(request);
    return this.#turns(request.caller.workspaceId, () => this.#ask(request, bytes));
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #ask(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
    // Small buffers are parts of a pool, which cannot be moved.
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

/** @throws ApiError VALIDATION_ERROR for a body that is no UTF-8, or compressed */
export function utf8Text(request: FastifyRequest, bytes: Buffer): string {
  requireUtf8(request, bytes);
  return bytes.toString("utf8");
}

/** JSON is UTF-8 (RFC 8259 section 8.1). Compressed bodies are not taken: a small one may unpack to any size. */
function requireUtf8(request: FastifyRequest, bytes: Buffer): void {
  requireUtf8Headers(request);
  if (!isUtf8(bytes)) throw new ApiError("VALIDATION_ERROR", NO_UTF8);
}

/** What the headers say of the encoding. */
function requireUtf8Headers({ headers }: FastifyRequest): void {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    throw new ApiError("VALIDATION_ERROR", "Send the body as it is, without Content-Encoding");
  }
  if (/charset\s*=\s*"?(?!utf-?8\b)/i.test(headers["content-type"] ?? "")) {
    throw new ApiError("VALIDATION_ERROR", NO_UTF8);
  }
}
