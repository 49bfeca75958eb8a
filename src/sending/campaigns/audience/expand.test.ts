import sql, { type Sql } from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { removeSegment } from "#audience/segments/store.ts";
import { removeAllMembers } from "#audience/subscribers/remove-all-members.ts";
import { systemClock } from "#platform/clock.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { createLog } from "#platform/log/log.ts";
import type { CampaignSettings } from "#sending/campaigns/campaign.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import { cancelCampaign, pauseCampaign, resumeCampaign } from "#sending/campaigns/transitions-store.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { addressesOf, newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { insertSegment } from "#test/support/suppression.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { expandStep } from "./expand.ts";
import { forgetRemovedPeople } from "./purge-removal-records.ts";

const db = await testDatabase();
const log = createLog("silent");
const LOCK = 4711;
let workspaceId: WorkspaceId;
let list: string;

// A campaign that is named here has steps that fail with this SQLSTATE, or wait for a lock. Steps share the lock: a step
// that had it alone would hold it until the commit of the step before it, which may be waiting for the same lock.
await db.run(sql`create table obstacles (campaign_id uuid primary key, state text not null)`);
await db.run(sql`
  create function meet_obstacle() returns trigger language plpgsql as $$
  declare met text;
  begin
    select state into met from obstacles where campaign_id = new.campaign_id;
    if met = 'wait' then perform pg_advisory_xact_lock_shared(4711);
    elsif met is not null then raise exception 'obstacle' using errcode = met; end if;
    return new;
  end $$`);
await db.run(sql`
  create trigger obstacle before insert on campaign_recipients for each row execute function meet_obstacle()`);

beforeEach(async () => {
  await db.run(sql`update campaigns set status = 'cancelled' where status in ('sending', 'paused')`);
  workspaceId = await insertBareWorkspace(db);
  await verifyShop(db, workspaceId);
  list = await newList(db, workspaceId);
});

const begin = async (change: Partial<CampaignSettings> = {}, workspace = workspaceId, to = list) => {
  const id = await newCampaign(db, workspace, to, change);
  await db.run(sql`update campaigns set status = 'sending', sent_at = now() where id = ${id}`);
  return id;
};
const setPlan = (plan: "free" | "enterprise") =>
  changeWorkspace(db, workspaceId, { plan }, { clock: systemClock, plans });
const find = async (id: string) => (await findCampaign(db, workspaceId, id)) ?? expect.fail("no campaign");
const advanceAt = (clock = systemClock) =>
  advanceDueCampaigns({ db, clock, plans }, new AbortController().signal, log);
const obstruct = (id: string, state: string) => db.run(sql`insert into obstacles values (${id}, ${state})`);
const recipientsOf = (id: string) => addressesOf(db, id);
const custom = (rules: readonly object[], mailing_list_id: string | null = null) =>
  ({
    recipient_type: "custom",
    mailing_list_id,
    segment_conditions: { logic: "and", rules },
  }) as const;
const isNamed = (start: string) => ({ field: "email", operator: "starts_with", value: start });
/** Puts values on a suppression list of its own. */
const suppress = async (value: string, scope: Sql) => {
  await db.run(sql`
    with l as (
      insert into suppression_lists (workspace_id, id, name, created_at, updated_at, suppression_scope, mailing_list_id)
      select ${workspaceId}, gen_random_uuid(), 'Never', now(), now(), ${scope} returning id
    )
    insert into suppression_entries (workspace_id, suppression_list_id, id, entry_value, normalized_value, entry_type,
      reason, created_by, created_at)
    select ${workspaceId}, id, gen_random_uuid(), ${value}, ${value}, 'email', 'manual', 'x', now() from l`);
};

test("who is left out is counted by what keeps mail from them", async () => {
  await addPeople(db, workspaceId, list, [
    { email: "ada@example.test" },
    { email: "left@example.test", status: "unsubscribed" },
    { email: "gone@example.test", status: "bounced" },
    { email: "angry@example.test", status: "complained" },
    { email: "never@example.test" },
  ]);
  await suppress("never@example.test", sql`'global', null`);
  const excluded = { suppressed: 2, unsubscribed: 1, invalid: 1, duplicate: 0 };
  const statuses = ["active", "unsubscribed", "bounced", "complained"];
  const named = [{ field: "status", operator: "is_one_of", value: statuses }];
  const whole = await begin();
  const byStatus = await begin(custom(named, list));
  await advanceAt();
  for (const id of [whole, byStatus]) {
    expect(await find(id)).toMatchObject({ total_recipients: 1, excluded });
    expect(await recipientsOf(id)).toEqual(["ada@example.test"]);
  }
});

test("a large expansion gives its place up now and then, and ends nevertheless", async () => {
  await addPeople(db, workspaceId, list, [{ email: "ada@example.test" }]);
  const ids = [await begin(), await begin(), await begin()];
  const { signal } = new AbortController();
  let turns = 0;
  while (turns < 20) {
    turns += 1;
    const end = await advanceDueCampaigns({ db, clock: systemClock, plans }, signal, log, 0).catch(
      (fault: unknown) => fault,
    );
    if (end === undefined) break;
    expect(end).toBeInstanceOf(PutBack);
  }
  expect(turns).toBeGreaterThan(2);
  expect(turns).toBeLessThan(20);
  for (const id of ids) expect(await recipientsOf(id)).toEqual(["ada@example.test"]);
});

describe("an address whose person is removed and added again", () => {
  const emails = ["ada", "bob", "cid"].map((name) => `${name}@example.test`);
  const add = (names: readonly string[]) =>
    addPeople(
      db,
      workspaceId,
      list,
      names.map((email) => ({ email })),
    );
  const removeAll = () => removeAllMembers(db, workspaceId, list, new Date());
  const messagesOf = async (id: string) =>
    (
      await db.rows<{ address: string }>(sql`
        select localpart || '@' || domain as address from messages where origin_id = ${id} order by 1`)
    ).map(({ address }) => address);
  const forget = () => forgetRemovedPeople(db).run({ signal: new AbortController().signal, log });
  const countRemoved = async () =>
    (
      await db.rows<{ count: number }>(sql`
        select count(*)::int as count from removed_people where workspace_id = ${workspaceId}`)
    )[0]?.count;

  test("gets one message of a campaign that is being made ready, however often; who had none gets one", async () => {
    await add(emails);
    const id = await begin();
    const step = () => expandStep({ db, clock: systemClock, plans, size: 2 }, workspaceId, id);
    expect(await step()).toBe(true);
    for (const name of ["dan", "eve"]) {
      await removeAll();
      await add([...emails, `${name}@example.test`]);
    }
    await forget();
    await advanceAt();
    expect(await messagesOf(id)).toEqual([...emails, "eve@example.test"]);
    expect(await find(id)).toMatchObject({
      total_recipients: 4,
      excluded: { suppressed: 0, unsubscribed: 0, invalid: 0, duplicate: 2 },
    });
    // The next campaign goes to all people: removed people are forgotten.
    const next = await begin();
    await advanceAt();
    expect(await messagesOf(next)).toEqual([...emails, "eve@example.test"]);
    expect(await countRemoved()).toBe(7);
    await forget();
    expect(await countRemoved()).toBe(0);
  });

  test("a step that may not see the message yet is discarded, and made after its predecessor", async () => {
    await setPlan("enterprise");
    await add(emails);
    const id = await begin();
    await expandStep({ db, clock: systemClock, plans, size: 3 }, workspaceId, id);
    const cursor = await db.row<{ to: string }>(
      sql`select expanded_to as to from campaigns where id = ${id}`,
    );
    await removeAll();
    await add(emails);
    const behind = { to: cursor?.to ?? expect.fail("no cursor"), isMade: Promise.resolve(true) };
    expect(await expandStep({ db, clock: systemClock, plans, behind }, workspaceId, id)).toBe(false);
    expect(await expandStep({ db, clock: systemClock, plans }, workspaceId, id)).toBe(true);
    expect(await messagesOf(id)).toEqual(emails);
  });
});

describe("conditions without a list", () => {
  test("know one status of a person: who is active on a list has not left, whatever they left besides", async () => {
    const other = await newList(db, workspaceId, "Other");
    await addPeople(db, workspaceId, list, [{ email: "both@example.test" }]);
    await addPeople(db, workspaceId, other, [
      { email: "both@example.test", status: "unsubscribed" },
      { email: "left@example.test", status: "unsubscribed" },
    ]);
    const left = await begin(custom([{ field: "status", operator: "is", value: "unsubscribed" }]));
    const stayed = await begin(custom([{ field: "status", operator: "is_not", value: "unsubscribed" }]));
    await advanceAt();
    expect(await find(left)).toMatchObject({ total_recipients: 0, excluded: { unsubscribed: 1 } });
    expect(await recipientsOf(left)).toEqual([]);
    expect(await recipientsOf(stayed)).toEqual(["both@example.test"]);
  });

  test("reach every matching person of the workspace once, wherever the steps begin", async () => {
    const other = await newList(db, workspaceId, "Other");
    const named = (start: string, count: number) =>
      Array.from({ length: count }, (_, at) => ({ email: `${start}${at}@example.test` }));
    await addPeople(db, workspaceId, list, [...named("ada", 5), ...named("bob", 9), ...named("eve", 3)]);
    await addPeople(db, workspaceId, other, [...named("ada", 3), ...named("bob", 2), ...named("ida", 4)]);
    const wanted = [...named("ada", 5)].map(({ email }) => email);
    for (const size of [1, 2, 3, 5, 100]) {
      const id = await begin(custom([isNamed("ada")]));
      while (await expandStep({ db, clock: systemClock, plans, size }, workspaceId, id));
      expect(await recipientsOf(id)).toEqual(wanted);
      expect((await find(id)).total_recipients).toBe(5);
    }
  });

  test("look at no more people in a step than the step has", async () => {
    await addPeople(
      db,
      workspaceId,
      list,
      Array.from({ length: 10 }, (_, at) => ({ email: `user${at}@example.test` })),
    );
    const id = await begin(custom([isNamed("user9")]));
    const step = () => expandStep({ db, clock: systemClock, plans, size: 4 }, workspaceId, id);
    expect([await step(), await recipientsOf(id)]).toEqual([true, []]);
    expect([await step(), await recipientsOf(id)]).toEqual([true, []]);
    expect([await step(), await recipientsOf(id)]).toEqual([true, ["user9@example.test"]]);
    expect(await step()).toBe(false);
  });

  test("are of no list: suppression lists of one do not apply, global ones do", async () => {
    await addPeople(db, workspaceId, list, [{ email: "ada@example.test" }, { email: "adb@example.test" }]);
    await suppress("ada@example.test", sql`'mailing_list', ${list}::uuid`);
    await suppress("adb@example.test", sql`'global', null`);
    const id = await begin(custom([isNamed("ad")]));
    await advanceAt();
    expect(await recipientsOf(id)).toEqual(["ada@example.test"]);
  });
});

describe("the number of recipients", () => {
  const add = (names: readonly string[]) =>
    addPeople(
      db,
      workspaceId,
      list,
      names.map((name) => ({ email: `${name}@example.test` })),
    );
  const shown = async (id: string) => (await find(id)).total_recipients;

  test("stays the estimate until the audience is complete, or more people are found", async () => {
    await add(["bob", "cid", "dan", "ada1", "ada2", "ada3"]);
    const id = await begin({ ...custom([isNamed("ada")]), total_recipients: 2 });
    const more = await begin({ ...custom([isNamed("ada")]), total_recipients: 9 });
    const step = (of: string) => expandStep({ db, clock: systemClock, plans, size: 3 }, workspaceId, of);
    await step(id);
    await step(more);
    expect([await shown(id), await shown(more)]).toEqual([2, 9]);
    await step(id);
    await step(more);
    expect([await shown(id), await shown(more)]).toEqual([3, 9]);
    while (await step(more));
    expect(await shown(more)).toBe(3);
  });

  test("of a campaign that was cancelled before or during its expansion is the number of messages", async () => {
    await add(["ada", "bob", "cid"]);
    const estimated = { total_recipients: 30 };
    const scheduled = await newCampaign(db, workspaceId, list, estimated);
    await db.run(sql`update campaigns set status = 'scheduled' where id = ${scheduled}`);
    const gone = await begin({ ...estimated, mailing_list_id: "0197a0c0-0000-7000-8000-000000000000" });
    const halfway = await begin(estimated);
    await expandStep({ db, clock: systemClock, plans, size: 2 }, workspaceId, halfway);
    await expandStep({ db, clock: systemClock, plans }, workspaceId, gone);
    expect([await shown(scheduled), await shown(gone), await shown(halfway)]).toEqual([30, 30, 30]);
    for (const id of [scheduled, gone, halfway]) await cancelCampaign(db, workspaceId, id, new Date());
    expect([await shown(scheduled), await shown(gone), await shown(halfway)]).toEqual([0, 0, 2]);
  });
});

test("a campaign whose conditions name a segment or a list that is gone is paused and says so", async () => {
  await addPeople(db, workspaceId, list, [{ email: "ada@example.test" }]);
  const segment = await insertSegment(db, workspaceId, list, "S");
  const rules = [isNamed("ada"), { field: "segment", operator: "is_not_in", value: segment }];
  const gone = "0197a0c0-0000-7000-8000-000000000000";
  const ids = [
    await begin(custom(rules, list)),
    await begin(custom([{ field: "mailing_list", operator: "is_not_active_in", value: gone }])),
    await begin({ recipient_type: "segment", segment_id: segment }),
    await begin({ mailing_list_id: gone }),
  ];
  await removeSegment(db, workspaceId, segment);
  await advanceAt();
  for (const id of ids) {
    expect(await find(id)).toMatchObject({ status: "paused", pause_reason: "audience_missing" });
    expect(await recipientsOf(id)).toEqual([]);
  }
});

describe("a step that fails", () => {
  test.each([
    ["57014", "audience_too_costly"],
    ["XX000", "audience_failed"],
  ])("with %s is tried later and later, and in the end the campaign is paused: %s", async (state, reason) => {
    await addPeople(db, workspaceId, list, [{ email: "ada@example.test" }]);
    const clock = stubClock();
    const id = await begin();
    await obstruct(id, state);
    const failures = async () =>
      (await db.row<{ n: number }>(sql`select expansion_failures as n from campaigns where id = ${id}`))?.n;
    for (const [at, seconds] of [5, 10, 20, 40].entries()) {
      await advanceAt(clock);
      expect([await failures(), (await find(id)).status]).toEqual([at + 1, "sending"]);
      clock.advance(seconds * 1_000 - 1);
      await advanceAt(clock);
      expect(await failures()).toBe(at + 1);
      clock.advance(1);
    }
    await advanceAt(clock);
    expect(await find(id)).toMatchObject({ status: "paused", pause_reason: reason });

    await db.run(sql`delete from obstacles where campaign_id = ${id}`);
    await resumeCampaign(db, workspaceId, id, clock.now());
    await advanceAt(clock);
    expect(await recipientsOf(id)).toEqual(["ada@example.test"]);
  });
});

describe("while a step of one workspace takes long", () => {
  /** Runs while a step of the campaign waits, which goes on afterwards. */
  const whileWaiting = async (id: string, work: () => Promise<unknown>, goOn = () => advanceAt()) => {
    await obstruct(id, "wait");
    const advancing = db.transaction(async (tx) => {
      await tx.run(sql`select pg_advisory_xact_lock(${LOCK})`);
      const running = goOn();
      await eventually("the step to wait", async () =>
        db.row(sql`select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`),
      );
      await work();
      return { running };
    });
    await (await advancing).running;
  };

  test("the campaigns of others begin, go on and end", async () => {
    await addPeople(db, workspaceId, list, [{ email: "ada@example.test" }]);
    const slow = await begin();
    const other = await insertBareWorkspace(db);
    await verifyShop(db, other);
    const theirs = await newList(db, other);
    await addPeople(db, other, theirs, [{ email: "bob@example.test" }]);
    await whileWaiting(slow, async () => {
      const quick = await begin({}, other, theirs);
      await eventually("the other campaign", async () => (await recipientsOf(quick)).length === 1);
    });
    expect(await recipientsOf(slow)).toHaveLength(1);
  });

  test("the next of the same campaign is made meanwhile", async () => {
    await addPeople(
      db,
      workspaceId,
      list,
      ["ada", "bob", "cid", "dan"].map((name) => ({ email: `${name}@example.test` })),
    );
    await setPlan("enterprise");
    const id = await begin();
    const stepBy = { db, clock: systemClock, plans, size: 1 };
    await expandStep(stepBy, workspaceId, id);
    const goOn = () => advanceDueCampaigns(stepBy, new AbortController().signal, log);
    const waiting = async () =>
      (
        await db.rows(
          sql`select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`,
        )
      ).length;
    await whileWaiting(id, () => eventually("two steps to wait", async () => (await waiting()) === 2), goOn);
    expect(await recipientsOf(id)).toHaveLength(4);
  });

  test("a call that pauses the campaign does not wait for the step, and the step is rolled back", async () => {
    await addPeople(db, workspaceId, list, [{ email: "ada@example.test" }]);
    const id = await begin();
    await whileWaiting(id, async () => {
      expect(await pauseCampaign(db, workspaceId, id, null, new Date())).toBe(true);
    });
    expect(await recipientsOf(id)).toEqual([]);
    expect(await find(id)).toMatchObject({ status: "paused", total_recipients: 0 });
  });
});
