import { expect, test } from "vitest";
import { createRateLimiter } from "#platform/http/auth/rate-limit.ts";
import { createLog } from "#platform/log/log.ts";
import { startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { sendErrorPage } from "./error-page.ts";
import { html, sendPage } from "./html-page.ts";

const server = await startBareServer(await testDatabase(), [], {
  rateLimiter: createRateLimiter({
    limit: { perSecond: 1, burst: 3 },
    redisUrl: null,
    monotonicMs: () => 0,
    log: createLog("silent"),
  }),
  pages: (root) => {
    root.register(async (pages) => {
      pages.setErrorHandler(sendErrorPage);
      pages.addContentTypeParser("*", { parseAs: "string", bodyLimit: 100 }, async () => null);
      pages.post("/page", (_request, reply) => sendPage(reply, 200, "Hello", html`<p>Hello</p>`));
      pages.get("/broken", () => {
        throw new Error("a programmer's fault");
      });
    });
  },
});

test("pages answer 413 and 429 as a page, and other errors like the rest", async () => {
  const post = (body: string) =>
    fetch(`${server.url}/page`, { method: "POST", body, headers: { "Content-Type": "text/plain" } });
  expect((await post("short")).status).toBe(200);
  const tooLong = await post("x".repeat(101));
  expect([tooLong.status, tooLong.headers.get("content-type"), await tooLong.text()]).toEqual([
    413,
    "text/html; charset=utf-8",
    expect.stringContaining("<h1>Too large</h1>"),
  ]);
  const broken = await fetch(`${server.url}/broken`);
  expect([broken.status, await broken.json()]).toMatchObject([500, { code: "INTERNAL_ERROR" }]);
  const tooMany = await post("short");
  expect([tooMany.status, tooMany.headers.get("content-type"), tooMany.headers.get("retry-after")]).toEqual([
    429,
    "text/html; charset=utf-8",
    "1",
  ]);
  expect(await tooMany.text()).toMatch(/Too many requests from your network.*try again in 1 second\./s);
});
