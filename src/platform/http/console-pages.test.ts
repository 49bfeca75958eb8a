import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConsoleBuild } from "#platform/console/console-build.ts";
import { registerConsole } from "./console-pages.ts";
import { registerHome } from "./home-page.ts";

const script = "export const a = 1;";
let checkout: string;

async function serve(folder: string): Promise<FastifyInstance> {
  const server = Fastify();
  registerConsole(server, new ConsoleBuild(`${folder}/`));
  registerHome(server, { hasInbox: true });
  afterAll(() => server.close());
  return server;
}

beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), "console-pages-"));
  afterAll(() => rm(checkout, { recursive: true, force: true }));
  const files: [string, string | Buffer][] = [
    ["index.html", '<script nonce="__NONCE__"></script><link nonce="__NONCE__">'],
    ["icon.svg", "<svg/>"],
    ["assets/main-1a2b.js", script],
    ["assets/main-1a2b.js.gz", gzipSync(script)],
    ["assets/main-1a2b.js.br", brotliCompressSync(script)],
  ];
  await mkdir(join(checkout, "console/dist/assets"), { recursive: true });
  for (const [name, content] of files) await writeFile(join(checkout, "console/dist", name), content);
});

describe("the console's page", () => {
  test.each(["/console", "/console/", "/console/sign-in", "/console/019a/people?page=2"])(
    "is at %s, never kept, with a nonce that no other answer has",
    async (url) => {
      const server = await serve(checkout);
      const [one, other] = await Promise.all([server.inject(url), server.inject(url)]);
      const nonce = /'nonce-([\w-]{22})'/.exec(String(one.headers["content-security-policy"]))?.[1];
      expect(one.statusCode).toBe(200);
      expect(one.headers["cache-control"]).toBe("no-store");
      expect(one.body).toBe(`<script nonce="${nonce}"></script><link nonce="${nonce}">`);
      expect(other.body).not.toBe(one.body);
    },
  );

  test("may run its own scripts only, and may not be framed", async () => {
    const { headers } = await (await serve(checkout)).inject("/console");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'nonce-[\w-]+';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers).toMatchObject({ "x-frame-options": "DENY", "x-content-type-options": "nosniff" });
  });

  test("answers HEAD without a body", async () => {
    const { statusCode, body, headers } = await (await serve(checkout)).inject({
      method: "HEAD",
      url: "/console",
    });
    expect([statusCode, body]).toEqual([200, ""]);
    expect(headers["content-type"]).toContain("text/html");
  });
});

describe("a file of the console", () => {
  test.each([
    ["br", "br"],
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["identity", undefined],
  ])("is sent to a client that accepts %s as %s, and kept for a year", async (accepted, encoding) => {
    const { statusCode, headers, rawPayload } = await (await serve(checkout)).inject({
      url: "/console/assets/main-1a2b.js",
      headers: { "accept-encoding": accepted },
    });
    expect([statusCode, headers["content-encoding"]]).toEqual([200, encoding]);
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(headers["content-type"]).toContain("javascript");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    if (encoding === "gzip") expect(gunzipSync(rawPayload).toString()).toBe(script);
  });

  test.each(["/console/assets/other-1a2b.js", "/console/assets/", "/console/assets/..%2findex.html"])(
    "is not the page where it does not exist: %s",
    async (url) => {
      const { statusCode, body } = await (await serve(checkout)).inject(url);
      expect(statusCode).toBeGreaterThanOrEqual(400);
      expect(statusCode).toBeLessThan(500);
      expect(body).not.toContain("<script");
    },
  );

  test("answers HEAD", async () => {
    const { statusCode, body } = await (await serve(checkout)).inject({
      method: "HEAD",
      url: "/console/assets/main-1a2b.js",
    });
    expect([statusCode, body]).toEqual([200, ""]);
  });
});

describe("without a build", () => {
  test("the page says what to do, and files are missing", async () => {
    const server = await serve(join(checkout, "empty"));
    const { statusCode, body, headers } = await server.inject("/console");
    expect([statusCode, headers.refresh]).toEqual([503, undefined]);
    expect(body).toContain("npm ci");
    expect((await server.inject("/console/icon.svg")).statusCode).toBe(404);
    expect((await server.inject("/console/assets/main-1a2b.js")).statusCode).toBe(404);
  });

  test("the page opens by itself when the build under way has ended", async () => {
    const folder = join(checkout, "building");
    await mkdir(join(folder, "console/.build"), { recursive: true });
    await symlink(String(process.pid), join(folder, "console/.build/lock"));
    const server = await serve(folder);
    const { statusCode, body, headers } = await server.inject("/console");
    expect([statusCode, headers.refresh]).toEqual([503, "2"]);
    expect(body).toContain("is being built");
    await mkdir(join(folder, "console/dist"));
    await writeFile(join(folder, "console/dist/index.html"), "built");
    expect((await server.inject("/console")).body).toBe("built");
  });
});

describe("/", () => {
  test("leads a browser to the console", async () => {
    const { statusCode, headers } = await (await serve(checkout)).inject({
      url: "/",
      headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    });
    expect([statusCode, headers.location, headers.vary]).toEqual([302, "/console", "Accept"]);
  });

  test.each([undefined, "*/*", "application/json"])(
    "is a page for callers that accept %s",
    async (accept) => {
      const { statusCode, body, headers } = await (await serve(checkout)).inject({
        url: "/",
        headers: { ...(accept && { accept }) },
      });
      expect([statusCode, headers.vary]).toEqual([200, "Accept"]);
      expect(body).toContain('<a href="/console">');
    },
  );
});
