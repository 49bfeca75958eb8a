/**
 * Responses before the body has arrived: errors for the path, method, key, permission, size or a limit. The response is
 * sent at once. Then the rest of the body is read and discarded, within limits, and the connection is closed: many
 * clients read a response only after they have sent everything, and would lose it to a connection reset. A short rest
 * is read by Node.js, and the connection stays open for the next request.
 */

import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { workspaceCaller } from "#platform/http/auth/caller.ts";
import { hasCome } from "./body-budget.ts";

/** Limits of what is discarded, for callers with a key. */
const DRAIN = { bytes: 64 * 1024 * 1024, ms: 10_000, idleMs: 250 };
/** Bytes that are discarded for callers without a key. */
const ANONYMOUS_BYTES = 8 * 1024 * 1024;
/** After a body of up to this size, the connection stays open. */
const LITTLE_BYTES = 16 * 1024;
/** How long the rest of a body is discarded that stalled, or that was refused because the service is stopping. */
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

/** Whether the headers announce a body, even an empty one. */
export function announcesBody({ headers }: FastifyRequest): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

/** Whether the headers announce a body with more than the two octets of an empty object, which some clients always send. */
export function announcesFields({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > "{}".length;
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
  const caller = workspaceCaller(request.caller);
  const most = caller === undefined ? ANONYMOUS_BYTES : DRAIN.bytes;
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
