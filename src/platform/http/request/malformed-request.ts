/**
 * Answers malformed requests before routing: bad request lines, too large headers, ambiguous hosts, timeouts. They get the
 * usual error envelope with a request id.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ApiError } from "#platform/errors.ts";
import { failure } from "#platform/http/response/envelope.ts";

/** How long a refused connection stays half open, so that the client can read the response. */
const LINGER_MS = 1_000;

/** Refused sockets. Further data is read and ignored, because a reset could destroy the response. */
const refused = new WeakSet<Socket>();

/** Answers on the socket, because there is no parsed request. */
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
 * Writes the last response of a connection directly to its socket, for data that Fastify has no request for. The connection
 * stays half open for a second, and further data is ignored.
 * @param status code and reason phrase of the status line
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

/** Answers 417 to any Expect but 100-continue, which Node.js handles (RFC 9110 section 10.1.1). */
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
 * Requires exactly one Host and a path, so that a proxy in front of us has understood the request in the same way (RFC 9112
 * section 3.2).
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
