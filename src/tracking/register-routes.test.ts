import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { none, trackingScene, visit } from "#test/support/tracking-visits.ts";

const { service, oneMail, countersOf } = await trackingScene();
const { database, url: base, clock } = service;

test("a reader does not wait long for a slow database, and no event is lost", async () => {
  const { links, campaignId } = await oneMail();
  await database.transaction(async (tx) => {
    await tx.run(sql`select from campaign_counters where campaign_id = ${campaignId} for update`);
    // The lock is held until there are answers.
    expect((await visit(links.pixel)).status).toBe(200);
    expect((await visit(links.tracked(0))).status).toBe(302);
    expect((await countersOf(campaignId))?.opens).toBe(0);
  });
  await expect
    .poll(async () => {
      const counters = await countersOf(campaignId);
      return [counters?.opens, counters?.clicks];
    })
    .toEqual([1, 1]);
});

test("a token of one workspace does nothing in another", async () => {
  const other = await service.newWorkspace();
  const theirs = await sentCampaign(database, other.workspaceId, {
    base,
    deliveredAt: new Date(clock.now().getTime() - 3_600_000),
  });
  const ours = await oneMail();
  await visit(ours.links.pixel);
  await expect.poll(() => countersOf(theirs.campaignId)).toEqual(none);
});

test.each([
  ["PUT", "/o/x.gif", "GET, HEAD"],
  ["POST", "/c/x/0", "GET, HEAD"],
  ["DELETE", "/u/x", "GET, HEAD, POST"],
  ["OPTIONS", "/v/x", "GET, HEAD"],
  ["PATCH", "/v", "GET, HEAD"],
])("%s %s is 405, and the answer names the allowed methods", async (method, path, allow) => {
  const answer = await visit(base + path, { method });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
});

test.each([
  ["GET", "/o/"],
  ["GET", "/c/x/0"],
  ["GET", "/u/"],
  ["POST", "/u/"],
  ["GET", "/u/x"],
  ["GET", "/v"],
  ["GET", "/c/%ff"],
  ["GET", "/u/%c0%ae"],
])("%s %s, an invalid address, is 404 with a page for people", async (method, path) => {
  const answer = await visit(base + path, { method });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
});
