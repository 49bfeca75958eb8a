/**
 * What is wrong before there is a request to route: bad request lines, header floods, ambiguous hosts, timeouts. All of
 * it is answered in the contract's envelope, with a request id.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ApiError } from "#platform/errors.ts";
import { failure } from "#platform/http/response/envelope.ts";

/** How long a refused connection stays half open, for the other side to read why. */
const LINGER_MS = 1_000;

/** What else comes on their sockets is malformed as well: read and forgotten, so that the answer is not lost to a reset. */
const refused = new WeakSet<Socket>();

/** Answers on the bare socket, for there is no request. */
export function refuseMalformedHttp(error: Error & { code?: string }, socket: Socket): void {
  if (refused.has(socket) && error.code !== "ECONNRESET") return;
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  const why = new ApiError("VALIDATION_ERROR", sentenceFor(error.code));
  refuseOnSocket(socket, isLate ? "408 Request Timeout" : "400 Bad Request", why);
}

/**
 * The last answer of a connection, where there is no request that Fastify could answer. The connection stays half open for
 * a second, and what comes on it is not looked at.
 * @param status with its words, for the status line
 */
export function refuseOnSocket(socket: Socket, status: string, why: ApiError): void {
  refused.add(socket);
  const body = JSON.stringify(failure(why));
  const headers = {
    ...why.headers,
    Connection: "close",
    "X-Request-Id": randomUUID(),
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function sentenceFor(code: string | undefined): string {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "The request took too long to arrive";
  if (code === "HPE_HEADER_OVERFLOW") return "The request's path and headers are too large";
  return "Malformed HTTP request";
}

/** `Expect: 100-continue` is answered by Node.js; nothing else may be expected (RFC 9110 section 10.1.1). */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(failure(new ApiError("VALIDATION_ERROR", "Expect may only be 100-continue")));
  response
    .writeHead(417, {
      "Content-Type": "application/json; charset=utf-8",
      "X-Request-Id": randomUUID(),
      "Content-Length": Buffer.byteLength(body),
      Connection: "close",
    })
    .end(body);
}

/**
 * One Host and a path: whoever stands in front of us must have read the same request (RFC 9112 section 3.2).
 * @throws ApiError VALIDATION_ERROR
 */
export function requirePlainRequest({ rawHeaders, url = "" }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts !== 1) throw new ApiError("VALIDATION_ERROR", "Send exactly one Host header");
  if (!url.startsWith("/")) throw new ApiError("VALIDATION_ERROR", "Send the path only, not a whole URL");
}
