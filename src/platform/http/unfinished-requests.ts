/**
 * What has not come whole when a stop begins is not waited for: nobody was promised anything yet, and a client that has
 * fallen silent would hold up the stop until the end by force. A request whose body is under way is answered 503, and a
 * connection whose headers are is closed.
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
  const betweenRequests = new Set<Socket>();
  let isStopping = false;

  server.decorateRequest("refusal", null);
  server.server.on("connection", (socket) => {
    betweenRequests.add(socket);
    socket.once("close", () => betweenRequests.delete(socket));
  });
  server.server.on("request", ({ socket }, response) => {
    betweenRequests.delete(socket);
    response.once("close", () => {
      if (!socket.destroyed) betweenRequests.add(socket);
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
    for (const socket of betweenRequests) socket.destroy();
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
