/**
 * Restricts the hosts of tracking domains to the tracking pages and the pictures of mail. The API and other pages are
 * not served there, because a browser would take them for pages of the customer.
 */
import { isIP } from "node:net";
import type { FastifyInstance } from "fastify";
import { AsyncCache } from "#platform/cache.ts";
import { notFound } from "#platform/errors.ts";
import { paths } from "./link-tokens.ts";

const KNOWN_MS = 30_000;
const MOST_KNOWN = 10_000;
/** RFC 1035 section 2.3.4, in characters. */
const LONGEST_HOST = 253;

/**
 * @param ownHosts hosts of the service, which are not looked up
 * @param alsoServed prefixes of further paths that tracking domains serve
 * @param isTrackingDomain called with the host in lower case
 */
export function isolateTrackingHosts(
  server: FastifyInstance,
  { ownHosts, alsoServed }: { readonly ownHosts: readonly string[]; readonly alsoServed: readonly string[] },
  isTrackingDomain: (host: string) => Promise<boolean>,
): void {
  const own = new Set(["localhost", "", ...ownHosts]);
  const served = [...Object.values(paths), ...alsoServed];
  const answers = new AsyncCache<boolean>({ ms: KNOWN_MS, most: MOST_KNOWN });
  server.addHook("onRequest", async (request) => {
    const host = request.hostname?.toLowerCase().replace(/\.$/, "") ?? "";
    if (own.has(host) || isIP(host) !== 0 || host.startsWith("[")) return;
    if (served.some((path) => request.url.startsWith(path))) return;
    // No domain has a longer name. When the look-up fails, the request continues, so that /healthz works without the
    // database.
    if (host.length > LONGEST_HOST) return;
    if (await answers.get(host, () => isTrackingDomain(host)).catch(() => false)) throw notFound("Page");
  });
}
