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
  it("loads nothing from elsewhere, and its policy forbids it", async () => {
    const { statusCode, headers, body } = await server.inject("/docs");
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(body).not.toMatch(/(https?:)?\/\/\w/);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|\*/);
  });

  it("loads its scripts from this server", async () => {
    const { body } = await server.inject("/docs");
    const scripts = [...body.matchAll(/src="([^"]+)"/g)].map(([, path]) => String(path));
    expect(scripts).toEqual(["/docs/scalar.js", "/docs/start.js"]);
    const [scalar, start] = await Promise.all(scripts.map((path) => server.inject(path)));
    expect(gunzipSync(scalar?.rawPayload ?? Buffer.alloc(0)).toString()).toContain("createApiReference");
    expect(start?.body).toMatch(/^Scalar\.createApiReference\("#app", \{"url":"\/api\/v1\/openapi\.json"/);
  });

  it("shows the committed document, which needs no key", async () => {
    const { statusCode, headers, body } = await server.inject("/api/v1/openapi.json");
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toContain("application/json");
    expect(body).toBe(await readFile(new URL("../../../openapi.json", import.meta.url), "utf8"));
  });

  it.each([
    ["gzip", true],
    ["br, gzip;q=0.5", true],
    ["*", true],
    ["gzip;q=0, br", false],
    ["identity", false],
  ])("sends the document in the form that Accept-Encoding: %s asks for", async (accepted, isCompressed) => {
    const { headers, rawPayload } = await server.inject({
      url: "/api/v1/openapi.json",
      headers: { "accept-encoding": accepted },
    });
    expect(headers["content-encoding"]).toBe(isCompressed ? "gzip" : undefined);
    expect(headers.vary).toBe("Accept-Encoding");
    expect(headers["content-length"]).toBe(String(rawPayload.length));
    const plain = isCompressed ? gunzipSync(rawPayload) : rawPayload;
    expect(JSON.parse(plain.toString()).openapi).toBe("3.1.0");
  });

  it.each(["/api/v1/openapi.json", "/docs/scalar.js"])(
    "sends %s no second time to a client that has it",
    async (url) => {
      const { etag } = (await server.inject(url)).headers;
      for (const known of [String(etag), `"other", W/${etag}`, "*"]) {
        const { statusCode, body } = await server.inject({ url, headers: { "if-none-match": known } });
        expect([statusCode, body]).toEqual([304, ""]);
      }
      const changed = await server.inject({ url, headers: { "if-none-match": '"other"' } });
      expect(changed.statusCode).toBe(200);
    },
  );
});
