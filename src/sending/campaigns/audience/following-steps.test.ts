import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#platform/clock.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import { pauseCampaign, resumeCampaign } from "#sending/campaigns/transitions-store.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { addressesOf, newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { type Expansion, expandStep } from "./expand.ts";

const db = await testDatabase();
const log = createLog("silent");
let workspaceId: WorkspaceId;
let list: string;

beforeEach(async () => {
  await db.run(sql`update campaigns set status = 'cancelled' where status in ('sending', 'paused')`);
  workspaceId = await insertBareWorkspace(db);
  await verifyShop(db, workspaceId);
  list = await newList(db, workspaceId);
  await setPlan("enterprise");
});

const setPlan = (plan: "free" | "enterprise") =>
  changeWorkspace(db, workspaceId, { plan }, { clock: systemClock, plans });
const begin = async () => {
  const id = await newCampaign(db, workspaceId, list);
  await db.run(sql`update campaigns set status = 'sending', sent_at = now() where id = ${id}`);
  return id;
};
const recipientsOf = (id: string) => addressesOf(db, id);

describe("a step that begins behind another one", () => {
  const emails = Array.from({ length: 5 }, (_, at) => `p${at}@${at % 2 === 0 ? "even" : "odd"}.test`);
  let id: string;
  beforeEach(async () => {
    await addPeople(
      db,
      workspaceId,
      list,
      emails.map((email) => ({ email })),
    );
    id = await begin();
    expect(await step({ size: 1 })).toBe(true);
  });
  const step = (more: Partial<Expansion>) =>
    expandStep({ db, clock: systemClock, plans, size: 2, ...more }, workspaceId, id);
  /** Makes a step when everything of the next one is there but its commit. */
  const stepAfterItsSuccessor = async () => {
    const isMade = Promise.withResolvers<boolean>();
    const second = step({ behind: { to: await personAt(2), isMade: isMade.promise } });
    await eventually("the second step to wait", async () =>
      db.row(sql`
        select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
          and query like '%with asked as%'`),
    );
    const first = await step({});
    isMade.resolve(first);
    return [first, await second];
  };
  const personAt = async (place: number) => {
    const members = await db.rows<{ id: string }>(sql`
      select subscriber_id as id from memberships where mailing_list_id = ${list} order by 1`);
    return members[place]?.id ?? expect.fail("no such person");
  };
  /** What is kept of the campaign in one place and the other. */
  const kept = () =>
    db.row(sql`
      select (select count(*)::int from campaign_recipients where campaign_id = ${id}) as recipients,
        (select count(*)::int from messages where origin_id = ${id}) as log,
        (select count(*)::int from delivery_queue where campaign_id = ${id}) as queue,
        (select sum(queued)::int from report_notes where origin_id = ${id}) as notes,
        (select sum(quantity)::int from meter_entries where workspace_id = ${workspaceId}) as metered,
        (select sum(queued)::int from campaign_domains where campaign_id = ${id}) as domains,
        (select queued from campaign_counters where campaign_id = ${id}) as counter,
        (select total_recipients from campaigns where id = ${id}) as total`);
  const everywhere = (count: number) => ({
    recipients: count,
    log: count,
    queue: count,
    notes: count,
    metered: count,
    domains: count,
    counter: count,
    total: count,
  });

  test("is committed after it, and each person gets one message, in the order of ids", async () => {
    const isMade = Promise.withResolvers<boolean>();
    const second = Promise.withResolvers<boolean>();
    const first = await step({
      onChosen: (to) => second.resolve(step({ behind: { to, isMade: isMade.promise } })),
    });
    isMade.resolve(first);
    expect([first, await second.promise]).toEqual([true, true]);
    expect(await recipientsOf(id)).toEqual(emails);
    const made = await db.rows<{ id: string }>(sql`
      select message_id as id from campaign_recipients where campaign_id = ${id} order by subscriber_id`);
    expect(made.map((one) => one.id)).toEqual(made.map((one) => one.id).sort());
  });

  test("waits for it with nothing that it may want, and counts behind it", async () => {
    expect(await stepAfterItsSuccessor()).toEqual([true, true]);
    expect(await recipientsOf(id)).toEqual(emails);
    expect(await kept()).toEqual(everywhere(5));
    expect([await step({}), await kept()]).toEqual([true, everywhere(5)]);
  });

  test("comes to nothing with it", async () => {
    await pauseCampaign(db, workspaceId, id, null, new Date());
    expect(await step({ behind: { to: await personAt(2), isMade: Promise.resolve(true) } })).toBe(false);
    await resumeCampaign(db, workspaceId, id, new Date());
    expect(await step({ behind: { to: await personAt(2), isMade: Promise.resolve(false) } })).toBe(false);
    expect(await kept()).toEqual(everywhere(1));
  });

  test("is not made for a workspace that was suspended meanwhile", async () => {
    await changeWorkspace(db, workspaceId, { is_suspended: true }, { clock: systemClock, plans });
    expect([await step({}), await kept()]).toEqual([false, everywhere(1)]);
  });

  test("comes to nothing when the cursor is not where it begins", async () => {
    expect(await step({ behind: { to: await personAt(2), isMade: Promise.resolve(true) } })).toBe(false);
    expect(await kept()).toEqual(everywhere(1));
  });

  test("does not start near a limit, or with no people left", async () => {
    const told: string[] = [];
    const onChosen = (to: string) => told.push(to);
    await setPlan("free");
    await step({ onChosen });
    await setPlan("enterprise");
    await step({ size: 3, onChosen });
    expect(told).toEqual([]);
    expect(await recipientsOf(id)).toEqual(emails);
  });
});

test("with concurrent steps each person gets one message, and the counters agree", async () => {
  const emails = Array.from({ length: 60 }, (_, at) => `p${String(at).padStart(2, "0")}@example.test`);
  await addPeople(
    db,
    workspaceId,
    list,
    emails.map((email) => ({ email })),
  );
  const id = await begin();
  const { signal } = new AbortController();
  const process = () => advanceDueCampaigns({ db, clock: systemClock, plans, size: 1 }, signal, log);
  await Promise.all([process(), process(), process()]);
  await process();
  expect(await recipientsOf(id)).toEqual(emails);
  expect(await findCampaign(db, workspaceId, id)).toMatchObject({ total_recipients: 60 });
});

test("campaigns of one workspace take turns", async () => {
  const emails = ["ada", "bob", "cid", "dan"].map((name) => ({ email: `${name}@example.test` }));
  await addPeople(db, workspaceId, list, emails);
  const ids = [await begin(), await begin()];
  await advanceDueCampaigns({ db, clock: systemClock, plans, size: 1 }, new AbortController().signal, log);
  const made = await db.rows<{ id: string }>(sql`
    select campaign_id as id from campaign_recipients where campaign_id = any(${ids}::uuid[]) order by message_id`);
  expect(made.map(({ id }) => id)).toEqual(emails.flatMap(() => ids));
});
