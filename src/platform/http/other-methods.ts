/** 405 with `Allow` (RFC 9110 section 15.5.6) on every path that has a route, for the methods it has none for. */
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { ApiError } from "#platform/errors.ts";
import { html, sendPage } from "./response/page.ts";

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
/** No path takes it, so every path refuses it. */
const UNTAKEN = "TRACE" satisfies HTTPMethods;

/** Routes of one path: what they take, and the scope of the first, whose hooks come before a refusal. */
interface Taken {
  readonly scope: FastifyInstance;
  readonly path: string;
  readonly used: Set<string>;
}

/**
 * Takes note of all routes that are added from now on; what it returns refuses the other methods of their paths, and is
 * called when all are there.
 * @param apiPrefix below it a refusal is in the contract's envelope, elsewhere a page
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
    // A copy: the routes that are added here are taken note of, too.
    for (const [url, { scope, path, used }] of Array.from(taken)) {
      const allow = [...used].sort().join(", ");
      const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
        if (!url.startsWith(`${apiPrefix}/`)) return sendWrongMethod(reply, allow);
        throw new ApiError("METHOD_NOT_ALLOWED", `Use ${allow} on this path`, { headers: { Allow: allow } });
      };
      // Refused before the body is read: what it holds is of no interest.
      const method = methods.filter((one) => !used.has(one));
      scope.route({ method, url: path, onRequest: refuse, handler: refuse });
    }
  };
}

/**
 * Methods that Node.js reads and nobody here routes (PROPFIND, QUERY) are refused as one that is: routes for all of them
 * would take 7 MB in each process.
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
    "This address takes no such request",
    html`<p>It takes no other requests than ${allow}.</p>`,
  );
}
