import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { mostLinks } from "#mail/html/tag-positions.ts";
import { findMiscounts } from "#test/support/audience.ts";
import { none, trackingScene, visit } from "#test/support/tracking-visits.ts";

const { service, oneMail, countersOf, person, listDay } = await trackingScene();
const { database, url: base, clock } = service;

const url = "https://shop.example/a?x=1&y=%20#top";

test("redirects to the campaign's link of that index, and is counted", async () => {
  const { links, campaignId, email, listId } = await oneMail({ urls: ["https://other.example/", url] });
  for (let time = 0; time < 2; time++) {
    const answer = await visit(links.tracked(1));
    expect([answer.status, answer.headers.get("location")]).toEqual([302, url]);
    expect(answer.headers.get("cache-control")).toContain("no-store");
  }
  await expect
    .poll(() => countersOf(campaignId))
    .toEqual({ ...none, clicks: 2, unique_clicks: 1, unique_opens: 1, activities: 2 });
  const perLink = await database.rows(sql`
    select index, click_count, unique_click_count from campaign_links where campaign_id = ${campaignId} order by 1`);
  expect(perLink).toEqual([
    { index: 0, click_count: 0, unique_click_count: 0 },
    { index: 1, click_count: 2, unique_click_count: 1 },
  ]);
  expect(await person(email)).toMatchObject({
    open_count: 0,
    unique_open_count: 1,
    click_count: 2,
    unique_click_count: 1,
    engagement_score: 100,
    last_opened_at: clock.now(),
  });
  expect(await listDay(listId)).toEqual({ opens: 1, clicks: 1, engaged: 1 });
  const hours = await database.row(sql`
    select sum(clicks)::int as clicks from campaign_hours where campaign_id = ${campaignId}`);
  expect(hours).toEqual({ clicks: 2 });
});

test("counts as an open, once, in either order, for the campaign and in segment rules", async () => {
  const { links, campaignId, listId } = await oneMail({ urls: [url] });
  const read = async () => {
    const { data } = (await service.call("GET", `/campaigns/${campaignId}`)).body;
    return [data.open_count, data.unique_open_count, data.unique_click_count];
  };
  const counted = async (field: string, operator: string, value: unknown) => {
    const conditions = { logic: "and", rules: [{ field, operator, value }] };
    const preview = `/mailing-lists/${listId}/segments/preview`;
    return (await service.call("POST", preview, { conditions })).body.data.subscriber_count;
  };
  await visit(links.tracked(0));
  await expect.poll(read).toEqual([0, 1, 1]);
  expect(await counted("last_opened_at", "not_in_last_days", 30)).toBe(0);
  expect(await counted("last_opened_at", "in_last_days", 30)).toBe(1);
  expect(await counted("open_count", "equals", 0)).toBe(0);
  expect(await counted("open_count", "greater_than", 0)).toBe(1);
  await visit(links.pixel);
  await expect.poll(read).toEqual([1, 1, 1]);
  expect(await counted("open_count", "equals", 1)).toBe(1);
  expect(await findMiscounts(database)).toEqual([]);
});

test("HEAD redirects, too, and counts as a program's", async () => {
  const { links, campaignId } = await oneMail({ urls: [url] });
  const answer = await visit(links.tracked(0), { method: "HEAD" });
  expect([answer.status, answer.headers.get("location")]).toEqual([302, url]);
  await expect.poll(() => countersOf(campaignId)).toEqual({ ...none, machine_clicks: 1 });
});

test("clicks on all links at once, right after delivery, count as a scanner's", async () => {
  const urls = [url, `${url}2`, `${url}3`];
  const { links, campaignId } = await oneMail({ urls, deliveredAt: clock.now() });
  await Promise.all(urls.map((_, index) => visit(links.tracked(index))));
  await expect.poll(async () => (await countersOf(campaignId))?.machine_clicks, { timeout: 5_000 }).toBe(3);
  expect((await countersOf(campaignId))?.clicks).toBe(0);
});

test("the iterations of a loop are separate links: clicks on all of them at once count as a scanner's", async () => {
  const { links, campaignId, messageId } = await oneMail({
    urls: ["https://shop.example/{{ item }}"],
    deliveredAt: clock.now(),
  });
  const targets = ["red", "green", "blue"].map((item) => `https://shop.example/${item}`);
  await Promise.all(targets.map((target) => visit(links.tracked(0, target, true))));
  await expect.poll(async () => (await countersOf(campaignId))?.machine_clicks, { timeout: 5_000 }).toBe(3);
  const told = await database.rows<{ detail: string }>(sql`
    select detail from message_events where message_id = ${messageId} and link_index = 0 order by 1`);
  expect(told.map(({ detail }) => detail)).toEqual(targets.toSorted());
});

test("redirects to no other target, whatever the request", async () => {
  const urls = ["javascript:alert(1)", "data:text/html,x", "//evil.example", url, "https://{{x}}.example/"];
  const { links, campaignId } = await oneMail({ urls });
  const place = links.tracked(3).slice(0, -1);
  const asked = [
    ...[0, 1, 2, 4, 5, 9999, 32_768].map((index) => place + index),
    ...[
      "",
      "-1",
      "3.0",
      "3e0",
      "03x",
      "03",
      "0003",
      "3/4",
      "٣",
      "99999999999",
      "%33%0d%0aLocation:x",
      "//evil.example",
    ].map((index) => place + index),
    `${place.slice(0, -2)}/3`,
    `${base}/c/?url=https://evil.example/`,
    `${base}/c/https://evil.example/3`,
    `${base}/c/${"A".repeat(8_000)}/3`,
    `${base}/c/%0d%0aSet-Cookie:a=1/3`,
    links.pixel.replace("/o/", "/c/").replace(".gif", "/3"),
    `${links.view.replace("/v/", "/c/")}/3`,
  ];
  for (const address of asked) {
    const answer = await visit(address);
    expect([address, answer.status, answer.headers.get("location")]).toEqual([address, 404, null]);
  }
  const added = await visit(`${links.tracked(3)}?url=https://evil.example/&next=//evil.example`);
  expect(added.headers.get("location")).toBe(url);
  await expect.poll(async () => (await countersOf(campaignId))?.clicks).toBe(1);
});

test("every link works in a mail with the maximum number of links", async () => {
  const urls = Array.from({ length: mostLinks }, (_, index) => url + index);
  const { links } = await oneMail({ urls });
  for (const index of [9_999, 10_000, mostLinks - 1]) {
    const answer = await visit(links.tracked(index));
    expect([answer.status, answer.headers.get("location")]).toEqual([302, url + index]);
  }
  expect((await visit(links.tracked(mostLinks))).status).toBe(404);
});

test("redirects to the target that a link carries, although it could no longer be rendered", async () => {
  const { links, campaignId } = await oneMail({ urls: [url, "https://shop.example/{{ item }}"] });
  const other = await oneMail({ urls: [url] });
  const targets = ["https://shop.example/red", "https://shop.example/blue?x=1&y=%20#top"];
  const addresses = targets.map((target) => links.tracked(1, target, true));
  for (const [at, address] of addresses.entries()) {
    const answer = await visit(address);
    expect([answer.status, answer.headers.get("location")]).toEqual([302, targets[at]]);
  }
  const clicks = sql`
    select click_count from campaign_links where campaign_id = ${campaignId} and index = 1`;
  await expect.poll(() => database.row(clicks)).toEqual({ click_count: 2 });

  const [red = "", blue = ""] = addresses;
  const carried = (address: string) => address.slice(address.lastIndexOf("/"));
  const wrong = [
    links.tracked(0) + carried(red),
    other.links.tracked(0) + carried(red),
    red.slice(0, -1),
    `${red}/3`,
    `${red}/${blue}`,
    `${links.tracked(1)}/${Buffer.from("https://evil.example/").toString("base64url")}`,
    links.tracked(1, "javascript:alert(1)", true),
  ];
  for (const address of wrong) expect([address, (await visit(address)).status]).toEqual([address, 404]);
});

test("is 404 when the mail is not in the log or the campaign was deleted", async () => {
  const { links, campaignId, messageId } = await oneMail();
  const other = await oneMail();
  await database.run(sql`delete from campaign_links where campaign_id = ${campaignId}`);
  await database.run(sql`delete from messages where id = ${other.messageId}`);
  expect((await visit(links.tracked(0))).status).toBe(404);
  expect((await visit(other.links.tracked(0))).status).toBe(404);
  expect((await visit(other.links.pixel)).status).toBe(200);
  expect(messageId).not.toBe(other.messageId);
});
