import sql from "sql-template-tag";
import { beforeEach, describe, expect, it, test } from "vitest";
import { lockDays } from "#audience/subscribers/mail-counters-store.ts";
import type { Outcome } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { findMessage, listEvents, type NewMessage } from "#messages/store.ts";
import { systemClock } from "#platform/clock.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createReactions } from "#processes/reactions.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { addPeople, findMiscounts, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { insertSuppressedAddresses } from "./entry-store.ts";
import { expireHardBounces } from "./remove-in-steps.ts";
import { ensureSystemList, findSuppressionList } from "./store.ts";

const db = await testDatabase();
let workspaceId: WorkspaceId;
beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
});

async function accept(to: string, change: Partial<NewMessage> = {}): Promise<string> {
  const accepted = draft(workspaceId, to, change);
  await insertDrafts(db, [accepted]);
  return accepted.message.id;
}

const outcome = (messageId: string, status: Outcome["status"], isAddressFault = false) =>
  outcomeOf({ workspaceId, messageId }, status, { isAddressFault });

/** Records outcomes with the reactions of the delivery process. */
const record = (...outcomes: Outcome[]) =>
  db.transaction((tx) => recordOutcomes(tx, outcomes, createReactions(systemClock)));

const entries = (of = workspaceId) =>
  db.rows(sql`
    select e.normalized_value as value, e.reason, e.source_message_id as message, e.created_by as by
    from suppression_entries e join suppression_lists l on l.id = e.suppression_list_id and l.is_system
    where e.workspace_id = ${of} order by e.normalized_value`);

const statuses = async () =>
  db.rows<{ email: string; status: string }>(sql`
    select distinct s.email, m.status from memberships m join subscribers s on s.id = m.subscriber_id
    where m.workspace_id = ${workspaceId} order by 1, 2`);

const bounce = async (to: string) => {
  const id = await accept(to);
  await record(outcome(id, "bounced", true));
  return id;
};

describe("an address with a hard bounce", () => {
  it("is on the list of bounces with the message that bounced, and bounced on every mailing list", async () => {
    const [news, offers] = [await newList(db, workspaceId), await newList(db, workspaceId)];
    await addPeople(db, workspaceId, news, [{ email: "ada@example.com" }, { email: "bob@example.com" }]);
    await addPeople(db, workspaceId, offers, [{ email: "ada@example.com", status: "unsubscribed" }]);
    const id = await bounce("Ada@example.com");
    expect(await entries()).toEqual([
      { value: "ada@example.com", reason: "hard_bounce", message: id, by: "system" },
    ]);
    expect(await statuses()).toEqual([
      { email: "ada@example.com", status: "bounced" },
      { email: "bob@example.com", status: "active" },
    ]);
    expect(await findMiscounts(db)).toEqual([]);
    const listId = await ensureSystemList(db, workspaceId);
    expect(await findSuppressionList(db, workspaceId, listId)).toMatchObject({ entry_count: 1 });
  });

  it("gets no more mail, whatever its status is set to; the log says why", async () => {
    await bounce("ada@example.com");
    const id = await accept("ADA@example.com");
    expect(await findMessage(db, workspaceId, id)).toMatchObject({
      status: "suppressed",
      attempts: 0,
      error_message: "Suppressed (hard_bounce): on the list Bounces and complaints",
    });
    expect(await listEvents(db, workspaceId, id)).toMatchObject([
      { type: "suppressed", attempt: null, detail: expect.stringContaining("hard_bounce") },
    ]);
    expect(await db.rows(sql`select from delivery_queue where message_id = ${id}`)).toEqual([]);
    expect(await db.rows(sql`select from message_contents where message_id = ${id}`)).toEqual([]);
  });

  it("is one entry, however many messages bounce at once, and in how many workspaces", async () => {
    const other = await insertBareWorkspace(db);
    const ids = [
      await accept("ada@example.com"),
      await accept("Ada@Example.com"),
      await accept("bob@example.com"),
    ];
    const theirs = draft(other, "ada@example.com");
    await insertDrafts(db, [theirs]);
    const outcomes = ids.map((id) => outcome(id, "bounced", true));
    await record(...outcomes, { ...outcome(theirs.message.id, "bounced", true), workspaceId: other });
    expect(await entries()).toMatchObject([{ value: "ada@example.com" }, { value: "bob@example.com" }]);
    expect(await entries(other)).toMatchObject([{ value: "ada@example.com" }]);
    await record(...outcomes);
    expect(await entries()).toHaveLength(2);
  });
});

test.each([
  // For another reason than the address.
  "bounced",
  "failed",
  "deferred",
  "delivered",
] as const)("a message that %s suppresses nobody", async (status) => {
  await record(outcome(await accept("ada@example.com"), status));
  expect(await entries()).toEqual([]);
});

test("a bounce of a message that has ended already suppresses no address", async () => {
  const id = await accept("ada@example.com");
  await record(outcome(id, "failed"));
  await record(outcome(id, "bounced", true));
  expect(await entries()).toEqual([]);
});

test("a complaint takes precedence over a bounce in any order, and stays with the person", async () => {
  const news = await newList(db, workspaceId);
  await addPeople(db, workspaceId, news, [{ email: "ada@example.com" }]);
  const [first, second, third] = [
    await accept("ada@example.com"),
    await accept("ada@example.com"),
    await accept("ada@example.com"),
  ];
  await record(outcome(first, "delivered"), outcome(second, "delivered"));
  await record(outcome(third, "bounced", true));
  await record(outcome(first, "complained"));
  expect(await entries()).toEqual([
    { value: "ada@example.com", reason: "complaint", message: first, by: "system" },
  ]);
  expect(await statuses()).toEqual([{ email: "ada@example.com", status: "complained" }]);
  await record(outcome(second, "bounced", true));
  expect(await entries()).toMatchObject([{ reason: "complaint", message: first }]);
  expect(await statuses()).toEqual([{ email: "ada@example.com", status: "complained" }]);
  expect(await findMiscounts(db)).toEqual([]);
});

test("the service's own mail is suppressed by bounces and complaints, not by entries of callers", async () => {
  await bounce("bounced@example.com");
  const listId = await ensureSystemList(db, workspaceId);
  await db.run(sql`
    insert into suppression_entries (workspace_id, suppression_list_id, id, entry_value, normalized_value, entry_type,
      reason, created_by, created_at)
    values (${workspaceId}, ${listId}, gen_random_uuid(), 'example.org', 'example.org', 'domain', 'manual', 'x', now())`);
  const statusOf = async (to: string, source: NewMessage["source"]) =>
    (await findMessage(db, workspaceId, await accept(to, { source })))?.status;
  expect(await statusOf("bounced@example.com", "platform")).toBe("suppressed");
  expect(await statusOf("ada@example.org", "platform")).toBe("queued");
  expect(await statusOf("ada@example.org", "api")).toBe("suppressed");
});

test("an entry of a caller stays one when its address bounces, too", async () => {
  const listId = await ensureSystemList(db, workspaceId);
  await db.run(sql`
    insert into suppression_entries (workspace_id, suppression_list_id, id, entry_value, normalized_value, entry_type,
      reason, created_by, created_at)
    values (${workspaceId}, ${listId}, gen_random_uuid(), 'Ada@x', 'ada@example.com', 'email', 'manual', 'x',
      now() - interval '1 year')`);
  const lost = {
    address: "ada@example.com",
    reason: "hard_bounce",
    messageId: newId(),
    time: new Date(),
  } as const;
  await db.transaction((tx) => insertSuppressedAddresses(tx, { workspaceId, listId }, [lost], "system"));
  expect(await entries()).toMatchObject([{ reason: "hard_bounce", message: lost.messageId, by: "x" }]);
  await expireHardBounces(db, new Date(Date.now() + 3_600_000));
  expect(await entries()).toMatchObject([{ reason: "hard_bounce", by: "x" }]);
});

test("old hard bounces expire if the operator wants it; complaints and entries of callers do not", async () => {
  const complained = await accept("complained@example.com");
  await record(outcome(complained, "delivered"));
  await record(outcome(complained, "complained"));
  await bounce("old@example.com");
  await bounce("new@example.com");
  const systemList = await ensureSystemList(db, workspaceId);
  await db.run(sql`
    insert into suppression_entries (workspace_id, suppression_list_id, id, entry_value, normalized_value, entry_type,
      reason, created_by, created_at)
    values (${workspaceId}, ${systemList}, gen_random_uuid(), 'said@example.com', 'said@example.com', 'email',
      'hard_bounce', 'A key', now())`);
  const day = 24 * 3_600_000;
  await db.run(sql`
    update suppression_entries set created_at = now() - interval '40 days' where normalized_value <> 'new@example.com'`);
  await expireHardBounces(db, new Date(Date.now() - 30 * day));
  expect(await entries()).toMatchObject([
    { value: "complained@example.com" },
    { value: "new@example.com" },
    { value: "said@example.com" },
  ]);
  const listId = await ensureSystemList(db, workspaceId);
  expect(await findSuppressionList(db, workspaceId, listId)).toMatchObject({ entry_count: 2 });
});

test.each([
  ["an address that does not exist", { isAddressFault: true }],
  ["the last of many soft bounces", { classification: { type: "soft", category: "MailboxFull" } as const }],
])(
  "a batch of people lost by %s and of campaign mail takes days of lists in everybody's order",
  async (_, cause) => {
    const [first, second] = [await newList(db, workspaceId), await newList(db, workspaceId)];
    await addPeople(db, workspaceId, second, [{ email: "ada@example.com" }]);
    const originId = await newCampaign(db, workspaceId, first);
    await db.run(sql`update campaigns set audience_list_id = mailing_list_id where id = ${originId}`);
    const sent = await accept("bob@example.com", { source: "campaign", originId });
    const lost = await accept("ada@example.com");
    await db.run(sql`
    insert into soft_bounces (workspace_id, address, failures, first_failed_at, last_failed_at)
    values (${workspaceId}, 'ada@example.com', 4, now() - interval '4 days', now() - interval '1 day')`);
    const dayOf = (list: string) =>
      sql`(select ${workspaceId}::uuid as workspace_id, ${list}::uuid as mailing_list_id, now() as time)`;
    await db
      .transaction(async (tx) => {
        await lockDays(tx, dayOf(first));
        const recorded = record({ ...outcome(lost, "bounced"), ...cause }, outcome(sent, "delivered"));
        recorded.catch(() => {});
        await untilWaiting(db, 1);
        await lockDays(tx, dayOf(second));
        return { recorded };
      })
      .then(({ recorded }) => recorded);
    expect(await entries()).toHaveLength(1);
    expect(await findMiscounts(db)).toEqual([]);
  },
);

test("concurrent result batches, new members and deletions of lists do not deadlock", async () => {
  const lists = await Promise.all([1, 2, 3].map(() => newList(db, workspaceId)));
  const people = Array.from({ length: 60 }, (_, at) => ({ email: `a${at}@example.com` }));
  const ids = await Promise.all(people.map(({ email }) => accept(email)));
  const shuffled = (by: number) => ids.map((_, at) => ids[(at * by) % ids.length] ?? "");
  await Promise.all([
    ...lists.map((list) => addPeople(db, workspaceId, list, people)),
    record(...shuffled(7).map((id) => outcome(id, "bounced", true))),
    record(...shuffled(11).map((id) => outcome(id, "bounced", true))),
    record(...shuffled(13).map((id) => outcome(id, "bounced", true))),
  ]);
  expect(await entries()).toHaveLength(60);
  expect(await findMiscounts(db)).toEqual([]);
});
