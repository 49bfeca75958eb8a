import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sql from "sql-template-tag";
import { afterAll, describe, expect, test } from "vitest";
import { limits } from "#platform/limits/limits.ts";
import { useOf, windowEnd } from "#platform/limits/quota-store.ts";
import type { DnsZone } from "#test/support/fake-dns.ts";
import { startService } from "#test/support/service.ts";
import type { CampaignCheck } from "./campaign-check.ts";
import { readTargets } from "./target-findings.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** Method and path of each request. */
const requests: string[] = [];
const web = createServer((request, response) => {
  const path = request.url ?? "";
  requests.push(`${request.method} ${path}`);
  const answer = (status: number, headers: Record<string, string> = {}, body: string | Buffer = "") =>
    response.writeHead(status, headers).end(request.method === "HEAD" ? "" : body);
  const redirect = (location: string) => answer(302, { location });
  const status = /^\/status\/(\d+)/.exec(path)?.[1];
  if (status !== undefined) answer(Number(status));
  else if (path === "/get-only") answer(request.method === "HEAD" ? 405 : 200);
  else if (path === "/endless") {
    response.writeHead(request.method === "HEAD" ? 405 : 200);
    if (request.method === "HEAD") response.end();
    else response.write("<p>Hello</p>");
  } else if (path === "/bad-location") redirect("http://[");
  else if (path === "/moved") redirect("/fine");
  else if (path === "/elsewhere") redirect(`http://other.co:${port}/fine`);
  else if (path === "/circle") redirect("/circle");
  else if (path === "/to-hidden") redirect("http://10.0.0.1/");
  else if (path === "/hang") response.on("close", () => {});
  else if (path === "/a.png") answer(200, { "content-type": "image/png" }, png);
  else if (path === "/untyped.png") answer(200, {}, png);
  else if (path === "/page.png") answer(200, { "content-type": "text/html" }, "<p>Hello</p>");
  else if (path.startsWith("/large.png"))
    answer(
      200,
      { "content-type": "image/png", "content-length": "600000" },
      Buffer.concat([png, Buffer.alloc(600_000 - png.length)]),
    );
  else if (path === "/chunked.png") {
    response.writeHead(200, { "content-type": "image/png" });
    response.write(png);
    response.end(Buffer.alloc(300_000));
  } else answer(200);
});
await once(web.listen(0, "127.0.0.1"), "listening");
const port = (web.address() as AddressInfo).port;
afterAll(() => {
  web.closeAllConnections();
  web.close();
});

const zone: DnsZone = {
  "shop.co": { A: ["127.0.0.1"] },
  "other.co": { A: ["127.0.0.1"] },
  "*.slow.co": { A: ["127.0.0.1"] },
  "mute.co": "servfail",
};
const env = { ALLOW_PRIVATE_LINKS: "true" };
const service = await startService({ env, zone });
const careful = await startService({ zone });

async function check(html_content: string, { call } = service, order = {}): Promise<CampaignCheck> {
  const { status, body } = await call("POST", "/check", { subject: "Hello", html_content, ...order });
  expect(status, body.error).toBe(200);
  return body.data;
}
const linkTo = (url: string) => `<a href="${url}">Look</a>`;
const at = (path: string) => `http://shop.co:${port}${path}`;
const about = ({ findings }: CampaignCheck, kind: "link" | "image") =>
  findings.filter(
    ({ code }) => code.startsWith(`${kind}_`) && !/_(http|without_alt|without_width)$/.test(code),
  );

describe("a link", () => {
  test.each([
    ["/status/404", "link_broken", "error"],
    ["/status/410", "link_broken", "error"],
    ["/status/500", "link_server_error", "warning"],
    ["/status/403", "link_refused", "info"],
    ["/circle", "link_redirect_loop", "error"],
    ["/status/302", "link_unreachable", "error"],
    ["/bad-location", "link_unreachable", "error"],
    ["/elsewhere", "link_redirects_elsewhere", "info"],
  ])("to %s has the finding %s at its line and column", async (path, code, severity) => {
    const answer = await check(`<p>Hello</p>\n  ${linkTo(at(path))}`);
    expect(about(answer, "link")).toMatchObject([
      { code, severity, field: "html_content", line: 2, column: 3, url: at(path) },
    ]);
    expect(answer.links).toEqual({ total: 1, checked: 1, left_out: 0 });
  });

  test("that works has none: by HEAD, by GET where HEAD is refused, with an endless page, and redirected on its site", async () => {
    const answer = await check(
      ["/fine", "/get-only", "/endless", "/moved"].map((path) => linkTo(at(path))).join(""),
    );
    expect(about(answer, "link")).toEqual([]);
    expect(answer.links?.checked).toBe(4);
    expect(requests).toEqual(expect.arrayContaining(["HEAD /fine", "HEAD /get-only", "GET /get-only"]));
    expect(requests).not.toContain("GET /fine");
  });

  test("to a host without address, and one that refuses connections, is unreachable", async () => {
    const found = about(await check(linkTo("http://gone.co/") + linkTo("http://shop.co:1/")), "link");
    expect(found.map(({ code, severity }) => [code, severity])).toEqual(
      Array.from({ length: 2 }, () => ["link_unreachable", "error"]),
    );
  });

  test("whose name the DNS does not answer for is unchecked, not broken", async () => {
    const answer = await check(linkTo("http://mute.co/"));
    expect(about(answer, "link")).toEqual([]);
    expect(answer.links).toMatchObject({ total: 1, checked: 0 });
    expect(answer.unchecked).toMatchObject([{ part: "links" }]);
  });

  test("is asked once, however often it occurs and is checked", async () => {
    const html = `${linkTo(at("/once#one"))}${linkTo(at("/once#two"))}`;
    expect((await check(html)).links?.total).toBe(1);
    await check(html);
    expect(requests.filter((one) => one.endsWith("/once"))).toEqual(["HEAD /once"]);
  });

  test("that unsubscribes, has a merge tag, is a placeholder or leads to the service is not asked", async () => {
    const before = requests.length;
    const paths = ["/unsubscribe?u=1", "/opt-out", "/x?u={{ email }}", "/your-link"];
    const html = [...paths.map(at), `${service.url}/u/abc`, "https://example.com/x"].map(linkTo).join("");
    expect((await check(html)).links).toEqual({ total: 0, checked: 0, left_out: 0 });
    expect(requests.length).toBe(before);
  });

  test("beyond the fiftieth is left out, and counted", async () => {
    const html = Array.from({ length: 60 }, (_, index) => linkTo(at(`/many/${index}`))).join("");
    expect((await check(html)).links).toEqual({ total: 60, checked: 50, left_out: 10 });
  });

  test("from https to http is named", () => {
    const target = { kind: "link", url: "https://shop.co/", line: 1, column: 1, occurrences: 1 } as const;
    const hops = ["http://shop.co/de"];
    const answer = { outcome: "answered", status: 200, hops, bytes: null, isImage: false } as const;
    expect(readTargets([target], [answer]).findings).toMatchObject([{ code: "link_redirects_to_http" }]);
  });
});

describe("an image", () => {
  test.each([
    ["/status/404", "image_missing", "error"],
    ["/page.png", "image_not_an_image", "error"],
    ["/large.png", "image_large", "warning"],
    ["/chunked.png", "image_large", "warning"],
  ])("at %s has the finding %s", async (path, code, severity) => {
    const answer = await check(`<img src="${at(path)}" alt="" width="1">`);
    expect(about(answer, "image")).toMatchObject([{ code, severity, url: at(path) }]);
  });

  test("is weighed, and all together are too heavy above a megabyte", async () => {
    const light = await check(
      ["/a.png", "/untyped.png"].map((path) => `<img src="${at(path)}" alt="" width="1">`).join(""),
    );
    expect(about(light, "image")).toEqual([]);
    expect(light.images).toEqual({ total: 2, checked: 2, left_out: 0, bytes: 2 * png.length });
    const heavy = await check(`<img src="${at("/large.png?1")}"><img src="${at("/large.png?2")}">`);
    expect(heavy.images?.bytes).toBe(1_200_000);
    expect(heavy.findings.map(({ code }) => code)).toContain("images_heavy");
  });

  test("without alt and without width is named", async () => {
    const codes = (await check(`<img src="${at("/a.png")}">`)).findings.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(["image_without_alt", "image_without_width"]));
    const whole = await check(`<img src="${at("/a.png")}" alt="" style="width:100%">`);
    expect(whole.findings.filter(({ code }) => code.startsWith("image_without"))).toEqual([]);
  });
});

describe("what is not asked", () => {
  test("is a private address, in the link, behind a name and behind a redirect", async () => {
    const before = requests.length;
    const answer = await check(linkTo("http://shop.co/") + linkTo("http://127.0.0.1/"), careful);
    expect(about(answer, "link").filter(({ code }) => code === "link_private")).toHaveLength(2);
    expect(requests.length).toBe(before);
  });

  test("is an unusual port, or an address with a password", async () => {
    const before = requests.length;
    const answer = await check(linkTo(at("/")) + linkTo("http://me:secret@shop.co/"), careful);
    expect(answer.links).toEqual({ total: 2, checked: 0, left_out: 0 });
    expect(answer.unchecked.map(({ part }) => part)).toEqual(["links", "links"]);
    expect(requests.length).toBe(before);
  });

  test("are parts that the caller leaves out", async () => {
    const before = requests.length;
    const html = `${linkTo(at("/left-out"))}<img src="${at("/left-out.png")}">`;
    const answer = await check(html, service, { without: ["links", "images"] });
    expect([answer.links, answer.images, requests.length]).toEqual([null, null, before]);
  });

  test("are more addresses than the workspace has left in this hour", async () => {
    const { workspaceId, key } = await service.newWorkspace();
    const quota = useOf("addressesAsked", workspaceId);
    await service.database.run(sql`
      insert into quota_uses (limit_name, holder, ends_at, used) values (${quota.name}, ${workspaceId},
        ${windowEnd(quota.quota, service.clock.now())}, ${limits.addressesAsked.most})`);
    const before = requests.length;
    const { body } = await service.call("POST", "/check", { html_content: linkTo(at("/too-many")) }, { key });
    expect(body.data.links).toEqual({ total: 1, checked: 0, left_out: 0 });
    expect(body.data.unchecked).toMatchObject([{ part: "links" }]);
    expect(requests.length).toBe(before);
  });
});

test("servers that never answer do not keep the check waiting, and are named", async () => {
  const urls = Array.from({ length: 30 }, (_, index) => `http://h${index}.slow.co:${port}/hang`);
  const begin = performance.now();
  const answer = await check(urls.map(linkTo).join("") + linkTo(at("/fine")));
  // Ten seconds and the rendering; without a deadline it has no end.
  expect(performance.now() - begin).toBeLessThan(50_000);
  const slow = about(answer, "link").filter(({ code }) => code === "link_slow");
  expect(slow.length).toBeGreaterThan(0);
  expect(slow[0]?.message).toContain("within 6 seconds");
  expect(answer.unchecked).toMatchObject([{ part: "links" }]);
  expect((answer.links?.checked ?? 0) + 30).toBeGreaterThanOrEqual(31);
});
