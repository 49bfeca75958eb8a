/** A campaign to which everything has happened that counters count; then each of them is made wrong. */
import sql, { raw, type Sql } from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import type { Outcome } from "#messages/message/outcome.ts";
import { type Engagement, recordEngagements, recordUnsubscribed } from "#messages/record-engagement.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { systemClock } from "#platform/clock.ts";
import { createEngagementReactions, createReactions } from "#processes/reactions.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { countUnsubscribed } from "./engagement-store.ts";
import { findOriginMiscounts } from "./miscounts-store.ts";

const db = await testDatabase();
const workspaceId = await insertBareWorkspace(db);
const onMoved = createReactions(systemClock);
const onEngaged = createEngagementReactions(systemClock);
const { campaignId, mails } = await sentCampaign(db, workspaceId, {
  base: "https://x.test",
  people: 5,
  urls: ["https://shop.example/", "https://shop.example/about"],
  deliveredAt: new Date(),
  isDelivered: false,
});

const at = (time: string) => new Date(`2026-11-20T${time}Z`);
const miscounts = () => findOriginMiscounts(db, "campaign");
const mail = (place: number) => ({ workspaceId, messageId: mails[place]?.messageId ?? "" });

async function tell(place: number, status: Outcome["status"], time: string, more: Partial<Outcome> = {}) {
  const outcome = outcomeOf(mail(place), status, { time: at(time), ...more });
  await db.transaction((tx) => recordOutcomes(tx, [outcome], onMoved));
  expect(await miscounts()).toEqual([]);
}

async function engage(place: number, kind: Engagement["kind"], time: string, more: Partial<Engagement> = {}) {
  const engagement = {
    ...mail(place),
    kind,
    time: at(time),
    times: 1,
    linkIndex: kind === "clicked" ? 0 : null,
    target: null,
    userAgent: "A browser",
    machineSign: null,
    ...more,
  };
  await db.transaction((tx) => recordEngagements(tx, [engagement], onEngaged));
  expect(await miscounts()).toEqual([]);
}

async function leave(place: number, time: string) {
  const { messageId } = mail(place);
  await db.transaction(async (tx) => {
    await countUnsubscribed(tx, "campaign", workspaceId, messageId, at(time));
    await recordUnsubscribed(tx, workspaceId, messageId, at(time));
  });
}

beforeAll(async () => {
  const its = sql`workspace_id = ${workspaceId} and campaign_id = ${campaignId}`;
  await db.run(sql`update campaign_counters set queued = 5 where ${its}`);
  await db.run(sql`
    insert into campaign_domains (workspace_id, campaign_id, domain, queued)
    values (${workspaceId}, ${campaignId}, 'people.test', 5)`);
  await tell(0, "deferred", "10:59:59");
  await tell(0, "deferred", "11:30:00", { attempts: 2 });
  await tell(0, "delivered", "12:00:00", { attempts: 3 });
  await tell(1, "bounced", "11:00:00");
  await tell(1, "bounced", "13:00:00", { attempts: null, isAddressFault: true });
  await tell(2, "bounced", "11:10:00", { isAddressFault: true });
  await tell(2, "complained", "12:10:00", { attempts: null });
  await tell(3, "suppressed", "11:20:00", { attempts: null });
  await tell(3, "complained", "13:10:00", { attempts: null });
  await tell(4, "failed", "11:40:00");
  await engage(0, "opened", "12:20:00");
  await engage(0, "opened", "12:59:59", { machineSign: "prefetch" });
  await engage(0, "clicked", "13:00:00", { times: 30 });
  await engage(0, "clicked", "13:30:00");
  await engage(0, "clicked", "13:31:00", { linkIndex: 1 });
  await engage(2, "clicked", "14:00:00");
  await engage(2, "clicked", "14:00:00", { linkIndex: 1, machineSign: "all_links" });
  await leave(0, "14:59:59");
});

test("counters of hours and links are what the log says", async () => {
  expect(await miscounts()).toEqual([]);
  const hours = await db.rows(sql`
    select hour, sent, opens, clicks, unsubscribes, complaints from campaign_hours
    where campaign_id = ${campaignId} order by hour`);
  expect(hours).toEqual(
    [
      ["10", 1, 0, 0, 0, 0],
      ["11", 3, 0, 0, 0, 0],
      ["12", 0, 1, 0, 0, 1],
      ["13", 1, 0, 32, 0, 1],
      ["14", 0, 0, 1, 1, 0],
    ].map(([hour, sent, opens, clicks, unsubscribes, complaints]) => ({
      hour: at(`${hour}:00:00`),
      sent,
      opens,
      clicks,
      unsubscribes,
      complaints,
    })),
  );
});

/** What is found when a statement has been made, which leaves no trace. */
async function after(statement: Sql) {
  const undone = Promise.withResolvers<Awaited<ReturnType<typeof miscounts>>>();
  const attempt = db.transaction(async (tx) => {
    await tx.run(statement);
    undone.resolve(await findOriginMiscounts(tx, "campaign"));
    throw new Error("undone");
  });
  await expect(attempt).rejects.toThrow("undone");
  return undone.promise;
}

test.each([
  ["sent", 1, 2, "10"],
  ["opens", 1, 2, "12"],
  ["clicks", 32, 33, "13"],
  ["unsubscribes", 1, 2, "14"],
  ["complaints", 1, 2, "12"],
])("%s of an hour that are too many are found", async (counter, counted, kept, hour) => {
  const change = sql`
    update campaign_hours set ${raw(counter)} = ${raw(counter)} + 1 where hour = ${at(`${hour}:00:00`)}`;
  expect(await after(change)).toEqual([
    {
      counter_of: `campaign_hours 2026-11-20T${hour}:00Z`,
      origin_id: campaignId,
      domain: null,
      counter,
      kept,
      counted,
    },
  ]);
});

test("an hour that is missing is found, and one in which nothing happened", async () => {
  const found = async (statement: Sql) =>
    new Set((await after(statement)).map(({ counter, kept, counted }) => `${counter} ${kept} ${counted}`));
  expect(await found(sql`delete from campaign_hours where hour = ${at("14:00:00")}`)).toEqual(
    new Set(["clicks 0 1", "unsubscribes 0 1"]),
  );
  const moved = sql`update campaign_hours set hour = ${at("09:00:00")} where hour = ${at("10:00:00")}`;
  expect(await found(moved)).toEqual(new Set(["sent 0 1", "sent 1 0"]));
});

test.each([
  ["click_count", 0, 33, 32],
  ["unique_click_count", 1, 2, 1],
])("the %s of a link that is too high is found", async (counter, index, kept, counted) => {
  const change = sql`
    update campaign_links set ${raw(counter)} = ${raw(counter)} + 1 where index = ${index}`;
  expect(await after(change)).toEqual([
    { counter_of: `campaign_links ${index}`, origin_id: campaignId, domain: null, counter, kept, counted },
  ]);
});

test("hard bounces, which auto-pause uses, are compared, including those that were soft at first", async () => {
  expect(await after(sql`update campaign_counters set hard_bounced = 1`)).toEqual([
    {
      counter_of: "campaign",
      origin_id: campaignId,
      domain: null,
      counter: "hard_bounced",
      kept: 1,
      counted: 2,
    },
  ]);
});
