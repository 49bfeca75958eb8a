import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { findMiscounts } from "#test/support/audience.ts";
import { browser, none, trackingScene, visit } from "#test/support/tracking-visits.ts";

const { service, campaign, oneMail, countersOf, person, listDay } = await trackingScene();
const { database, clock } = service;

test("counts each person once, and every open", async () => {
  const { links, campaignId, email, listId, messageId } = await oneMail();
  for (let time = 0; time < 3; time++) {
    const answer = await visit(links.pixel);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/gif"]);
    expect(answer.headers.get("cache-control")).toContain("no-store");
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(Buffer.from(await answer.arrayBuffer()).toString("latin1")).toMatch(/^GIF89a/);
  }
  await expect
    .poll(() => countersOf(campaignId))
    .toEqual({ ...none, opens: 3, unique_opens: 1, activities: 3 });
  expect(await person(email)).toMatchObject({
    open_count: 3,
    unique_open_count: 1,
    engagement_score: 25,
    last_opened_at: clock.now(),
    last_clicked_at: null,
  });
  expect(await listDay(listId)).toEqual({ opens: 1, clicks: 0, engaged: 1 });
  const { data } = (await service.call("GET", `/messages/${messageId}`)).body;
  expect(JSON.stringify(data)).toContain("opened");
});

test("1,000 opens at once of 20 people are 1,000 opens of 20 people", async () => {
  const { mails, campaignId } = await campaign({ people: 20 });
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, at) => visit(mails[at % 20]?.links.pixel ?? "")),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const counted = async () => {
    const counters = await countersOf(campaignId);
    return [counters?.opens, counters?.unique_opens];
  };
  await expect.poll(counted).toEqual([1_000, 20]);
  const [log] = await database.rows<{ times: number; rows: number }>(sql`
    select sum(coalesce(times, 1))::int as times, count(*)::int as rows from message_events
    where campaign_id = ${campaignId} and type = 'opened'`);
  expect(log?.times).toBe(1_000);
  expect((await countersOf(campaignId))?.activities).toBe(log?.rows);
  expect(await findMiscounts(database)).toEqual([]);
});

test("opens by programs are recorded and counted separately", async () => {
  const { links, campaignId, email } = await oneMail();
  await visit(links.pixel, { agent: "Mozilla/5.0" });
  await visit(links.pixel, { agent: "" });
  await visit(links.pixel, { method: "HEAD" });
  await expect.poll(() => countersOf(campaignId)).toEqual({ ...none, machine_opens: 3 });
  expect(await person(email)).toMatchObject({ open_count: 0, engagement_score: 0, last_opened_at: null });
  const { data } = (await service.call("GET", `/campaigns/${campaignId}`)).body;
  expect(data).toMatchObject({ open_count: 0, machine_opens: 3, machine_clicks: 0 });
  const days = (await service.call("GET", "/stats/chart")).body.data;
  expect(days.at(-1).machine_opens).toBeGreaterThanOrEqual(3);
  const signs = await database.rows(sql`
    select type, machine_sign, user_agent from message_events
    where campaign_id = ${campaignId} and type <> 'delivered' order by id`);
  expect(signs).toEqual([
    { type: "machine_opened", machine_sign: "agent", user_agent: "Mozilla/5.0" },
    { type: "machine_opened", machine_sign: "agent", user_agent: "" },
    { type: "machine_opened", machine_sign: "head", user_agent: browser },
  ]);
});

test("an open before the delivery is a program's", async () => {
  const { links, campaignId } = await oneMail({ isDelivered: false });
  await visit(links.pixel);
  await expect.poll(() => countersOf(campaignId)).toEqual({ ...none, machine_opens: 1 });
});
