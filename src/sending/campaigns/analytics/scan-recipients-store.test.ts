import sql from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import { type Engagement, recordEngagements } from "#messages/record-engagement.ts";
import { systemClock } from "#platform/clock.ts";
import { createEngagementReactions } from "#processes/reactions.ts";
import { startService } from "#test/support/service.ts";
import { sentCampaign, type TrackedCampaign } from "#test/support/tracked-campaign.ts";
import { MOST_RECIPIENTS_READ } from "./scan-recipients-store.ts";

const service = await startService();
const { call, database, workspaceId } = service;
let campaign: TrackedCampaign;

/** The first four recipients: opened; clicked link 1; opened by a program; nothing. */
beforeAll(async () => {
  const deliveredAt = new Date(Date.now() - 3_600_000);
  const urls = ["https://shop.example/", "https://shop.example/sale"];
  campaign = await sentCampaign(database, workspaceId, { base: service.url, people: 4, urls, deliveredAt });
  const event = (person: number, more: Partial<Engagement>): Engagement => ({
    workspaceId,
    messageId: campaign.mails[person]?.messageId ?? "",
    kind: "opened",
    time: new Date(),
    times: 1,
    linkIndex: null,
    target: null,
    userAgent: "Mail",
    machineSign: null,
    ...more,
  });
  const click = { kind: "clicked", linkIndex: 1, target: urls[1] ?? null } as const;
  const events = [event(0, {}), event(1, click), event(2, { machineSign: "agent" })];
  await database.transaction((tx) => recordEngagements(tx, events, createEngagementReactions(systemClock)));
});

const read = (query: string, key = service.key) =>
  call("GET", `/campaigns/${campaign.campaignId}/messages?${query}`, undefined, { key });

/** The positions of the recipients that a filter finds. */
async function found(query: string): Promise<number[]> {
  const { body } = await read(query);
  const ids = campaign.mails.map(({ messageId }) => messageId);
  expect(body.data.pagination.total).toBe(body.data.messages.length);
  return body.data.messages.map(({ id }: { id: string }) => ids.indexOf(id)).sort();
}

test.each([
  ["opened=true", [0, 1]],
  ["opened=false", [2, 3]],
  ["clicked=true", [1]],
  ["clicked=false", [0, 2, 3]],
  ["link=1", [1]],
  ["link=0", []],
  ["machine=true", [2]],
  ["machine=false", [0, 1, 3]],
  ["opened=true&clicked=false", [0]],
  ["unsubscribed=true", []],
  ["unsubscribed=false", [0, 1, 2, 3]],
  ["domain=PEOPLE.test", [0, 1, 2, 3]],
  ["domain=test", []],
  ["opened=true&status=delivered", [0, 1]],
  ["opened=true&status=bounced", []],
])("the recipients of ?%s are %j", async (query, people) => {
  expect(await found(query)).toEqual(people);
});

test("a recipient's address is combined with what they did", async () => {
  const email = encodeURIComponent(campaign.mails[1]?.email ?? "");
  expect(await found(`clicked=true&email=${email}`)).toEqual([1]);
  expect(await found(`clicked=false&email=${email}`)).toEqual([]);
});

test("a row says who the recipient is and when they first opened and clicked", async () => {
  const { body } = await read("link=1");
  expect(body.data.messages).toMatchObject([
    {
      subscriber_id: expect.stringMatching(/-/),
      first_opened_at: expect.stringMatching(/Z$/),
      first_clicked_at: expect.stringMatching(/Z$/),
      unsubscribed_at: null,
    },
  ]);
});

test("the cursor leads through all recipients, each once", async () => {
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await read(`opened=false&limit=1&after=${cursor}`);
    seen.push(...body.data.messages.map(({ id }: { id: string }) => id));
    cursor = body.data.pagination.next_cursor;
  }
  expect(new Set(seen)).toEqual(new Set([campaign.mails[2]?.messageId, campaign.mails[3]?.messageId]));
});

test.each(["link=-1", "link=x", "link=99999", "opened=maybe", "unsubscribed=yes please"])(
  "?%s is refused by name",
  async (query) => {
    const { status, body } = await read(query);
    expect([status, body.details?.[0]?.field]).toEqual([400, query.split("=")[0]]);
  },
);

test("a search through many recipients stops, and continues with its cursor", async () => {
  const many = await sentCampaign(database, workspaceId, { base: service.url, deliveredAt: new Date() });
  await database.run(sql`
    insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id, first_clicked_at)
    select ${workspaceId}, ${many.campaignId}, id, id, case when number = 1 then now() end
    from (
      select number, (lpad(to_hex(number), 12, '0') || '70008000000000000000')::uuid as id
      from generate_series(1, ${MOST_RECIPIENTS_READ + 100}::int) number) numbers`);
  await database.run(sql`
    insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, created_at, updated_at)
    select workspace_id, message_id, 'campaign', 'x', 'a@b.test', 'p', 'c.test', 's', now(), now()
    from campaign_recipients where campaign_id = ${many.campaignId} and message_id = subscriber_id`);
  const path = `/campaigns/${many.campaignId}/messages?clicked=true`;
  const first = (await call("GET", path)).body.data;
  expect([first.messages, first.searched_since === null]).toEqual([[], false]);
  const rest = (await call("GET", `${path}&after=${first.pagination.next_cursor}`)).body.data;
  expect(rest.messages).toHaveLength(1);
  expect([rest.searched_since, rest.pagination.next_cursor]).toEqual([null, null]);
});

test("the few who unsubscribed from a large campaign are all in the first answer", async () => {
  const many = await sentCampaign(database, workspaceId, { base: service.url, deliveredAt: new Date() });
  await database.run(sql`
    insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id, unsubscribed_at)
    select ${workspaceId}, ${many.campaignId}, id, id, case when number % 5000 = 1 then now() end
    from (
      select number, (lpad(to_hex(number), 12, '0') || '70018000000000000000')::uuid as id
      from generate_series(1, ${MOST_RECIPIENTS_READ * 2}::int) number) numbers`);
  await database.run(sql`
    insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, created_at, updated_at)
    select workspace_id, message_id, 'campaign', 'x', 'a@b.test', 'p', 'c.test', 's', now(), now()
    from campaign_recipients where campaign_id = ${many.campaignId} and unsubscribed_at is not null`);
  const { body } = await call("GET", `/campaigns/${many.campaignId}/messages?unsubscribed=true&limit=3`);
  const { messages, searched_since, pagination } = body.data;
  expect([messages.length, searched_since, pagination.total]).toEqual([3, null, 4]);
  const { body: rest } = await call(
    "GET",
    `/campaigns/${many.campaignId}/messages?unsubscribed=true&limit=3&after=${pagination.next_cursor}`,
  );
  expect([rest.data.messages.length, rest.data.pagination.next_cursor]).toEqual([1, null]);
});

test("a link has its first and last click and its clicks by hour, without those of programs", async () => {
  const sent = await sentCampaign(database, workspaceId, {
    base: service.url,
    people: 3,
    urls: ["https://shop.example/", "https://shop.example/sale"],
    deliveredAt: new Date("2026-03-01T08:00:00Z"),
  });
  const click = (person: number, at: string, more: Partial<Engagement> = {}): Engagement => ({
    workspaceId,
    messageId: sent.mails[person]?.messageId ?? "",
    kind: "clicked",
    time: new Date(at),
    times: 1,
    linkIndex: 1,
    target: "https://shop.example/sale",
    userAgent: "Mail",
    machineSign: null,
    ...more,
  });
  const events = [
    click(0, "2026-03-01T09:59:00Z"),
    click(1, "2026-03-01T10:00:00Z", { times: 2 }),
    click(2, "2026-03-01T10:30:00Z"),
    click(0, "2026-03-01T11:00:00Z", { linkIndex: 0, target: "https://shop.example/" }),
    click(2, "2026-03-01T09:00:00Z", { machineSign: "agent" }),
    click(2, "2026-05-01T12:15:00Z"),
  ];
  await database.transaction((tx) => recordEngagements(tx, events, createEngagementReactions(systemClock)));
  const path = `/campaigns/${sent.campaignId}/links/activity`;
  const { status, body } = await call("GET", `${path}?link=1`);
  expect([status, body.data]).toEqual([
    200,
    {
      index: 1,
      url: "https://shop.example/sale",
      is_personal: false,
      target_url: null,
      target_changed_at: null,
      click_count: 5,
      unique_click_count: 3,
      first_clicked_at: "2026-03-01T09:59:00.000Z",
      last_clicked_at: "2026-05-01T12:15:00.000Z",
      hours: [
        { time: "2026-03-01T09:00:00.000Z", clicks: 1 },
        { time: "2026-03-01T10:00:00.000Z", clicks: 3 },
      ],
    },
  ]);
  expect((await call("GET", path)).body.data).toMatchObject({ index: 0, hours: [{ clicks: 1 }] });
  expect((await call("GET", `${path}?link=2`)).status).toBe(404);
  expect((await call("GET", `${path}?link=x`)).body.details[0].field).toBe("link");
  const { key } = await service.newWorkspace();
  expect((await call("GET", `${path}?link=1`, undefined, { key })).status).toBe(404);
});

test("another workspace's campaign is not found", async () => {
  const { key } = await service.newWorkspace();
  expect((await read("opened=true", key)).status).toBe(404);
});
