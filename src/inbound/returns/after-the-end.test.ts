/** Reports about messages that already had another final outcome: all counters agree afterwards. */
import sql from "sql-template-tag";
import { afterEach, expect, test } from "vitest";
import { findListMiscounts } from "#reporting/counters/list-miscounts-store.ts";
import { findReportMiscounts } from "#reporting/counters/miscounts-store.ts";
import { findOriginMiscounts } from "#sending/campaigns/counters/miscounts-store.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { BOUNCE_DOMAIN, complaintReport, deliveryReport, startReturns } from "#test/support/returns.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";

const returns = await startReturns();
const { service, returnPath, token, receive, message } = returns;
const { database, workspaceId, call, clock } = service;
const sendPlatformMail = createPlatformMail("hello@posthaste.test", clock);
const FBL = `fbl@${BOUNCE_DOMAIN}`;

const soft = { status: "5.2.2", diagnostic: "552 5.2.2 Mailbox full" };
const block = {
  status: "5.7.1",
  diagnostic: "554 5.7.1 Service unavailable; client host blocked using zen.spamhaus.org",
};
const hard = { status: "5.1.1", diagnostic: "550 5.1.1 No such user here" };

afterEach(async () => {
  expect(await findOriginMiscounts(database, "campaign")).toEqual([]);
  expect(await findReportMiscounts(database)).toEqual([]);
  expect(await findListMiscounts(database)).toEqual([]);
});

/** A campaign to a list with one member. */
async function campaignToOne() {
  const options = { base: "https://x.test", deliveredAt: clock.now(), isDelivered: false };
  const { mails, ...campaign } = await sentCampaign(database, workspaceId, options);
  const [mail] = mails;
  if (mail === undefined) throw new Error("a campaign without a mail");
  await database.run(sql`update campaign_counters set queued = 1 where campaign_id = ${campaign.campaignId}`);
  await database.run(sql`
    insert into campaign_domains (workspace_id, campaign_id, domain, queued)
    values (${workspaceId}, ${campaign.campaignId}, ${mail.email.split("@")[1]}, 1)`);
  return { ...campaign, ...mail };
}

const get = async (path: string) => (await call("GET", path)).body.data;
const ofMessage = (id: string) => (row: { message_id: string }) => row.message_id === id;
const bouncesOf = async (id: string) => (await get("/bounces")).bounces.filter(ofMessage(id));
const complaintsOf = async (id: string) => (await get("/complaints")).complaints.filter(ofMessage(id));
const statsOf = async (listId: string) =>
  (await get("/mailing-lists/stats")).find(({ id }: { id: string }) => id === listId);

async function personOf(email: string) {
  const row = await database.row<{ id: string }>(sql`
    select id from subscribers where workspace_id = ${workspaceId} and email = ${email}`);
  return get(`/subscribers/${row?.id}`);
}

async function suppressedFor(address: string): Promise<string | undefined> {
  const row = await database.row<{ reason: string }>(sql`
    select reason from suppression_entries
    where workspace_id = ${workspaceId} and normalized_value = ${address}`);
  return row?.reason;
}

test.each([
  ["soft", soft],
  ["block", block],
])(
  "a report that the address does not exist turns a %s bounce into a hard one, once",
  async (type, first) => {
    const { campaignId, listId, email, messageId } = await campaignToOne();
    await returns.settle(messageId, "delivered");
    const before = (await get("/bounces-complaints/dashboard")).bounce_stats;
    await receive(returnPath(messageId), deliveryReport(email, first));
    expect(await bouncesOf(messageId)).toMatchObject([{ bounce_type: type }]);
    expect(await suppressedFor(email)).toBeUndefined();

    const report = deliveryReport(email, hard);
    await Promise.all([receive(returnPath(messageId), report), receive(returnPath(messageId), report)]);
    for (const again of [report, deliveryReport(email, first)]) {
      expect(await receive(returnPath(messageId), again)).toMatchObject({ result: "known" });
    }
    const { status, timeline } = await message(messageId);
    expect([status, ...timeline.map((event) => event.type)]).toEqual([
      "bounced",
      "queued",
      "delivered",
      "bounced",
      "bounced",
    ]);
    expect(await suppressedFor(email)).toBe("hard_bounce");
    expect(await personOf(email)).toMatchObject({
      status: "bounced",
      stats: { sent: 1, delivered: 0, bounced: 1, complained: 0 },
    });
    expect(await bouncesOf(messageId)).toMatchObject([
      { bounce_type: "hard", category: "NoEmail", smtp_code: 550, enhanced_code: "5.1.1" },
    ]);
    const after = (await get("/bounces-complaints/dashboard")).bounce_stats;
    const names = ["total_bounces", "hard_bounces", "soft_bounces", "block_bounces"];
    expect(names.map((name) => after[name] - before[name])).toEqual([1, 1, 0, 0]);
    expect(await statsOf(listId)).toMatchObject({ bounce_rate: 1, complaint_rate: 0 });
    const judged = await database.row(sql`
    select bounced, hard_bounced from campaign_counters where campaign_id = ${campaignId}`);
    expect(judged).toEqual({ bounced: 1, hard_bounced: 1 });
  },
);

test.each([
  ["softly", soft],
  ["by a block", block],
  ["for good", hard],
])("a complaint about a message that bounced %s counts, once", async (_, first) => {
  const { campaignId, listId, email, messageId } = await campaignToOne();
  await returns.settle(messageId, "delivered");
  await receive(returnPath(messageId), deliveryReport(email, first));
  expect(await receive(FBL, complaintReport("unknown"))).toMatchObject({ status: "quarantined" });
  expect((await message(messageId)).status).toBe("bounced");

  const complaint = complaintReport(token(messageId));
  expect(await receive(FBL, complaint)).toMatchObject({ result: "complained" });
  expect(await receive(FBL, complaint)).toMatchObject({ result: "known" });
  expect(await receive(returnPath(messageId), deliveryReport(email, hard))).toMatchObject({
    result: "known",
  });
  expect((await message(messageId)).status).toBe("complained");
  expect(await complaintsOf(messageId)).toHaveLength(1);
  expect(await bouncesOf(messageId)).toHaveLength(1);
  expect(await suppressedFor(email)).toBe("complaint");
  expect(await personOf(email)).toMatchObject({
    status: "complained",
    stats: { sent: 1, delivered: 1, bounced: 0, complained: 1 },
  });
  const counts = { sent_count: 1, delivered_count: 1, bounce_count: 0, complaint_count: 1 };
  expect(await get(`/campaigns/${campaignId}`)).toMatchObject(counts);
  expect(await statsOf(listId)).toMatchObject({ bounce_rate: 0, complaint_rate: 1 });
});

test.each(["failed", "suppressed", "cancelled"] as const)(
  "a complaint about a message recorded as %s counts, because its recipient has seen it",
  async (status) => {
    const { campaignId, listId, email, messageId } = await campaignToOne();
    await returns.settle(messageId, status);
    expect(await receive(FBL, complaintReport(token(messageId)))).toMatchObject({ result: "complained" });
    expect(await suppressedFor(email)).toBe("complaint");
    expect(await personOf(email)).toMatchObject({
      status: "complained",
      stats: { sent: 1, delivered: 1, complained: 1 },
    });
    const counts = { sent_count: 1, delivered_count: 1, complaint_count: 1 };
    expect(await get(`/campaigns/${campaignId}`)).toMatchObject(counts);
    expect(await statsOf(listId)).toMatchObject({ complaint_rate: 1 });
  },
);

test("a report after its campaign was deleted still counts for the list", async () => {
  const [gone, seen] = [await campaignToOne(), await campaignToOne()];
  for (const { campaignId, messageId } of [gone, seen]) {
    await returns.settle(messageId, "delivered");
    expect((await call("DELETE", `/campaigns/${campaignId}`)).status).toBe(200);
  }
  await receive(returnPath(gone.messageId), deliveryReport(gone.email, hard));
  await receive(FBL, complaintReport(token(seen.messageId)));
  expect(await statsOf(gone.listId)).toMatchObject({ bounce_rate: 1, complaint_rate: 0, health_score: 40 });
  expect(await statsOf(seen.listId)).toMatchObject({ bounce_rate: 0, complaint_rate: 1, health_score: 40 });
});

test("a complaint about a transactional message that bounced counts, and a hard bounce after a soft one", async () => {
  const [seen, gone] = [
    await returns.deliver("seen@example.test"),
    await returns.deliver("gone@example.test"),
  ];
  await receive(returnPath(seen), deliveryReport("seen@example.test", soft));
  await receive(returnPath(gone), deliveryReport("gone@example.test", soft));
  expect(await receive(FBL, complaintReport(token(seen)))).toMatchObject({ result: "complained" });
  expect(await receive(returnPath(gone), deliveryReport("gone@example.test", hard))).toMatchObject({
    result: "bounced",
  });
  expect(await suppressedFor("seen@example.test")).toBe("complaint");
  expect(await suppressedFor("gone@example.test")).toBe("hard_bounce");
});

test("a hard bounce after a soft one suppresses the recipient of the service's own mail, too, and counts for no list", async () => {
  const email = "new@example.test";
  const content = { subject: "Please confirm", html: "<p>Hello</p>", text: "Hello" };
  const mail = { kind: "signup_confirmation" as const, to: email, write: () => content };
  await database.transaction((tx) => sendPlatformMail(tx, workspaceId, mail));
  const sent = await database.row<{ id: string }>(sql`select id from messages where source = 'platform'`);
  const id = sent?.id ?? expect.fail("no mail");
  await returns.settle(id, "delivered");
  await receive(returnPath(id), deliveryReport(email, soft));
  expect(await suppressedFor(email)).toBeUndefined();
  expect(await receive(returnPath(id), deliveryReport(email, hard))).toMatchObject({ result: "bounced" });
  expect(await suppressedFor(email)).toBe("hard_bounce");
  for (const again of [hard, soft]) {
    expect(await receive(returnPath(id), deliveryReport(email, again))).toMatchObject({ result: "known" });
  }
  const types = (await message(id)).timeline.map(({ type }) => type);
  expect(types).toEqual(["queued", "delivered", "bounced", "bounced"]);
  expect(await bouncesOf(id)).toEqual([]);
});
