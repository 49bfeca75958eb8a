import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { type Engagement, recordEngagements } from "#messages/record-engagement.ts";
import { nilId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { countEngaged } from "#sending/campaigns/counters/count-engagement.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { workedMs } from "#test/support/cpu-time.ts";
import { startService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { plans } from "#workspace/billing/plans.ts";

const service = await startService();
const { call, database, clock, workspaceId } = service;
const get = async (path: string) => (await call("GET", path)).body.data;

test("messages are counted when they are there, and not as the estimate has them", async () => {
  await verifyShop(database, workspaceId);
  const list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [
    { email: "ada@example.test" },
    { email: "bob@example.test" },
  ]);
  const draft = {
    name: "June",
    subject: "Hello",
    from_email: "news@shop.test",
    html_content: "<p>Hello</p>",
  };
  const { body } = await call("POST", "/campaigns", { ...draft, mailing_list_id: list });
  const { id } = body.data;
  const totals = async () => {
    const { messages, pagination } = await get(`/campaigns/${id}/messages?limit=1`);
    return [messages.length, pagination.total, pagination.total_pages];
  };
  expect(await totals()).toEqual([0, 0, 0]);
  await call("POST", `/campaigns/${id}/send`);
  expect((await get(`/campaigns/${id}`)).total_recipients).toBe(2);
  expect(await totals()).toEqual([0, 0, 0]);
  await advanceDueCampaigns(
    { db: database, clock, plans },
    new AbortController().signal,
    createLog("silent"),
  );
  expect(await totals()).toEqual([1, 2, 2]);
});

test("requests for results, and refused actions, do not read the attachments", async () => {
  const id = await newCampaign(database, workspaceId, null);
  const paths = ["activity", "smtp-domain-stats", "messages", "recent-activity", "links"];
  const refused = ["pause", "resume", "cancel", "unschedule"];
  const costOfRequests = async () => {
    const from = workedMs();
    for (const path of paths) expect((await call("GET", `/campaigns/${id}/${path}`)).status).toBe(200);
    for (const action of refused) expect((await call("POST", `/campaigns/${id}/${action}`)).status).toBe(409);
    return workedMs() - from;
  };
  const without = await costOfRequests();
  await database.run(sql`
    update campaigns set attachments = (
      select jsonb_agg(jsonb_build_object('filename', 'a', 'content', repeat('A', 1000000)))
      from generate_series(1, 15))
    where id = ${id}`);
  // Reading them once costs more than all the requests.
  expect(await costOfRequests()).toBeLessThan(2 * without);
});

test("recent activity is in the order in which it happened, however late it was written down", async () => {
  const start = Date.now();
  const campaign = await sentCampaign(database, workspaceId, {
    base: service.url,
    deliveredAt: new Date(start),
  });
  const messageId = campaign.mails[0]?.messageId ?? "";
  const engagement = (kind: Engagement["kind"], seconds: number): Engagement => ({
    workspaceId,
    messageId,
    kind,
    time: new Date(start + seconds * 1_000),
    times: 1,
    linkIndex: kind === "clicked" ? 0 : null,
    target: null,
    userAgent: "A browser",
    machineSign: null,
  });
  for (const one of [engagement("opened", 3), engagement("clicked", 1), engagement("opened", 2)]) {
    await database.transaction((tx) =>
      recordEngagements(tx, [one], (_tx, engaged) => countEngaged(_tx, engaged, one.time)),
    );
  }
  const path = `/campaigns/${campaign.campaignId}/recent-activity`;
  const secondsOf = async (query: string) => {
    const { activities } = await get(path + query);
    return activities.map(({ timestamp }: { timestamp: string }) => (Date.parse(timestamp) - start) / 1_000);
  };
  expect(await secondsOf("")).toEqual([3, 2, 1, 0]);
  expect(await secondsOf("?limit=2&page=2")).toEqual([1, 0]);
  const { subscribers } = await get(`/mailing-lists/${campaign.listId}/subscribers`);
  const { recent_activity } = await get(`/subscribers/${subscribers[0].subscriber_id}`);
  expect(recent_activity.map(({ type }: { type: string }) => type)).toEqual([
    "opened",
    "opened",
    "clicked",
    "sent",
  ]);
});

test("a page behind the last activity is empty without a look at the events", async () => {
  const { campaignId } = await sentCampaign(database, workspaceId, {
    base: service.url,
    deliveredAt: new Date(),
  });
  const path = `/campaigns/${campaignId}/recent-activity`;
  const { pagination } = await get(path);
  await database.transaction(async (tx) => {
    await tx.run(sql`lock table message_events in access exclusive mode`);
    expect(await get(`${path}?page=${pagination.total + 1}&limit=1`)).toEqual({
      activities: [],
      pagination: {
        page: pagination.total + 1,
        limit: 1,
        total: pagination.total,
        total_pages: pagination.total,
      },
    });
  });
});

test("what came several times at the same moment is one row that says how often", async () => {
  const campaign = await sentCampaign(database, workspaceId, { base: service.url, deliveredAt: new Date() });
  const messageId = campaign.mails[0]?.messageId ?? "";
  const click: Engagement = {
    workspaceId,
    messageId,
    kind: "clicked",
    time: new Date(),
    times: 30,
    linkIndex: 0,
    target: null,
    userAgent: "A browser",
    machineSign: null,
  };
  await database.transaction((tx) =>
    recordEngagements(tx, [click], (_tx, engaged) => countEngaged(_tx, engaged, click.time)),
  );
  const told = [
    { type: "clicked", times: 30 },
    { type: "sent", times: 1 },
  ];
  const { activities } = await get(`/campaigns/${campaign.campaignId}/recent-activity`);
  expect(activities).toMatchObject(told);
  const { subscribers } = await get(`/mailing-lists/${campaign.listId}/subscribers`);
  const { recent_activity } = await get(`/subscribers/${subscribers[0].subscriber_id}`);
  expect(recent_activity).toMatchObject(told);
});

test("a message that is deferred says when it is tried next, as in the log", async () => {
  const options = { base: service.url, people: 2, deliveredAt: new Date(), isDelivered: false };
  const { campaignId, mails } = await sentCampaign(database, workspaceId, options);
  const deferred = mails[0]?.messageId;
  const next = new Date(Date.now() + 600_000);
  await database.run(sql`
    update messages set status = 'deferred', next_attempt_at = ${next} where id = ${deferred}`);
  const { messages } = await get(`/campaigns/${campaignId}/messages`);
  const times = messages.map((row: { id: string; next_attempt_at: string | null }) => [
    row.id,
    row.next_attempt_at,
  ]);
  expect(new Map(times)).toEqual(
    new Map(mails.map(({ messageId }) => [messageId, messageId === deferred ? next.toISOString() : null])),
  );
});

test("a campaign's messages are found by status and recipient, those of other campaigns are not", async () => {
  const options = { base: service.url, people: 3, deliveredAt: new Date() };
  const campaign = await sentCampaign(database, workspaceId, options);
  const waiting = await sentCampaign(database, workspaceId, { ...options, isDelivered: false });
  const found = async ({ campaignId }: typeof campaign, query: string) => {
    const { messages, searched_since } = await get(`/campaigns/${campaignId}/messages?${query}`);
    expect(searched_since).toBeNull();
    return messages.map(({ id }: { id: string }) => id);
  };
  const idsOf = ({ mails }: typeof campaign) =>
    mails
      .map(({ messageId }) => messageId)
      .sort()
      .reverse();
  expect(await found(campaign, "status=delivered")).toEqual(idsOf(campaign));
  expect(await found(campaign, "status=queued")).toEqual([]);
  expect(await found(waiting, "status=queued")).toEqual(idsOf(waiting));
  for (const [one, other] of [
    [campaign, waiting],
    [waiting, campaign],
  ] as const) {
    const [mail] = one.mails;
    const { messageId, email } = mail ?? { messageId: "", email: "" };
    expect(await found(one, `email=${email.toUpperCase()}`)).toEqual([messageId]);
    expect(await found(one, `email=${email.slice(0, -3)}`)).toEqual([messageId]);
    expect(await found(other, `email=${email}`)).toEqual([]);
  }
});

test("a message whose machine's clock is behind or ahead of the others is found like the rest", async () => {
  const campaign = await sentCampaign(database, workspaceId, {
    base: service.url,
    people: 3,
    deliveredAt: new Date(),
  });
  const ids = campaign.mails.map(({ messageId }) => messageId);
  const [early = "", middle = "", late = ""] = ids.toSorted();
  const write = (from: string, to: string) =>
    database.run(sql`update campaign_recipients set message_id = ${to} where message_id = ${from}`);
  // The first step by a machine that is ahead, the last by one that is behind.
  await write(early, nilId);
  await write(late, early);
  await write(nilId, late);
  const { messages } = await get(`/campaigns/${campaign.campaignId}/messages?status=delivered`);
  expect(messages.map(({ id }: { id: string }) => id)).toEqual([late, middle, early]);
  for (const { messageId, email } of campaign.mails) {
    const found = await get(`/campaigns/${campaign.campaignId}/messages?email=${email}`);
    expect(found.messages).toMatchObject([{ id: messageId }]);
  }
});
