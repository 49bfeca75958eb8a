import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { SubscriberEvent } from "#audience/subscribers/subscriber-events.ts";
import { newId } from "#platform/ids.ts";
import { attemptJob } from "#platform/jobs/attempt.ts";
import { createLog } from "#platform/log/log.ts";
import { addPeople, findMiscounts, type Newcomer, newList } from "#test/support/audience.ts";
import { requireOutcome } from "#test/support/ended-job.ts";
import { eventually } from "#test/support/eventually.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { bulkActionHandler } from "./bulk-action-job.ts";

const service = await startService();
const { database: db, workspaceId, clock, call } = service;
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-bulk-"));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** Events that would be announced, of transactions that committed or not. */
let events: SubscriberEvent[] = [];
/** Called in the transaction of each batch that changes people. */
let onBatch = () => {};
const handler = bulkActionHandler({
  db,
  clock,
  plans,
  onSubscribers: async (_tx, some) => {
    events.push(...some);
    onBatch();
  },
});
let news = "";
let offers = "";

beforeEach(async () => {
  await db.run(sql`delete from memberships`);
  await db.run(sql`delete from subscribers`);
  await db.run(sql`delete from subscriber_stats`);
  await db.run(sql`delete from subscriber_counters`);
  await db.run(sql`delete from list_counters`);
  [news, offers] = [await newList(db, workspaceId, "News"), await newList(db, workspaceId, "Offers")];
  events = [];
  onBatch = () => {};
});

const fill = (list: string, people: readonly Newcomer[]) => addPeople(db, workspaceId, list, people);
const people = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ email: `p${at + from}@example.com` }));

/** Runs the job until it ends or `stopping` is aborted, and returns its record. */
async function attempt(id: string, stopping = new AbortController().signal) {
  const place = { database: db, dataDir, log: createLog("error"), stopping, turnMs: 60_000 };
  await attemptJob(place, handler as never, { workspace_id: workspaceId, id });
  const job = (await call("GET", `/jobs/${id}`)).body.data;
  requireOutcome(job);
  return job;
}

async function start(body: object): Promise<string> {
  const answer = await call("POST", "/subscribers/bulk", body);
  expect(answer.status, answer.body.error).toBe(202);
  return answer.body.data.job_id;
}

const run = async (body: object) => attempt(await start(body));

const emailsOf = async (list: string, status?: string) => {
  const { body } = await call(
    "GET",
    `/mailing-lists/${list}/subscribers?limit=200${status ? `&status=${status}` : ""}`,
  );
  return body.data.subscribers.map(({ email }: { email: string }) => email).toSorted();
};
const idOf = async (email: string): Promise<string> =>
  (await call("GET", `/subscribers?search=${email}`)).body.data.subscribers[0].id;

const untilBatchIsDone = (id: string) =>
  eventually("a batch to be done", async () => {
    const row = await db.row<{ done: number }>(sql`
      select count(*) filter (where is_done)::int as done from bulk_action_batches where job_id = ${id}`);
    return (row?.done ?? 0) > 0;
  });

describe("a bulk action", () => {
  test("adds people to a list, once, and leaves members as they are", async () => {
    await fill(news, people(5));
    await fill(offers, [{ email: "p0@example.com", status: "unsubscribed" }]);
    const job = await run({ action: "add_to_list", mailing_list_id: offers, filter: { list_id: news } });
    expect(job).toMatchObject({
      type: "subscriber_bulk_action",
      status: "completed",
      total: 5,
      succeeded: 4,
      skipped: 1,
      failed: 0,
      result: { action: "add_to_list", dry_run: false, matched: 5, changed: 4, unchanged: 1, refused: 0 },
    });
    expect(await emailsOf(offers, "active")).toEqual(people(4, 1).map(({ email }) => email));
    expect(await emailsOf(offers, "unsubscribed")).toEqual(["p0@example.com"]);
    expect(events.map(({ kind, mailingListId }) => [kind, mailingListId])).toEqual(
      Array(4).fill(["updated", offers]),
    );
    expect(await findMiscounts(db)).toEqual([]);
  });

  test("refuses people without a value of a field that the list requires, and names them in the errors file", async () => {
    await fill(news, [
      { email: "a@example.com", custom_fields: { city: "Rome" } },
      { email: "b@example.com" },
    ]);
    const field = { field_name: "city", field_label: "City", field_type: "text", is_required: true };
    await call("POST", `/mailing-lists/${offers}/custom-fields`, field);
    const job = await run({ action: "add_to_list", mailing_list_id: offers, filter: { list_id: news } });
    expect(job).toMatchObject({ succeeded: 1, failed: 1 });
    expect(await emailsOf(offers)).toEqual(["a@example.com"]);
    const file = await call("GET", `/jobs/${job.id}/errors`);
    expect(file.body).toContain(`${await idOf("b@example.com")},the list requires the field city`);
  });

  test("removes people from a list, and deletes those who are on no other", async () => {
    await fill(news, people(3));
    await fill(offers, people(1));
    const job = await run({ action: "remove_from_list", mailing_list_id: news, filter: {} });
    expect(job).toMatchObject({ succeeded: 3, total: 3 });
    expect(await emailsOf(news)).toEqual([]);
    expect((await call("GET", "/subscribers")).body.data.pagination.total).toBe(1);
    expect(await findMiscounts(db)).toEqual([]);
  });

  test("deletes people from all lists, except those named", async () => {
    await fill(news, people(3));
    await fill(offers, people(3));
    const spared = await idOf("p1@example.com");
    expect(await run({ action: "delete", filter: {}, except_ids: [spared] })).toMatchObject({
      succeeded: 2,
      total: 2,
    });
    expect(await emailsOf(news)).toEqual(["p1@example.com"]);
    expect(await emailsOf(offers)).toEqual(["p1@example.com"]);
    expect(await findMiscounts(db)).toEqual([]);
  });

  test("sets a status on one list or on every list", async () => {
    await fill(news, people(2));
    await fill(offers, people(2));
    const one = await run({
      action: "set_status",
      status: "unsubscribed",
      mailing_list_id: news,
      filter: {},
    });
    expect(one).toMatchObject({ succeeded: 2 });
    expect(await emailsOf(news, "active")).toEqual([]);
    expect(await emailsOf(offers, "active")).toHaveLength(2);
    expect(events.map(({ kind }) => kind)).toEqual(["unsubscribed", "unsubscribed"]);
    const every = await run({ action: "set_status", status: "unsubscribed", filter: {} });
    expect(every).toMatchObject({ succeeded: 2 });
    expect(await emailsOf(offers, "active")).toEqual([]);
    expect(await findMiscounts(db)).toEqual([]);
  });

  test("that sets bounced suppresses the addresses, as a single call does", async () => {
    await fill(news, people(2));
    await run({ action: "set_status", status: "bounced", mailing_list_id: news, filter: {} });
    const { body } = await call("POST", "/suppressions/find", {
      addresses: ["p0@example.com", "p1@example.com"],
    });
    expect(body.data.results.map((one: { may_be_mailed: boolean }) => one.may_be_mailed)).toEqual([
      false,
      false,
    ]);
    expect(await findMiscounts(db)).toEqual([]);
  });

  test("sets and removes a field, of members only if a list is named", async () => {
    const field = { field_name: `tier${newId().slice(-6)}`, field_label: "Tier", field_type: "number" };
    await call("POST", "/custom-fields/global", field);
    await fill(news, people(2));
    await fill(offers, people(1, 5));
    const set = { action: "set_field", field: field.field_name, filter: {} };
    expect(await run({ ...set, value: "7", mailing_list_id: news })).toMatchObject({
      succeeded: 2,
      skipped: 1,
    });
    const found = await call("GET", `/subscribers?field=${field.field_name}&field_value=7`);
    expect(found.body.data.pagination.total).toBe(2);
    expect(events).toHaveLength(2);
    expect(await run({ ...set, value: 7 })).toMatchObject({ succeeded: 1, skipped: 2 });
    expect(await run({ ...set, value: null })).toMatchObject({ succeeded: 3, skipped: 0 });
  });

  test("refuses the people of later batches when the field changed its type meanwhile", async () => {
    const field_name = `size${newId().slice(-6)}`;
    const definition = { field_name, field_label: "Size", field_type: "number" };
    const field = (await call("POST", "/custom-fields/global", definition)).body.data;
    await fill(news, people(1_500));
    const id = await start({ action: "set_field", field: field_name, value: 7, filter: {} });
    const stop = new AbortController();
    // A run that has to stop finishes its batch, and begins no other.
    onBatch = () => stop.abort();
    await attempt(id, stop.signal);
    const change = await call("PUT", `/custom-fields/global/${field.id}`, { field_type: "text" });
    expect(change.status, change.body.error).toBe(200);
    expect(await attempt(id)).toMatchObject({ status: "completed", succeeded: 1_000, failed: 500 });
    const values = await db.rows(sql`
      select custom_fields -> ${field_name} as value, count(*)::int as count from subscribers group by 1 order by 2`);
    expect(values).toEqual([
      { value: null, count: 500 },
      { value: "7", count: 1_000 },
    ]);
    const file = (await call("GET", `/jobs/${id}/errors`)).body;
    expect(file).toContain(`the field ${field_name} was changed and does not take this value any more`);
  });

  test("refuses all people when the field was deleted meanwhile", async () => {
    const field_name = `gone${newId().slice(-6)}`;
    const definition = { field_name, field_label: "Gone", field_type: "text" };
    const field = (await call("POST", "/custom-fields/global", definition)).body.data;
    await fill(news, people(2));
    const id = await start({ action: "set_field", field: field_name, value: "x", filter: {} });
    await call("DELETE", `/custom-fields/global/${field.id}`);
    expect(await attempt(id)).toMatchObject({ status: "completed", succeeded: 0, failed: 2 });
  });

  test("does not give a person more than one may have, in place of a shorter value either", async () => {
    const field_name = `note${newId().slice(-6)}`;
    await call("POST", "/custom-fields/global", { field_name, field_label: "Note", field_type: "text" });
    const almostFull = "x".repeat(65_000);
    await fill(news, [
      { email: "full@example.com", custom_fields: { [field_name]: "short", other: almostFull } },
      { email: "slim@example.com", custom_fields: { [field_name]: "short" } },
    ]);
    const set = { action: "set_field", field: field_name, filter: {} };
    expect(await run({ ...set, value: "y".repeat(1_000) })).toMatchObject({ succeeded: 1, failed: 1 });
    const found = await call("GET", `/subscribers?field=${field_name}&field_value=short`);
    expect(found.body.data.subscribers.map((one: { email: string }) => one.email)).toEqual([
      "full@example.com",
    ]);
    expect(await run({ ...set, value: "tiny" })).toMatchObject({ succeeded: 2, failed: 0 });
  });

  test("puts addresses on a suppression list", async () => {
    await fill(news, people(3));
    const list = (await call("POST", "/suppression-lists", { name: "Ours" })).body.data;
    const ids = [await idOf("p0@example.com"), await idOf("p2@example.com")];
    expect(await run({ action: "suppress", suppression_list_id: list.id, ids })).toMatchObject({
      succeeded: 2,
    });
    const entries = (await call("GET", `/suppression-lists/${list.id}/entries`)).body;
    expect(entries.total).toBe(2);
    expect((await call("GET", `/suppression-lists/${list.id}`)).body.data.entry_count).toBe(2);
  });

  test("counts in a dry run what it would do, and changes nothing", async () => {
    await fill(news, people(3));
    await fill(offers, people(1));
    const body = { action: "add_to_list", mailing_list_id: offers, filter: {} };
    expect(await run({ ...body, dry_run: true })).toMatchObject({
      result: { dry_run: true, matched: 3, changed: 2, unchanged: 1, refused: 0 },
    });
    expect(await emailsOf(offers)).toEqual(["p0@example.com"]);
    expect(await run(body)).toMatchObject({
      result: { dry_run: false, matched: 3, changed: 2, unchanged: 1 },
    });
  });

  test("names unknown ids, and does not reach another workspace", async () => {
    await fill(news, people(1));
    const other = await service.newWorkspace();
    const theirs = await newList(db, other.workspaceId);
    await addPeople(db, other.workspaceId, theirs, [{ email: "theirs@example.com" }]);
    const foreign = await db.row<{ id: string }>(sql`
      select id from subscribers where workspace_id = ${other.workspaceId}`);
    const job = await run({ action: "delete", ids: [foreign?.id, newId(), await idOf("p0@example.com")] });
    expect(job).toMatchObject({ succeeded: 1, failed: 2, total: 3 });
    const left = await db.row<{ count: number }>(sql`
      select count(*)::int as count from subscribers where workspace_id = ${other.workspaceId}`);
    expect(left?.count).toBe(1);
    expect((await call("GET", `/jobs/${job.id}/errors`)).body).toContain(
      "no person of this workspace has this id",
    );
  });

  test("that is interrupted continues, and does nothing twice", async () => {
    await fill(news, people(3_500));
    const id = await start({
      action: "set_status",
      status: "unsubscribed",
      mailing_list_id: news,
      filter: { status: "active" },
    });
    const stop = new AbortController();
    const first = attempt(id, stop.signal);
    await untilBatchIsDone(id);
    stop.abort();
    expect((await first).status).toBe("pending");
    const job = await attempt(id);
    expect(job).toMatchObject({ status: "completed", total: 3_500, succeeded: 3_500, failed: 0, skipped: 0 });
    expect(events).toHaveLength(3_500);
    expect(
      (await call("GET", `/mailing-lists/${news}/subscribers?status=active`)).body.data.pagination.total,
    ).toBe(0);
    expect(await findMiscounts(db)).toEqual([]);
  });

  test("that is cancelled stops, and says how far it came", async () => {
    await fill(news, people(3_500));
    const id = await start({ action: "delete", filter: {} });
    const running = attempt(id);
    await untilBatchIsDone(id);
    await call("POST", `/jobs/${id}/cancel`);
    const job = await running;
    const left = (await call("GET", "/subscribers")).body.data.pagination.total;
    expect(job).toMatchObject({ status: "cancelled", succeeded: 3_500 - left });
    expect(left).toBeGreaterThan(0);
  });
});

test.each([
  [{ action: "add_to_list", filter: {} }, "mailing_list_id"],
  [{ action: "delete", status: "active", filter: {} }, "status"],
  [{ action: "delete" }, "filter"],
  [{ action: "delete", filter: {}, ids: [newId()] }, "filter"],
  [{ action: "delete", ids: [newId()], except_ids: [newId()] }, "except_ids"],
  [{ action: "delete", ids: [] }, "ids"],
  [{ action: "shout", filter: {} }, "action"],
  [{ action: "set_status", filter: {} }, "status"],
  [{ action: "add_to_list", mailing_list_id: newId(), filter: {} }, "mailing_list_id"],
  [{ action: "suppress", suppression_list_id: newId(), filter: {} }, "suppression_list_id"],
  [{ action: "set_field", field: "nothing", value: 1, filter: {} }, "field"],
  [{ action: "delete", filter: { field: "city" } }, "filter.field_value"],
  [{ action: "delete", filter: { search: " " } }, "filter.search"],
  [{ action: "delete", filter: { search: "\t\n" } }, "filter.search"],
  [{ action: "delete", filter: { field: " ", field_value: "Rome" } }, "filter.field"],
  [{ action: "delete", filter: { field: "city", field_value: " " } }, "filter.field_value"],
  [{ action: "delete", filter: { tag: "old" } }, "filter.tag"],
  [{ action: "delete", filter: { joined_to: "2016-12-31T23:59:60Z" } }, "filter.joined_to"],
  [
    { action: "delete", filter: { clicked_since: "2026-11-01T00:00:00+01:00[Europe/Berlin]" } },
    "filter.clicked_since",
  ],
  [{ action: "delete", filter: { list_id: newId() } }, "filter.list_id"],
  [
    { action: "delete", filter: { never_opened: true, opened_since: "2026-01-01T00:00:00Z" } },
    "filter.never_opened",
  ],
])("%j is refused, and %s is named", async (body, field) => {
  const answer = await call("POST", "/subscribers/bulk", body);
  expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(answer.body.details.map((one: { field: string }) => one.field)).toContain(field);
});

test("suppressing needs the permission of suppression lists, too", async () => {
  const list = (await call("POST", "/suppression-lists", { name: "Ours" })).body.data;
  const key = await service.newKey(["subscribers:write"]);
  const body = { action: "suppress", suppression_list_id: list.id, filter: {} };
  const answer = await call("POST", "/subscribers/bulk", body, { key });
  expect([answer.status, answer.body.required_scopes]).toEqual([403, ["suppression_lists:write"]]);
});

test("an action that deletes people asks a person for a recent confirmation, and no key", async () => {
  const person = await service.newPerson(["subscribers:*"]);
  clock.advance(10 * 60_000 + 1);
  const list = await newList(db, workspaceId, "Mine");
  const ask = async (body: object) => {
    const answer = await person.call("POST", "/subscribers/bulk", body);
    return [answer.status, answer.body.code];
  };
  const remove = { action: "remove_from_list", mailing_list_id: list, filter: {} };
  const refused = [403, "REAUTHENTICATION_REQUIRED"];
  expect(await ask({ action: "delete", filter: {} })).toEqual(refused);
  expect(await ask(remove)).toEqual(refused);
  expect((await ask({ ...remove, dry_run: true }))[0]).toBe(202);
  expect((await ask({ action: "set_status", status: "unsubscribed", filter: {} }))[0]).toBe(202);
  expect((await call("POST", "/subscribers/bulk", remove)).status).toBe(202);
});
