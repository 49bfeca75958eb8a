/**
 * The pages behind the links in mails, outside /api/v1 and on every host: the open pixel, tracked links, unsubscribing and
 * the web view. The token in the address is the permission: no API key is needed, and no cookie is set or read. An invalid
 * token is answered with 404 and a page for people.
 *
 * Programs fetch the links in mails, so GET and HEAD never change anything for the recipient. Only POST unsubscribes,
 * sent by a person's button or by a mail program (one-click, RFC 8058).
 */
import type { FastifyInstance } from "fastify";
import { ApiError } from "#platform/errors.ts";
import { takeBodies } from "#platform/http/request/read-body.ts";
import { sendRecipientErrorPage } from "#workspace/recipient-pages/recipient-page.ts";
import { registerClickRoute } from "./click-route.ts";
import { PIXEL_ENDING, paths } from "./link-tokens.ts";
import {
  engagementOf,
  mailOf,
  recorded,
  type TokenPath,
  type TrackingDeps,
  uncached,
} from "./tracking-deps.ts";
import { sendInvalidLink, sendTryAgain } from "./unsubscribe-page.ts";
import { registerUnsubscribeRoutes } from "./unsubscribe-route.ts";
import { registerViewRoute } from "./view-route.ts";

/** 1×1, transparent. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
/** A one-click form is one line. */
const FORM_BYTES = 4_096;

export function registerTrackingPages(server: FastifyInstance, deps: TrackingDeps): void {
  server.register(async (pages) => {
    takeBodies(pages, "*", (body) => body.toString(), FORM_BYTES);
    pages.setErrorHandler((error, request, reply) => {
      if (error instanceof ApiError || (error instanceof Error && "statusCode" in error)) {
        return sendRecipientErrorPage(error, request, reply);
      }
      request.log.error({ err: error, request_id: request.id }, "tracking page failed");
      return sendTryAgain(reply);
    });
    for (const path of Object.values(paths)) answerBarePath(pages, path);
    registerOpenRoute(pages, deps);
    registerClickRoute(pages, deps);
    registerUnsubscribeRoutes(pages, deps);
    registerViewRoute(pages, deps);
  });
}

/** The open pixel: records an open. */
function registerOpenRoute(pages: FastifyInstance, deps: TrackingDeps): void {
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

/** The path without a token, which a wildcard route does not match. */
function answerBarePath(pages: FastifyInstance, path: string): void {
  const method = path === paths.unsubscribe ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"];
  pages.route({ method, url: path, handler: async (_request, reply) => sendInvalidLink(reply) });
}
