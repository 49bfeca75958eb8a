import type { FastifyInstance } from "fastify";
import { PIXEL_ENDING, paths } from "./tokens.ts";
import {
  engagementOf,
  mailOf,
  recorded,
  type TokenPath,
  type TrackingDeps,
  uncached,
} from "./tracking-deps.ts";
import { sendInvalidLink } from "./unsubscribe-page.ts";

/** 1×1, transparent. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/** The open pixel: records an open. */
export function registerOpenRoute(pages: FastifyInstance, deps: TrackingDeps): void {
  pages.get<TokenPath>(`${paths.open}*`, async (request, reply) => {
    const rest = request.params["*"];
    const mail = rest.endsWith(PIXEL_ENDING)
      ? mailOf(deps, rest.slice(0, -PIXEL_ENDING.length), "open")
      : null;
    if (mail === null) return sendInvalidLink(reply);
    await recorded(deps.recorder.record(engagementOf(deps, request, mail, "opened")));
    return reply.headers(uncached).type("image/gif").send(PIXEL);
  });
}
