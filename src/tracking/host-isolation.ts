/**
 * Tracking domains lead to this service, but not into it: by such a host people get tracking and nothing else, neither
 * the API nor other pages, which browsers would take for the customer's own.
 */
import { isIP } from "node:net";
import type { FastifyInstance } from "fastify";
import { AsyncCache } from "#platform/cache.ts";
import { notFound } from "#platform/errors.ts";
import { paths } from "./tokens.ts";

const KNOWN_MS = 30_000;
const MOST_KNOWN = 10_000;
/** RFC 1035 section 2.3.4, as text. */
const LONGEST_NAME = 253;
const tracking = Object.values(paths);

/**
 * @param ownHosts answered without a question
 * @param isTrackingDomain in lower case
 */
export function isolateTrackingHosts(
  server: FastifyInstance,
  ownHosts: readonly string[],
  isTrackingDomain: (host: string) => Promise<boolean>,
): void {
  const own = new Set(["localhost", "", ...ownHosts]);
  const answers = new AsyncCache<boolean>({ ms: KNOWN_MS, most: MOST_KNOWN });
  server.addHook("onRequest", async (request) => {
    const host = request.hostname?.toLowerCase().replace(/\.$/, "") ?? "";
    if (own.has(host) || isIP(host) !== 0 || host.startsWith("[")) return;
    if (tracking.some((path) => request.url.startsWith(path))) return;
    // A name that is too long is nobody's. Where the database is away the health of the process can still be asked.
    if (host.length > LONGEST_NAME) return;
    if (await answers.get(host, () => isTrackingDomain(host)).catch(() => false)) throw notFound("Page");
  });
}
