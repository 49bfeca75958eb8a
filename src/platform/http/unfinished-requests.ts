/**
 * What has not come whole when a stop begins is not waited for: nobody was promised anything yet, and a client that has
 * fallen silent would hold up the stop until the end by force. A request whose body is under way is answered 503, and a
 * connection whose headers are is closed. What has come whole is answered, and its connection ends with the last answer.
 */
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Why the rest of the body is not read any more. */
    refusal: ApiError | null;
  }
}

export function refuseUnfinishedRequests(server: FastifyInstance): void {
  const reading = new Set<FastifyRequest>();
  /** How many requests of each connection are not answered: one may bring the next before (RFC 9112 section 9.3.2). */
  const unanswered = new Map<Socket, number>();
  let isStopping = false;

  server.decorateRequest("refusal", null);
  server.server.on("connection", (socket) => {
    unanswered.set(socket, 0);
    socket.once("close", () => unanswered.delete(socket));
  });
  server.server.on("request", ({ socket }, response) => {
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1);
    response.once("close", () => {
      if (socket.destroyed) return;
      const others = (unanswered.get(socket) ?? 1) - 1;
      unanswered.set(socket, others);
      if (isStopping && others === 0) socket.destroySoon();
    });
  });
  server.addHook("preParsing", async (request) => {
    const { raw } = request;
    if (raw.complete) return;
    if (isStopping) throw refusal();
    reading.add(request);
    const isOver = () => reading.delete(request);
    raw.once("end", isOver).once("close", isOver);
  });
  server.addHook("preClose", async () => {
    isStopping = true;
    for (const [socket, requests] of unanswered) {
      if (requests === 0) socket.destroy();
    }
    for (const request of reading) {
      if (request.raw.complete) continue;
      request.refusal = refusal();
      // Whoever parses the body hears of it as of a connection that broke, except that this one can still be answered.
      if (request.raw.listenerCount("error") > 0) request.raw.emit("error", request.refusal);
    }
  });
}

function refusal(): ApiError {
  return new ApiError(
    "INTERNAL_ERROR",
    "The service is stopping and has not read the request: send it again",
    {
      status: 503,
      headers: { "Retry-After": "1", Connection: "close" },
    },
  );
}
