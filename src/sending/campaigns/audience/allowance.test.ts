import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { unclassified } from "#messages/message/outcome.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { refundUnsent } from "#sending/acceptance/refund-store.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import { pauseCampaign, resumeCampaign } from "#sending/campaigns/transitions-store.ts";
import { listHaltedIds } from "#sending/mail/presend-store.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { getMeterReading, takeUpTo } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { topUp } from "#workspace/billing/top-up.ts";
import { changeWorkspace, type WorkspaceChanges } from "#workspace/change-workspace.ts";

const db = await testDatabase();
const clock = stubClock();
let workspaceId: WorkspaceId;
let id: string;

beforeEach(async () => {
  await db.run(sql`update campaigns set status = 'cancelled' where status in ('sending', 'paused')`);
  workspaceId = await insertBareWorkspace(db);
  await verifyShop(db, workspaceId);
  const list = await newList(db, workspaceId);
  await addPeople(
    db,
    workspaceId,
    list,
    Array.from({ length: 40 }, (_, at) => ({ email: `p${at}@example.com` })),
  );
  id = await newCampaign(db, workspaceId, list);
  await db.run(sql`update campaigns set status = 'sending', sent_at = ${clock.now()} where id = ${id}`);
});

const set = (changes: WorkspaceChanges) => changeWorkspace(db, workspaceId, changes, { clock, plans });
const work = () =>
  advanceDueCampaigns({ db, clock, plans }, new AbortController().signal, createLog("silent"));
const use = (emails: number) =>
  db.transaction((tx) => takeUpTo(tx, plans, workspaceId, "email", emails, clock.now()));
const find = async () => (await findCampaign(db, workspaceId, id)) ?? expect.fail("no campaign");
const reading = () => getMeterReading(db, plans, workspaceId, clock.now());

test("a campaign that uses up the plan pauses, says so, and goes on where it stopped once it is paid for", async () => {
  await set({ plan: "free" });
  await use(2_990);
  await work();
  expect(await find()).toMatchObject({
    status: "paused",
    pause_reason: "plan_limit_reached",
    total_recipients: 10,
  });
  const given = { amount: "1.00", gateway: "manual", description: "Test" } as const;
  await db.transaction((tx) => topUp(tx, plans, workspaceId, given, clock.now()));
  await resumeCampaign(db, workspaceId, id, clock.now());
  await work();
  expect(await find()).toMatchObject({ status: "sending", total_recipients: 40 });
  expect(await reading()).toMatchObject({ used: { email: 3_030 }, account: { balance: "0.976000" } });
});

test("one whose balance runs out reaches exactly those whom it covers", async () => {
  await set({ plan: "growth" });
  await use(49_995);
  const given = { amount: "0.01", gateway: "manual", description: "Test" } as const;
  await db.transaction((tx) => topUp(tx, plans, workspaceId, given, clock.now()));
  await work();
  expect(await find()).toMatchObject({ pause_reason: "insufficient_balance", total_recipients: 17 });
  expect((await reading()).account.balance).toBe("0.000400");
});

test("an allowance that fits to the last person pauses nothing", async () => {
  await set({ plan: "free" });
  await use(2_960);
  await work();
  const campaign = await find();
  expect(campaign).toMatchObject({ status: "sending", pause_reason: null, total_recipients: 40 });
  expect((await reading()).used.email).toBe(3_000);
});

test("mail that is paid for goes out while the campaign waits for money; a person's pause holds it", async () => {
  await set({ plan: "free" });
  await use(2_990);
  await work();
  expect((await listHaltedIds(db)).paused).not.toContain(id);
  expect(await pauseCampaign(db, workspaceId, id, null, clock.now())).toBe(true);
  expect((await listHaltedIds(db)).paused).toContain(id);
});

test("what is cancelled is given back", async () => {
  await set({ plan: "free" });
  await work();
  expect((await reading()).used.email).toBe(40);
  const rows = await db.rows<{ id: string }>(
    sql`select id from messages where workspace_id = ${workspaceId} limit 15`,
  );
  const cancelled = {
    source: "campaign",
    from: "queued",
    isSms: false,
    status: "cancelled",
    code: null,
    enhancedCode: null,
    isAddressFault: false,
    ...unclassified,
  } as const;
  const person = { localpart: "ada", domain: "example.com", originId: id, time: clock.now() };
  const moved = rows.map((row) => ({ workspaceId, messageId: row.id, ...person, ...cancelled }));
  await db.transaction((tx) => refundUnsent(tx, moved, clock.now()));
  expect((await reading()).used.email).toBe(25);
});

test("an hourly cap spreads a campaign over the hours", async () => {
  await set({ plan: "enterprise", hourly_cap: 15 });
  for (const [total, waiting_reason] of [
    [15, "hourly_cap"],
    [30, "hourly_cap"],
    [40, null],
  ]) {
    await work();
    expect(await find()).toMatchObject({
      status: "sending",
      pause_reason: null,
      waiting_reason,
      total_recipients: total,
    });
    clock.advance(3_600_000);
  }
});

test("a campaign that waits for its hourly cap goes on within a minute after that was lifted", async () => {
  await set({ plan: "enterprise", hourly_cap: 15 });
  await work();
  expect((await find()).total_recipients).toBe(15);
  await pauseCampaign(db, workspaceId, id, null, clock.now());
  expect((await find()).waiting_reason).toBeNull();
  await resumeCampaign(db, workspaceId, id, clock.now());
  expect((await find()).waiting_reason).toBeNull();
  await work();
  expect((await find()).waiting_reason).toBe("hourly_cap");
  await set({ hourly_cap: null });
  await work();
  expect((await find()).total_recipients).toBe(15);
  clock.advance(60_000);
  await work();
  expect((await find()).total_recipients).toBe(40);
});

test("a campaign of a suspended workspace says that it waits for the end of that", async () => {
  await set({ is_suspended: true });
  expect(await find()).toMatchObject({ status: "sending", waiting_reason: "workspace_suspended" });
  await set({ is_suspended: false, timezone: "Asia/Tokyo" });
  expect(await find()).toMatchObject({ waiting_reason: null, timezone: "Asia/Tokyo" });
});
