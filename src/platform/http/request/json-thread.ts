/** The worker thread that parses large JSON bodies for json-reader.ts. */
import { isUtf8 } from "node:buffer";
import { parentPort } from "node:worker_threads";
import { ApiError, type FieldFault } from "#platform/errors.ts";
import { digestOf } from "#platform/http/idempotency/idempotency.ts";
import { NO_UTF8, parseJsonBody } from "./json-body.ts";

export interface JsonQuestion {
  readonly bytes: Uint8Array;
  /** Set if the request has an Idempotency-Key. */
  readonly wantsDigest: boolean;
}

export type JsonAnswer =
  | { readonly value: unknown; readonly digest: string | null }
  | { readonly refusal: string; readonly details: readonly FieldFault[] | undefined };

parentPort?.on("message", (question: JsonQuestion) => parentPort?.postMessage(answerTo(question)));

function answerTo({ bytes, wantsDigest }: JsonQuestion): JsonAnswer {
  try {
    if (!isUtf8(bytes)) return { refusal: NO_UTF8, details: undefined };
    const value = parseJsonBody(Buffer.from(bytes.buffer).toString("utf8"));
    return { value, digest: wantsDigest ? digestOf(value) : null };
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    return { refusal: fault.message, details: fault.details };
  }
}
