import { createHash } from "node:crypto";
import fc from "fast-check";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { html, sendPage } from "./html-page.ts";

test("text is escaped in markup and in attributes", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const shown = html`<p title="${text}">${text}</p>`.toString();
      expect(shown.match(/[<>"]/g)?.join("")).toBe('<"">' + "<>");
    }),
  );
  expect(html`${`<script>alert("1" & '2')</script>`}`.toString()).toBe(
    "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;",
  );
});

test("markup is inserted unchanged, also in lists", () => {
  const rows = ["a", "<b>"].map((text) => html`<li>${text}</li>`);
  expect(html`<ul>${rows}</ul>${1}`.toString()).toBe("<ul><li>a</li><li>&lt;b&gt;</li></ul>1");
});

test("a page has headers against framing, caching and scripts, and a policy with the hash of its style", async () => {
  const server = Fastify();
  server.get("/", (_request, reply) => sendPage(reply, 404, "Title <1>", html`<p>Hello</p>`));
  const { statusCode, headers, body } = await server.inject("/");
  expect(statusCode).toBe(404);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  const policy = String(headers["content-security-policy"]);
  const style = /<style>(.*)<\/style>/s.exec(body)?.[1] ?? "";
  expect(policy).toContain(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  expect(body).toContain("<title>Title &lt;1&gt;</title>");
  expect(body).toContain("<p>Hello</p>");
});
