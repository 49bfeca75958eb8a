import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { systemClock } from "#platform/clock.ts";
import { createReactions } from "#processes/reactions.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";

const db = await testDatabase();

test.each([
  ["Asia/Kolkata", "2026-11-20T18:29:59Z", "2026-11-20"],
  ["Asia/Kolkata", "2026-11-20T18:30:00Z", "2026-11-21"],
  ["Asia/Kathmandu", "2026-11-20T18:15:00Z", "2026-11-21"],
  ["America/New_York", "2026-11-21T04:59:59Z", "2026-11-20"],
])("mail counts on the day that it is in %s at %s", async (timezone, moment, day) => {
  const workspaceId = await insertBareWorkspace(db);
  await db.run(sql`update workspaces set timezone = ${timezone} where id = ${workspaceId}`);
  const time = new Date(moment);
  const options = { base: "https://x.test", people: 1, deliveredAt: time, isDelivered: false };
  const { mails, listId } = await sentCampaign(db, workspaceId, options);
  const outcomes = mails.map(({ messageId }) => outcomeOf({ workspaceId, messageId }, "delivered", { time }));
  await db.transaction((tx) => recordOutcomes(tx, outcomes, createReactions(systemClock)));
  expect(
    await db.rows(sql`
      select day::text, sent_count from list_days where mailing_list_id = ${listId} and sent_count > 0`),
  ).toEqual([{ day, sent_count: 1 }]);
});
