import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { createReactions } from "#processes/reactions.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";

const service = await startService();
const { call, database, clock, workspaceId } = service;
await verifyShop(database, workspaceId);

/** A campaign to these addresses that is sending, with its messages by address. */
async function sendingTo(addresses: readonly string[]) {
  const list = await newList(database, workspaceId);
  await addPeople(
    database,
    workspaceId,
    list,
    addresses.map((email) => ({ email })),
  );
  const id = await newCampaign(database, workspaceId, list);
  const sent = await call("POST", `/campaigns/${id}/send`);
  expect(sent.status).toBe(200);
  await advanceDueCampaigns(
    { db: database, clock, plans },
    new AbortController().signal,
    createLog("silent"),
  );
  const rows = await database.rows<{ id: string; email: string }>(sql`
    select id, localpart || '@' || domain as email from messages where origin_id = ${id}`);
  return { id, list, messages: new Map(rows.map((row) => [row.email, row.id])) };
}

type Sending = Awaited<ReturnType<typeof sendingTo>>;

const tell = ({ messages }: Sending, email: string, ...[status, particulars]: Tail) =>
  database.transaction((tx) =>
    recordOutcomes(
      tx,
      [
        outcomeOf({ workspaceId, messageId: messages.get(email) ?? "" }, status, {
          time: clock.now(),
          ...particulars,
        }),
      ],
      createReactions(clock),
    ),
  );
type Tail = [Parameters<typeof outcomeOf>[1], Parameters<typeof outcomeOf>[2]?];

const progressOf = async (id: string) => {
  const { status, body } = await call("GET", `/campaigns/${id}/progress`);
  expect(status).toBe(200);
  return body.data;
};

test("each person of the audience is in exactly one state", async () => {
  const campaign = await sendingTo(["a@one.test", "b@one.test", "c@one.test", "d@two.test", "e@two.test"]);
  await tell(campaign, "a@one.test", "delivered");
  await tell(campaign, "b@one.test", "bounced", { code: 550, isAddressFault: true });
  await tell(campaign, "d@two.test", "delivered");
  await tell(campaign, "d@two.test", "complained");
  await database.run(sql`
    update delivery_queue set leased_by = ${newId()} where message_id = ${campaign.messages.get("c@one.test")}`);
  const progress = await progressOf(campaign.id);
  expect(progress).toMatchObject({
    id: campaign.id,
    status: "sending",
    total: 5,
    is_total_final: true,
    counts: { preparing: 0, waiting: 1, in_delivery: 1, deferred: 0, delivered: 2, bounced: 1 },
    attempted: 3,
    complained: 1,
  });
  const sum = Object.values<number>(progress.counts).reduce((all, one) => all + one, 0);
  expect(sum).toBe(progress.total);
  expect(progress.domains).toMatchObject([
    { domain: "one.test", queued: 1, delivered: 1, bounced: 1 },
    { domain: "two.test", queued: 1, delivered: 1 },
  ]);
  expect(progress.other_domains).toMatchObject({ domains: 0, queued: 0 });
});

test("the people of other domains are summed, so that the domains add up to the total", async () => {
  const addresses = Array.from({ length: 23 }, (_, at) => `a@d${at}.test`);
  const campaign = await sendingTo([...addresses, "b@d22.test"]);
  const { domains, other_domains } = await progressOf(campaign.id);
  expect([domains.length, domains[0].domain, domains[0].queued]).toEqual([20, "d22.test", 2]);
  expect(other_domains).toMatchObject({ domains: 3, queued: 3 });
});

test("rate and ETA are those of the last minute", async () => {
  const campaign = await sendingTo(["a@rate.test", "b@rate.test", "c@rate.test", "d@rate.test"]);
  expect(await progressOf(campaign.id)).toMatchObject({ rate_per_minute: 0, eta: null });
  await tell(campaign, "a@rate.test", "delivered");
  await tell(campaign, "b@rate.test", "failed");
  const { rate_per_minute, eta } = await progressOf(campaign.id);
  expect(rate_per_minute).toBe(2);
  // Two messages wait, and two a minute are finished.
  expect(Math.round((Date.parse(eta) - clock.now().getTime()) / 1_000)).toBeCloseTo(60, -1);
  clock.advance(61_000);
  expect(await progressOf(campaign.id)).toMatchObject({ rate_per_minute: 0, eta: null });
});

test("people who are left out are counted by reason", async () => {
  const campaign = await sendingTo(["a@left.test", "b@left.test"]);
  await database.run(sql`
    update campaigns set excluded_suppressed = 3, excluded_unsubscribed = 2, excluded_invalid = 1 where id = ${campaign.id}`);
  expect((await progressOf(campaign.id)).excluded).toEqual({
    total: 6,
    suppressed: 3,
    unsubscribed: 2,
    invalid: 1,
    duplicate: 0,
  });
});

test("what limits a campaign is named, with the answer of the server that defers its mail", async () => {
  const campaign = await sendingTo(["a@slow.test", "b@slow.test"]);
  const cause = async () => (await progressOf(campaign.id)).limited_by;
  expect(await cause()).toBe(null);
  await tell(campaign, "a@slow.test", "deferred", {
    nextAttemptAt: new Date(clock.now().getTime() + 60_000),
    code: 421,
    enhancedCode: "4.7.28",
    mxHost: "mx.slow.test",
    detail: "421 4.7.28 too fast",
  });
  expect(await cause()).toEqual({
    cause: "provider",
    text: "slow.test defers mail (421 4.7.28). It is tried again.",
    pause_reason: null,
  });
  expect((await progressOf(campaign.id)).last_deferral).toMatchObject({
    domain: "slow.test",
    mx_host: "mx.slow.test",
    code: 421,
    enhanced_code: "4.7.28",
    text: "421 4.7.28 too fast",
  });
  await database.run(sql`update campaigns set waits_for_cap = true where id = ${campaign.id}`);
  expect(await cause()).toMatchObject({ cause: "hourly_cap" });
  await database.run(sql`
    update campaigns set status = 'paused', pause_reason = 'insufficient_balance' where id = ${campaign.id}`);
  expect(await cause()).toMatchObject({ cause: "balance", pause_reason: "insufficient_balance" });
  await database.run(sql`update campaigns set pause_reason = null where id = ${campaign.id}`);
  expect(await cause()).toMatchObject({ cause: "paused", pause_reason: null });
});

test("messages that wait for the quota of a new sending IP name the warm-up", async () => {
  const campaign = await sendingTo(["a@warm.test"]);
  await call("POST", "/sending-ips", { ip: "198.51.100.7", pool: "main", warm_up: true });
  await database.run(sql`
    update sending_ips set warm_up_started_at = now() where workspace_id = ${workspaceId} and ip = '198.51.100.7'`);
  await database.run(sql`
    update delivery_queue set source_ip = '198.51.100.7' where campaign_id = ${campaign.id}`);
  expect((await progressOf(campaign.id)).limited_by).toMatchObject({ cause: "warm_up" });
});

test("a draft has no progress, and a deleted campaign is not found", async () => {
  const list = await newList(database, workspaceId);
  const id = await newCampaign(database, workspaceId, list);
  expect(await progressOf(id)).toMatchObject({ status: "draft", limited_by: null, sent_at: null });
  await call("DELETE", `/campaigns/${id}`);
  expect((await call("GET", `/campaigns/${id}/progress`)).status).toBe(404);
});

test("a scheduled campaign goes to as many people as its check says, without those who are suppressed", async () => {
  const list = await newList(database, workspaceId);
  const people = ["a", "b", "c", "d"].map((name) => ({ email: `${name}@later.test` }));
  await addPeople(database, workspaceId, list, people);
  const suppressions = await call("POST", "/suppression-lists", { name: "Never" });
  const entries = `/suppression-lists/${suppressions.body.data.id}/entries`;
  await call("POST", entries, { entries: "a@later.test" });
  await call("POST", `/mailing-lists/${list}/subscribers`, { email: "e@later.test", status: "unsubscribed" });
  const id = await newCampaign(database, workspaceId, list);
  const scheduled_at = new Date(clock.now().getTime() + 3_600_000).toISOString();
  expect((await call("POST", `/campaigns/${id}/send`, { scheduled_at })).body.data).toMatchObject({
    status: "scheduled",
    total_recipients: 3,
  });
  const { status, body } = await call("POST", `/campaigns/${id}/check`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.data.audience).toMatchObject({ total: 5, will_send: 3 });
  expect(await progressOf(id)).toMatchObject({ total: 3, counts: { preparing: 3 }, is_total_final: false });
});
