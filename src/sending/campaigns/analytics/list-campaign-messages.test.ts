import sql, { type Sql } from "sql-template-tag";
import { expect, test } from "vitest";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { systemClock } from "#platform/clock.ts";
import { newId } from "#platform/ids.ts";
import { createReactions } from "#processes/reactions.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { findCampaignMessages } from "./list-campaign-messages.ts";

const db = await testDatabase();

test("what a status shows is counted at one moment, whatever workers do meanwhile", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const { campaignId, mails } = await sentCampaign(db, workspaceId, {
    base: "https://x.test",
    deliveredAt: new Date(),
    isDelivered: false,
  });
  await db.run(sql`update campaign_counters set queued = 1 where campaign_id = ${campaignId}`);
  const outcomes = mails.map(({ messageId }) => outcomeOf({ workspaceId, messageId }, "deferred"));
  let isTried = false;
  /** The message is deferred, and retried after the counters were read. */
  const busy: typeof db = {
    ...db,
    async row<Row>(statement: Sql) {
      const read = await db.row<Row>(statement);
      if (isTried || !statement.sql.includes("campaign_counters")) return read;
      isTried = true;
      await db.transaction((tx) => recordOutcomes(tx, outcomes, createReactions(systemClock)));
      await db.run(sql`update delivery_queue set leased_by = ${newId()}`);
      return read;
    },
  };
  const totalOf = async (status: "queued" | "deferred" | "sending") => {
    const filter = { status, email: undefined };
    return (await findCampaignMessages(busy, workspaceId, campaignId, filter, { limit: 10, offset: 0 }))
      .total;
  };
  expect([await totalOf("deferred"), isTried]).toEqual([0, true]);
  expect([await totalOf("queued"), await totalOf("deferred"), await totalOf("sending")]).toEqual([0, 0, 1]);
  await db.run(sql`update delivery_queue set leased_by = null`);
  expect([await totalOf("queued"), await totalOf("deferred"), await totalOf("sending")]).toEqual([0, 1, 0]);
});
