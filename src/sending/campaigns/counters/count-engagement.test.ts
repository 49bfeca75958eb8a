import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { type Engagement, recordEngagements } from "#messages/record-engagement.ts";
import { newId } from "#platform/ids.ts";
import { purgeDeletedCampaigns } from "#sending/campaigns/purge-deleted-store.ts";
import { stubClock } from "#test/support/clock.ts";
import { startService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { countEngaged } from "./count-engagement.ts";
import { engagementScores } from "./engagement-store.ts";
import { refreshEngagementScores } from "./refresh-engagement-scores.ts";

const service = await startService();
const { database: db, workspaceId, url: base } = service;

const days = (count: number) => count * 86_400_000;
const now = new Date();

function engagement(
  messageId: string,
  kind: Engagement["kind"],
  change: Partial<Engagement> = {},
): Engagement {
  const linkIndex = kind === "clicked" ? 0 : null;
  return {
    workspaceId,
    messageId,
    kind,
    time: now,
    times: 1,
    linkIndex,
    target: null,
    userAgent: "A browser",
    machineSign: null,
    ...change,
  };
}

const record = (engagements: readonly Engagement[], at = now) =>
  db.transaction((tx) =>
    recordEngagements(tx, engagements, (_tx, engaged) => countEngaged(_tx, engaged, at)),
  );

async function newMail() {
  const campaign = await sentCampaign(db, workspaceId, { base, deliveredAt: now });
  const [mail] = campaign.mails;
  if (mail === undefined) throw new Error("a campaign without a mail");
  return { ...campaign, ...mail };
}

/** Sends the person another message, as old as said, which may have been opened and clicked. */
async function earlier(email: string, age: number, did: { readonly opened?: true; readonly clicked?: true }) {
  const time = now.getTime() - age;
  const hex = time.toString(16).padStart(12, "0");
  const messageId = `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`;
  await db.run(sql`
    insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id, first_opened_at, first_clicked_at)
    select workspace_id, ${newId()}, id, ${messageId}, ${did.opened ? now : null}::timestamptz,
      ${did.clicked ? now : null}::timestamptz
    from subscribers where email = ${email}`);
}

async function scoreOf(email: string): Promise<number | undefined> {
  const row = await db.row<{ engagement_score: number }>(sql`
    select engagement_score from subscribers where email = ${email}`);
  return row?.engagement_score;
}

test("a message counts half as much in the score as one 60 days younger", async () => {
  const { email, messageId } = await newMail();
  await earlier(email, days(60), {});
  await record([engagement(messageId, "opened"), engagement(messageId, "clicked")]);
  expect(await scoreOf(email)).toBe(67); // (4·1 + 0·½) / (4·1 + 4·½)
});

test("only the last 20 messages count", async () => {
  const { email, messageId } = await newMail();
  for (let age = 1; age <= 19; age++) await earlier(email, age, { opened: true, clicked: true });
  for (let age = 20; age <= 30; age++) await earlier(email, age, {});
  await record([engagement(messageId, "opened"), engagement(messageId, "clicked")]);
  expect(await scoreOf(email)).toBe(100);
});

const clock = stubClock(now);
let read = 0;
/** The age of a message that the next run reads: older than an hour, and newer than those before it. */
const unread = () => 2 * 3_600_000 - read++;
const refresh = (options: Parameters<typeof refreshEngagementScores>[2] = {}) =>
  refreshEngagementScores({ db, clock }, new AbortController().signal, options);

test("a score falls with messages that are not opened", async () => {
  const { email, messageId } = await newMail();
  await record([engagement(messageId, "opened")]);
  expect(await scoreOf(email)).toBe(25);
  for (let count = 0; count < 4; count++) await earlier(email, unread(), {});
  expect(await refresh()).toBe(1);
  expect(await scoreOf(email)).toBe(5);
});

test("only the recipients of new mail are read again", async () => {
  const { email } = await newMail();
  await earlier(email, unread(), {});
  await refresh();
  await db.run(sql`update subscribers set engagement_score = 99 where email = ${email}`);
  expect(await refresh()).toBe(0);
  expect(await scoreOf(email)).toBe(99);
});

test("time alone does not change a score", async () => {
  const { email, messageId } = await newMail();
  await earlier(email, days(60), { opened: true });
  await earlier(email, days(7), {});
  await record([engagement(messageId, "opened"), engagement(messageId, "clicked")]);
  const { id: subscriberId = "" } =
    (await db.row<{ id: string }>(sql`select id from subscribers where email = ${email}`)) ?? {};
  const scoreAt = (time: number) => engagementScores(db, [{ workspaceId, subscriberId }], new Date(time));
  expect(await scoreAt(now.getTime() + days(3_000))).toEqual(await scoreAt(now.getTime()));
});

test("a deleted campaign takes its mail out of the score when it leaves the log", async () => {
  const { email, messageId, campaignId } = await newMail();
  await record([engagement(messageId, "opened")]);
  expect((await service.call("DELETE", `/campaigns/${campaignId}`)).status).toBe(200);
  await db.run(sql`delete from messages where id = ${messageId}`);
  await purgeDeletedCampaigns({ db, clock }, new AbortController().signal);
  expect(await scoreOf(email)).toBe(0);
});

/** A person of a workspace whose score is to fall from 100 to 0 because of old mail. */
async function oneToFall(workspace = workspaceId): Promise<string> {
  const { mails } = await sentCampaign(db, workspace, { base, deliveredAt: now });
  const email = mails[0]?.email ?? "";
  await earlier(email, unread(), {});
  await db.run(sql`update subscribers set engagement_score = 100 where email = ${email}`);
  return email;
}

test("a run that ends early is continued by the next one", async () => {
  await refresh();
  const people = [await oneToFall(), await oneToFall()];
  let pages = 0;
  expect(await refresh({ step: 1, isOver: () => pages++ > 1 })).toBe(1);
  expect((await Promise.all(people.map(scoreOf))).toSorted((a = 0, b = 0) => a - b)).toEqual([0, 100]);
  expect(await refresh({ step: 1 })).toBe(1);
  expect(await Promise.all(people.map(scoreOf))).toEqual([0, 0]);
});

test("a person who is locked holds up the scores of their workspace only, until the next run", async () => {
  const other = await service.newWorkspace();
  const [busy, free] = [await oneToFall(), await oneToFall(other.workspaceId)];
  await db.transaction(async (tx) => {
    await tx.run(sql`select from subscribers where email = ${busy} for update`);
    await expect(refresh()).rejects.toThrow("the scores of 1 workspaces failed");
  });
  expect([await scoreOf(busy), await scoreOf(free)]).toEqual([100, 0]);
  expect(await refresh()).toBe(1);
  expect(await scoreOf(busy)).toBe(0);
});

test("the mail of a deleted campaign goes on to count for its list", async () => {
  const { messageId, campaignId, listId } = await newMail();
  expect((await service.call("DELETE", `/campaigns/${campaignId}`)).status).toBe(200);
  await record([engagement(messageId, "opened"), engagement(messageId, "clicked")]);
  const day = await db.row(sql`
    select open_count, click_count, engaged_count from list_days
    where mailing_list_id = ${listId} and open_count > 0`);
  expect(day).toEqual({ open_count: 1, click_count: 1, engaged_count: 1 });
});

test("another workspace's message leaves no trace", async () => {
  const { messageId, campaignId } = await newMail();
  const other = await service.newWorkspace();
  await record([engagement(messageId, "opened", { workspaceId: other.workspaceId })]);
  const events = await db.rows(
    sql`select from message_events where message_id = ${messageId} and type = 'opened'`,
  );
  expect(events).toEqual([]);
  const counters = await db.row(sql`select opens from campaign_counters where campaign_id = ${campaignId}`);
  expect(counters).toEqual({ opens: 0 });
});

test("a message that is of no campaign has its event, and moves nothing", async () => {
  const { messageId, email } = await newMail();
  await db.run(sql`update messages set source = 'api' where id = ${messageId}`);
  await record([engagement(messageId, "opened")]);
  const events = await db.rows(
    sql`select from message_events where message_id = ${messageId} and type = 'opened'`,
  );
  expect(events).toHaveLength(1);
  expect(await scoreOf(email)).toBe(0);
});

test("recorders of several machines count a person once, however they meet", async () => {
  const { mails, campaignId } = await sentCampaign(db, workspaceId, { base, people: 30, deliveredAt: now });
  const all = mails.flatMap(({ messageId }) => [
    engagement(messageId, "opened"),
    engagement(messageId, "clicked"),
  ]);
  await Promise.all([record(all), record(all.toReversed()), record(all), record(all.toReversed())]);
  const counters = await db.row(sql`
    select opens, unique_opens, clicks, unique_clicks from campaign_counters where campaign_id = ${campaignId}`);
  expect(counters).toEqual({ opens: 120, unique_opens: 30, clicks: 120, unique_clicks: 30 });
  const link = await db.row(sql`
    select click_count, unique_click_count from campaign_links where campaign_id = ${campaignId}`);
  expect(link).toEqual({ click_count: 120, unique_click_count: 30 });
});
