import sql from "sql-template-tag";
import { expect, test } from "vitest";
import type { OutcomeStatus } from "#messages/message/status.ts";
import { recordEngagements } from "#messages/record-engagement.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { systemClock } from "#platform/clock.ts";
import { createEngagementReactions, createReactions } from "#processes/reactions.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { findListMiscounts } from "./list-miscounts-store.ts";

const db = await testDatabase();

/** Mails to the members of a new list, with their outcomes. */
async function mailTo(...statuses: readonly OutcomeStatus[]) {
  const workspaceId = await insertBareWorkspace(db);
  const now = new Date();
  const options = { base: "https://x.test", people: statuses.length, deliveredAt: now, isDelivered: false };
  const { mails, listId } = await sentCampaign(db, workspaceId, options);
  const outcomes = mails.map(({ messageId }, at) =>
    outcomeOf({ workspaceId, messageId }, statuses[at] ?? "delivered", { time: now, isAddressFault: true }),
  );
  await db.transaction((tx) => recordOutcomes(tx, outcomes, createReactions(systemClock)));
  const open = { workspaceId, kind: "opened", time: now, times: 2, linkIndex: null, target: null } as const;
  const opens = mails.map(({ messageId }) => ({ ...open, messageId, userAgent: "", machineSign: null }));
  await db.transaction((tx) => recordEngagements(tx, opens, createEngagementReactions(systemClock)));
  return { workspaceId, listId };
}

test("days of a list that are not what its mail came to are found, figure by figure", async () => {
  const { workspaceId, listId } = await mailTo("delivered", "bounced", "deferred", "failed");
  await mailTo("delivered");
  expect(await findListMiscounts(db)).toEqual([]);
  await db.run(sql`
    update list_days set sent_count = sent_count + 1, engaged_count = 0 where mailing_list_id = ${listId}`);
  const miscount = { workspace_id: workspaceId, counter_of: `list_days ${listId}` };
  expect(await findListMiscounts(db)).toEqual([
    { ...miscount, counter: "sent_count", kept: 5, counted: 4 },
    { ...miscount, counter: "engaged_count", kept: 0, counted: 4 },
  ]);
  await db.run(sql`delete from list_days where mailing_list_id = ${listId}`);
  expect(await findListMiscounts(db)).toHaveLength(5);
  await db.run(sql`delete from mailing_lists where id = ${listId}`);
});

test("where the log was shortened, lists are compared that were made after the oldest day it has", async () => {
  const { workspaceId, listId } = await mailTo("delivered");
  await db.run(sql`update list_days set sent_count = 9 where mailing_list_id = ${listId}`);
  await db.run(sql`
    insert into report_quarters (workspace_id, quarter, source, delivered)
    values (${workspaceId}, now() - interval '200 days', 'campaign', 8)`);
  expect(await findListMiscounts(db)).toEqual([]);
  await db.run(sql`update mailing_lists set created_at = now() + interval '1 day' where id = ${listId}`);
  expect(await findListMiscounts(db)).toMatchObject([{ counter: "sent_count", kept: 9, counted: 1 }]);
});
