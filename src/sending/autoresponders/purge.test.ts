import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { advanceDueAutoresponders } from "./advance.ts";
import { purgeAutoresponders } from "./purge.ts";

const service = await startService();
const { database: db, workspaceId, clock } = service;
await verifyShop(db, workspaceId);
const welcome = { subject: "Welcome", html_content: '<a href="https://a.test/">x</a>' };
const tips = { ...welcome, delay: { days: 1 }, subject: "Tips" };

let list: string;
let series: string;

const { signal } = new AbortController();
const work = () => advanceDueAutoresponders({ db, clock, plans }, signal, createLog("silent"));
const forget = () => purgeAutoresponders({ db, clock, step: 2 }, signal);
const emptyLog = () => db.run(sql`delete from messages`);
const body = (steps: readonly object[]) => ({
  name: "Series",
  mailing_list_id: list,
  from_email: "news@shop.test",
  trigger: { type: "subscribed" },
  steps,
});
/** Runs, mails, contents, links and counters. */
const rows = async () =>
  (
    await db.row<{ rows: number[] }>(sql`
      select array[
        (select count(*)::int from autoresponder_runs), (select count(*)::int from autoresponder_mails),
        (select count(*)::int from autoresponder_contents), (select count(*)::int from autoresponder_links),
        (select count(*)::int from autoresponder_counters)] as rows`)
  )?.rows;

beforeEach(async () => {
  await emptyLog();
  await db.run(sql`
    truncate autoresponders, autoresponder_steps, autoresponder_runs, autoresponder_mails, autoresponder_contents,
      autoresponder_links, autoresponder_counters`);
  list = await newList(db, workspaceId);
  const { data } = (await service.call("POST", "/autoresponders", body([welcome, tips]))).body;
  series = data.id;
  await service.call("POST", `/autoresponders/${series}/activate`);
  const people = Array.from({ length: 5 }, (_, at) => ({ email: `p${at}@example.test` }));
  await addPeople(db, workspaceId, list, people, { now: clock.now() });
  await work();
});

test("runs of a deleted autoresponder are purged in the background, its mails when they leave the log", async () => {
  await service.call("DELETE", `/autoresponders/${series}`);
  expect(await rows()).toEqual([5, 5, 2, 2, 1]);
  await forget();
  expect(await rows()).toEqual([0, 5, 1, 1, 1]);
  await emptyLog();
  await forget();
  expect(await rows()).toEqual([0, 0, 0, 0, 0]);
});

test("nothing of an existing autoresponder is purged while the log has it or a run is unfinished", async () => {
  clock.advance(10 * DAY_MS);
  await forget();
  await emptyLog();
  await forget();
  expect(await rows()).toEqual([5, 5, 2, 2, 1]);
});

test("finished runs of an existing autoresponder are purged, and do not start again", async () => {
  clock.advance(DAY_MS);
  await work();
  expect(await rows()).toEqual([5, 10, 2, 2, 1]);
  await emptyLog();
  await forget();
  expect(await rows()).toEqual([5, 0, 2, 2, 1]);
  clock.advance(3 * DAY_MS);
  await work();
  await forget();
  expect(await rows()).toEqual([0, 0, 2, 2, 1]);
  await work();
  expect(await rows()).toEqual([0, 0, 2, 2, 1]);
});

test("finished runs of a date trigger are purged, and do not start again", async () => {
  await service.call("DELETE", `/autoresponders/${series}`);
  await service.call("POST", `/mailing-lists/${list}/custom-fields`, {
    field_name: "day",
    field_label: "Day",
    field_type: "date",
  });
  const day = new Date(clock.now().getTime() + DAY_MS).toISOString().slice(0, 10);
  await db.run(sql`update subscribers set custom_fields = ${JSON.stringify({ day })}`);
  const dated = { ...body([welcome]), trigger: { type: "date", field: "day", at: "00:00" } };
  const { id } = (await service.call("POST", "/autoresponders", dated)).body.data;
  await service.call("POST", `/autoresponders/${id}/activate`);
  const runs = async () =>
    (await db.rows(sql`select from autoresponder_runs where autoresponder_id = ${id}`)).length;
  clock.advance(DAY_MS);
  await work();
  await emptyLog();
  await forget();
  expect(await runs()).toBe(5);
  clock.advance(4 * DAY_MS);
  await forget();
  expect(await runs()).toBe(0);
  await work();
  expect(await runs()).toBe(0);
});

test("what a step said goes with the last mail that said it", async () => {
  await service.call("PUT", `/autoresponders/${series}`, body([{ ...welcome, subject: "Hello" }]));
  clock.advance(DAY_MS);
  await work();
  await forget();
  // Of three contents the one of the removed step was never sent.
  expect((await rows())?.slice(1)).toEqual([5, 3, 3, 1]);
  await emptyLog();
  await forget();
  expect((await rows())?.slice(1)).toEqual([0, 1, 1, 1]);
});
