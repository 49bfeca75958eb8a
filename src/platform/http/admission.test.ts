/** Checks of a request before its endpoint: the rate limit of its source, and CORS. */
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { type BareServer, insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { createRateLimiter } from "./auth/rate-limit.ts";
import { endpoint } from "./endpoint.ts";

const database = await testDatabase();
const endpoints = [
  endpoint({
    id: "listThings",
    method: "GET",
    path: "/things",
    summary: "Things",
    needs: "authenticated",
    answer: Type.Array(Type.String()),
    message: "Things",
    handle: async () => [],
  }),
];

describe("the rate limit", () => {
  const limited = (trustedProxies: string[] = []) =>
    startBareServer(database, endpoints, {
      trustedProxies,
      rateLimiter: createRateLimiter({
        limit: { perSecond: 1, burst: 3 },
        redisUrl: null,
        monotonicMs: () => 0,
        log: createLog("silent"),
      }),
    });

  it("comes before the key, and holds for every path", async () => {
    const server = await limited();
    const ok = await server.call("GET", "/things", server.newKey(await insertBareWorkspace(database)));
    expect(ok.headers.get("ratelimit-remaining")).toBe("2");
    const denied = await server.call("GET", "/things", null);
    expect([denied.status, denied.headers.get("ratelimit-remaining")]).toEqual([401, "1"]);
    await server.call("GET", "/nowhere", null);
    const { status, body, headers } = await server.call("GET", "/things", null);
    expect([status, body.code]).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
    expect(headers.get("retry-after")).toBe("1");
    expect(headers.get("ratelimit-limit")).toBe("3");
    expect((await fetch(`${server.url}/nowhere`)).status).toBe(429);
  });

  it("trusts X-Forwarded-For of trusted proxies only", async () => {
    const statusFrom = async (server: BareServer, address: string) =>
      (await server.call("GET", "/things", null, undefined, { "X-Forwarded-For": address })).status;
    const alone = await limited();
    const spoofed = [1, 2, 3, 4].map((last) => statusFrom(alone, `192.0.2.${last}`));
    expect((await Promise.all(spoofed)).toSorted((a, b) => a - b)).toEqual([401, 401, 401, 429]);
    const behind = await limited(["127.0.0.0/8"]);
    const forwarded = [1, 2, 3, 4].map((last) => statusFrom(behind, `192.0.2.${last}`));
    expect(await Promise.all(forwarded)).toEqual([401, 401, 401, 401]);
    const hidden = [1, 2, 3].map((first) => statusFrom(behind, `198.51.100.${first}, 192.0.2.1`));
    expect((await Promise.all(hidden)).toSorted((a, b) => a - b)).toEqual([401, 401, 429]);
  });
});

describe("CORS", () => {
  const preflight = { Origin: "https://app.example.test", "Access-Control-Request-Method": "POST" };

  it("is off unless origins are listed", async () => {
    const closed = await startBareServer(database, endpoints);
    const { status, headers } = await closed.call("OPTIONS", "/things", null, undefined, preflight);
    expect([status, headers.get("access-control-allow-origin")]).toEqual([401, null]);
  });

  it("answers preflights of listed origins without a key, and of no others", async () => {
    const open = await startBareServer(database, endpoints, { corsOrigins: ["https://app.example.test"] });
    const listed = await open.call("OPTIONS", "/things", null, undefined, preflight);
    expect(listed.status).toBe(204);
    expect(listed.headers.get("access-control-allow-origin")).toBe("https://app.example.test");
    expect(listed.headers.get("access-control-allow-headers")).toContain("X-API-Key");
    const other = await open.call("OPTIONS", "/things", null, undefined, {
      ...preflight,
      Origin: "https://evil.example.test",
    });
    expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([401, null]);
  });
});
