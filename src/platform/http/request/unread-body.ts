/**
 * Answers that are given before the body has come: refusals by path, method, key or permission, by size, by a limit. The
 * answer goes out at once. Then what the client still sends is read and forgotten, within bounds, because many clients
 * look at an answer only when they have sent everything, and would find a reset connection; then the connection is closed.
 * Where little is left to come, Node.js reads it and the connection stays open for the next request.
 */

import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "#platform/http/auth/caller.ts";
import { hasCome } from "./body-budget.ts";

/** What is read and forgotten at the most, of callers with a key. */
const DRAIN = { bytes: 64 * 1024 * 1024, ms: 10_000, idleMs: 250 };
/** The same of all others. */
const STRANGERS_BYTES = 8 * 1024 * 1024;
/** A body of no more bytes does not cost its client the connection. */
const LITTLE_BYTES = 16 * 1024;
/** How long a request is drained whose body was given up, because it stalled or the service is stopping. */
const GIVEN_UP_MS = 1_000;

export function answerBeforeBodies(server: FastifyInstance): void {
  server.addHook("onSend", (request, reply, payload: unknown, done) => {
    if (hasCome(request) || leavesLittle(request)) return done(null, payload);
    reply.header("Connection", "close");
    const isText = typeof payload === "string" && payload !== "" && request.method !== "HEAD";
    if (!isText) return done(null, payload);
    reply.header("Content-Length", Buffer.byteLength(payload));
    done(null, Readable.from(answerAndDrain(payload, request), { objectMode: false }));
  });
}

/** The headers announce a body, be it of no byte. */
export function announcesBody({ headers }: FastifyRequest): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

function leavesLittle({ headers, refusal }: FastifyRequest): boolean {
  if (refusal !== null || headers["transfer-encoding"] !== undefined) return false;
  return Number(headers["content-length"] ?? 0) <= LITTLE_BYTES;
}

async function* answerAndDrain(answer: string, request: FastifyRequest): AsyncGenerator<Buffer> {
  yield Buffer.from(answer);
  await drain(request);
}

function drain(request: FastifyRequest): Promise<void> {
  const { raw, refusal } = request;
  const caller = request.caller as Caller | undefined;
  const most = caller === undefined ? STRANGERS_BYTES : DRAIN.bytes;
  const { promise, resolve } = Promise.withResolvers<void>();
  if (raw.readableEnded || raw.destroyed) resolve();
  let bytes = 0;
  const idle = setTimeout(resolve, DRAIN.idleMs);
  const late = setTimeout(resolve, refusal === null ? DRAIN.ms : GIVEN_UP_MS);
  raw.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > most) resolve();
    else idle.refresh();
  });
  raw.once("end", resolve).once("close", resolve).once("error", resolve);
  raw.resume();
  return promise.finally(() => {
    clearTimeout(idle);
    clearTimeout(late);
  });
}
