/** CORS headers for the origins in CORS_ORIGINS; none by default, because an API key does not belong in a web page. */
import type { FastifyInstance } from "fastify";

const PREFLIGHT_SECONDS = "600";

export function allowOrigins(api: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  api.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    reply.header("Vary", "Origin");
    if (origin === undefined || !origins.includes(origin)) return;
    reply.headers({
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers":
        "ETag, X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset",
    });
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined)
      return;
    return reply
      .headers({
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers": "Content-Type, X-API-Key, Idempotency-Key, If-Match, X-Request-Id",
        "Access-Control-Max-Age": PREFLIGHT_SECONDS,
      })
      .code(204)
      .send();
  });
}
