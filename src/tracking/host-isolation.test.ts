import { request } from "node:http";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";

const service = await startService({ env: { PUBLIC_URL: "https://post.example.com" } });
const { database, workspaceId, url, clock } = service;

/** The status of a GET with this Host header. */
function statusOf(host: string, path: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(url + path, { headers: { host, "x-api-key": service.key } }, (answer) => {
    answer.resume();
    resolve(answer.statusCode);
  })
    .on("error", reject)
    .end();
  return promise;
}

async function addDomain(domain: string, isVerified: boolean): Promise<void> {
  const { body } = await service.call("POST", "/tracking-domains", { domain });
  await database.run(sql`update tracking_domains set is_verified = ${isVerified} where id = ${body.data.id}`);
}

test("a tracking domain serves tracking, and nothing else", async () => {
  await addDomain("links.acme.example", true);
  const { mails } = await sentCampaign(database, workspaceId, { base: "", deliveredAt: clock.now() });
  const [mail] = mails;
  for (const host of ["links.acme.example", "LINKS.acme.example:443", "links.acme.example."]) {
    expect(await statusOf(host, mail?.links.pixel ?? "")).toBe(200);
    expect(await statusOf(host, mail?.links.tracked(0) ?? "")).toBe(302);
    expect(await statusOf(host, mail?.links.unsubscribe ?? "")).toBe(200);
    for (const path of [
      "/",
      "/docs",
      "/healthz",
      "/metrics",
      "/inbox",
      "/verify-sender/x",
      "/api/v1/campaigns",
      "/api/v1/api-keys",
      "//api/v1/api-keys",
      "/o/../api/v1/api-keys",
      "/nothing",
    ]) {
      expect([host, path, await statusOf(host, path)]).toEqual([host, path, 404]);
    }
  }
});

test("other host names serve everything", async () => {
  await addDomain("later.acme.example", false);
  for (const host of [
    "post.example.com",
    "127.0.0.1",
    "[::1]:8080",
    "localhost",
    "later.acme.example",
    "a".repeat(300),
  ]) {
    expect([host, await statusOf(host, "/api/v1/api-keys")]).toEqual([host, 200]);
  }
});
