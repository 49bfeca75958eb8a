/** Answers 405 with `Allow` (RFC 9110 section 15.5.6) on every path that has a route, for all other methods. */
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { ApiError } from "#platform/errors.ts";
import { html, sendPage } from "./response/html-page.ts";

const methods = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
] as const satisfies HTTPMethods[];
const known: ReadonlySet<string> = new Set(methods);
/** A method without any route, so every path answers it with 405. */
const UNTAKEN = "TRACE" satisfies HTTPMethods;

/** The methods of one path, and the scope of its first route, whose hooks run before the 405. */
interface Taken {
  readonly scope: FastifyInstance;
  readonly path: string;
  readonly used: Set<string>;
}

/**
 * Records all routes that are added from now on.
 * @param apiPrefix paths below it get the error envelope, others an HTML page
 * @returns a function that adds the 405 routes; call it when all other routes are added
 */
export function watchMethods(server: FastifyInstance, apiPrefix: string): () => void {
  refuseUnroutable(server);
  const taken = new Map<string, Taken>();
  server.addHook("onRoute", function note({ url, routePath, method }) {
    const entry = taken.get(url) ?? { scope: this, path: routePath, used: new Set() };
    for (const one of [method].flat()) entry.used.add(one);
    taken.set(url, entry);
  });
  return () => {
    // Copied, because the routes that are added here are recorded, too.
    for (const [url, { scope, path, used }] of Array.from(taken)) {
      const allow = [...used].sort().join(", ");
      const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
        if (!url.startsWith(`${apiPrefix}/`)) return sendWrongMethod(reply, allow);
        throw new ApiError("METHOD_NOT_ALLOWED", `Use ${allow} on this path`, { headers: { Allow: allow } });
      };
      // In onRequest, so that the body is not read.
      const method = methods.filter((one) => !used.has(one));
      scope.route({ method, url: path, onRequest: refuse, handler: refuse });
    }
  };
}

/**
 * Treats methods that Node.js parses and no route uses (PROPFIND, QUERY) like TRACE. Routes for all of them would take
 * 7 MB in each process.
 */
function refuseUnroutable({ server }: FastifyInstance): void {
  server.prependListener("request", (request: IncomingMessage) => {
    if (!known.has(request.method ?? "")) request.method = UNTAKEN;
  });
}

function sendWrongMethod(reply: FastifyReply, allow: string): FastifyReply {
  return sendPage(
    reply.header("Allow", allow),
    405,
    "Method not allowed",
    html`<p>This address accepts only ${allow}.</p>`,
  );
}
