import sql, { raw } from "sql-template-tag";
import { expect, test } from "vitest";
import { type Engagement, recordEngagements } from "#messages/record-engagement.ts";
import { newId } from "#platform/ids.ts";
import { stubClock } from "#test/support/clock.ts";
import { startService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { countEngaged } from "./count-engagement.ts";
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
    select ${workspaceId}, ${newId()}, id, ${messageId}, ${did.opened ? now : null}::timestamptz,
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

test("a score falls with messages that are not opened", async () => {
  const { email, messageId } = await newMail();
  await record([engagement(messageId, "opened")]);
  expect(await scoreOf(email)).toBe(25);
  for (let count = 0; count < 4; count++) await earlier(email, 0, {});
  const clock = stubClock(now);
  expect(await refreshEngagementScores({ db, clock }, new AbortController().signal)).toBe(1);
  expect(await scoreOf(email)).toBe(5);
  expect(await refreshEngagementScores({ db, clock }, new AbortController().signal)).toBe(0);
});

/** Two people whose scores are to fall from 100, in the order in which they are looked at. */
async function twoToFall(): Promise<[string, string]> {
  const { mails } = await sentCampaign(db, workspaceId, { base, people: 2, deliveredAt: now });
  const emails = mails.map(({ email }) => email);
  await db.run(sql`update subscribers set engagement_score = 0`);
  const rows = await db.rows<{ email: string }>(sql`
    with raised as (
      update subscribers set engagement_score = 100 where email = any (${emails}::text[]) returning id, email)
    select email from raised order by id`);
  const [first = "", second = ""] = rows.map(({ email }) => email);
  return [first, second];
}

test("scores are calculated without waiting for a locked subscriber", async () => {
  const [busy, free] = await twoToFall();
  await db.transaction(async (tx) => {
    await tx.run(sql`select from subscribers where email = ${busy} for update`);
    expect(await refreshEngagementScores({ db, clock: service.clock }, new AbortController().signal)).toBe(1);
  });
  expect([await scoreOf(busy), await scoreOf(free)]).toEqual([100, 0]);
});

test("a score that cannot be stored does not stop the others", async () => {
  const [first, second] = await twoToFall();
  await db.run(sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$`);
  await db.run(
    raw(`
    create trigger refuse before update on subscribers for each row
    when (old.email = '${first}' and new.engagement_score = 0) execute function refuse()`),
  );
  const refreshed = refreshEngagementScores({ db, clock: service.clock }, new AbortController().signal, {
    step: 1,
  });
  await expect(refreshed).rejects.toThrow("1 pages of scores failed");
  await db.run(sql`drop function refuse cascade`);
  expect([await scoreOf(first), await scoreOf(second)]).toEqual([100, 0]);
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
