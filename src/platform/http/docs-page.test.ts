import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registerDocs } from "./docs-page.ts";

let server: FastifyInstance;
beforeAll(() => {
  server = Fastify();
  registerDocs(server);
});
afterAll(() => server.close());

describe("the reference page", () => {
  it("names nothing that is not ours, and forbids the browser to load it", async () => {
    const { statusCode, headers, body } = await server.inject("/docs");
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(body).not.toMatch(/(https?:)?\/\/\w/);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|\*/);
  });

  it("gets its scripts from here", async () => {
    const { body } = await server.inject("/docs");
    const scripts = [...body.matchAll(/src="([^"]+)"/g)].map(([, path]) => String(path));
    expect(scripts).toEqual(["/docs/scalar.js", "/docs/start.js"]);
    const [scalar, start] = await Promise.all(scripts.map((path) => server.inject(path)));
    expect(gunzipSync(scalar?.rawPayload ?? Buffer.alloc(0)).toString()).toContain("createApiReference");
    expect(start?.body).toMatch(/^Scalar\.createApiReference\("#app", \{"url":"\/api\/v1\/openapi\.json"/);
  });

  it("shows the committed document, for which no key is asked", async () => {
    const { statusCode, headers, body } = await server.inject("/api/v1/openapi.json");
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toContain("application/json");
    expect(body).toBe(await readFile(new URL("../../../openapi.json", import.meta.url), "utf8"));
  });
});
