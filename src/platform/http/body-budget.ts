/**
 * Room for large bodies: memory for JSON, disk for uploads. Requests over the usual size come to 30 MB each, and a
 * hundred at once must not take the process down: together they may hold so much, and whoever comes on top is sent away
 * before its body is read.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { overloaded } from "../errors.ts";

/** Together, from the headers of each to the end of its answer. */
export const LARGE_BODIES_BYTES = 256 * 1024 * 1024;

/** Takes room for a request, given back when its connection or its answer ends. @throws ApiError with status 503 */
export type TakeRoom = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * @param most bytes of all large bodies together
 * @param small what costs nothing: the limit of usual bodies
 */
export function createBodyBudget(most: number, small: number): TakeRoom {
  let taken = 0;
  return (request, reply) => {
    const size = announcedSize(request);
    if (size <= small) return;
    if (taken + size > most) {
      throw overloaded("Too many large requests are being read at this moment: retry shortly");
    }
    taken += size;
    reply.raw.once("close", () => {
      taken -= size;
    });
  };
}

/** A body in chunks may become as large as the route allows. One that announces more than that is not read at all. */
function announcedSize({ headers, routeOptions }: FastifyRequest): number {
  const limit = routeOptions.bodyLimit;
  if (headers["transfer-encoding"] !== undefined) return limit;
  const length = Number(headers["content-length"] ?? 0);
  return length > limit ? 0 : length;
}
