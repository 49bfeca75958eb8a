import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { nilId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";
import { createReactions } from "#processes/reactions.ts";
import { advanceDueAutoresponders } from "#sending/autoresponders/advance.ts";
import { findOriginMiscounts } from "#sending/campaigns/counters/miscounts-store.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";

const service = await startService();
const { database: db, workspaceId, clock, call } = service;
await verifyShop(db, workspaceId);
const log = createLog("silent");
const welcome = { subject: "Welcome {{ first_name }}", html_content: "<p>Hello {{ first_name }}</p>" };
const tips = { delay: { days: 1 }, subject: "Tips", html_content: "<p>Tips</p>" };
const offer = { delay: { days: 2 }, subject: "Offer", html_content: "<p>Offer</p>" };

let list: string;
let series: string;

const body = (change: object = {}) => ({
  name: "Series",
  mailing_list_id: list,
  from_email: "news@shop.test",
  trigger: { type: "subscribed" },
  steps: [welcome, tips, offer],
  ...change,
});
const start = async (change: object = {}) => {
  series = (await call("POST", "/autoresponders", body(change))).body.data.id;
  expect((await call("POST", `/autoresponders/${series}/activate`)).status).toBe(200);
};
const work = () => advanceDueAutoresponders({ db, clock, plans }, new AbortController().signal, log);
const later = async (milliseconds: number) => {
  clock.advance(milliseconds);
  await work();
};
const join = (email: string, more: object = {}) =>
  addPeople(db, workspaceId, list, [{ email, ...more }], { now: clock.now() });
const idOf = async (email: string) => {
  const row = await db.row<{ id: string }>(sql`
    select id from subscribers where workspace_id = ${workspaceId} and email = ${email}`);
  return row?.id ?? expect.fail(`${email} is no subscriber`);
};
const setStatus = async (email: string, status: string) => {
  const path = `/mailing-lists/${list}/subscribers/${await idOf(email)}/status`;
  expect((await call("PUT", path, { status })).status).toBe(200);
};
const figures = async () => (await call("GET", `/autoresponders/${series}/steps`)).body.data.steps;
const waiting = async (query = "") =>
  (await call("GET", `/autoresponders/${series}/waiting${query}`)).body.data;
const emails = (page: { people: { email: string }[] }) => page.people.map(({ email }) => email);
const walk = async (email: string) =>
  (await call("GET", `/autoresponders/${series}/walk/${await idOf(email)}`)).body.data;
const after = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds).toISOString();
/** "state time" of each mail. */
const mailsOf = ({ mails }: { mails: { state: string; at: string | null }[] }) =>
  mails.map(({ state, at }) => [state, at]);

beforeEach(async () => {
  list = await newList(db, workspaceId);
  await start();
});

test("each step shows its own results and who waits for it, and the counters agree with the log", async () => {
  await join("ada@example.test");
  await later(0);
  await later(DAY_MS);
  await join("eve@example.test");
  await later(0);
  const rows = await db.rows<{ id: string }>(sql`
    select id from messages where workspace_id = ${workspaceId} and origin_id = ${series} and localpart = 'ada'
    order by id`);
  const outcomes = rows.map(({ id: messageId }, at) => ({
    ...unclassified,
    workspaceId,
    messageId,
    status: at === 0 ? ("delivered" as const) : ("bounced" as const),
    time: clock.now(),
    attempts: 1,
    nextAttemptAt: null,
    detail: "said",
    mxHost: null,
    code: null,
    enhancedCode: null,
    isAddressFault: false,
  }));
  await db.transaction((tx) => recordOutcomes(tx, outcomes, createReactions(clock)));
  expect(await figures()).toMatchObject([
    { position: 1, sent_count: 1, delivered_count: 1, bounce_count: 0, queued_count: 1, waiting_count: 0 },
    {
      position: 2,
      delay: { days: 1, hours: 0, minutes: 0 },
      sent_count: 1,
      delivered_count: 0,
      bounce_count: 1,
      waiting_count: 1,
      next_mail_at: after(DAY_MS),
    },
    {
      position: 3,
      sent_count: 0,
      waiting_count: 1,
      waiting_count_is_exact: true,
      next_mail_at: after(2 * DAY_MS),
    },
  ]);
  expect(await findOriginMiscounts(db, "autoresponder")).toEqual([]);
});

test("people who wait come with the next mail first, page by page, by step, and say who gets nothing more", async () => {
  for (const name of ["ada", "eve", "joe"]) {
    await join(`${name}@example.test`);
    await work();
    await later(HOUR_MS);
  }
  await later(DAY_MS - 3 * HOUR_MS);
  await setStatus("joe@example.test", "unsubscribed");
  const [, second, third] = await figures();
  const first = await waiting("?limit=2");
  expect(first).toMatchObject({
    people: [
      { email: "eve@example.test", step_id: second.step_id, next_mail_at: after(HOUR_MS), continues: true },
      { email: "joe@example.test", step_id: second.step_id, continues: false },
    ],
    pagination: { total: 3, total_is_exact: true },
  });
  const rest = await waiting(`?limit=2&after=${first.pagination.next_cursor}`);
  expect(rest).toMatchObject({
    people: [{ email: "ada@example.test", step_id: third.step_id, next_mail_at: after(2 * DAY_MS) }],
    pagination: { next_cursor: null },
  });
  expect(emails(await waiting(`?step_id=${third.step_id}`))).toEqual(["ada@example.test"]);
  expect(await waiting(`?step_id=${third.step_id}`)).toMatchObject({ pagination: { total: 1 } });
  await call("POST", `/autoresponders/${series}/deactivate`);
  expect((await waiting()).people[0].next_mail_at).toBeNull();
  expect((await figures())[1].next_mail_at).toBeNull();
});

test("people who join at the same moment are each on one page", async () => {
  const names = ["ada", "eve", "joe", "kim", "sue"].map((name) => ({ email: `${name}@example.test` }));
  await addPeople(db, workspaceId, list, names, { now: clock.now() });
  await work();
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await waiting(`?limit=2${cursor && `&after=${cursor}`}`);
    seen.push(...emails(page));
    cursor = page.pagination.next_cursor;
  }
  expect(seen.toSorted()).toEqual(names.map(({ email }) => email));
});

test("lists of people that pile up in one workspace are refused with advice", async () => {
  const [isHeld, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = db.transaction(async (tx) => {
    await tx.run(sql`lock table autoresponder_steps in access exclusive mode`);
    isHeld.resolve();
    await isOver.promise;
  });
  await isHeld.promise;
  const path = `/autoresponders/${series}/waiting`;
  const answers = Array.from({ length: 203 }, () => call("GET", path));
  const first = await Promise.race(answers);
  isOver.resolve();
  await held;
  expect(first).toMatchObject({ status: 429, body: { code: "RATE_LIMIT_EXCEEDED" } });
  expect(first.headers.get("retry-after")).toBe("5");
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
});

test("people who wait for a removed step count for the step that they get instead", async () => {
  await join("ada@example.test");
  await work();
  const [one, two, three] = await figures();
  const kept = (at: number, id: string) => ({ ...[welcome, tips, offer][at], id });
  const replace = (steps: object[]) => call("PUT", `/autoresponders/${series}`, body({ steps }));
  await replace([kept(0, one.step_id), kept(2, three.step_id)]);
  expect((await figures()).map((step: { waiting_count: number }) => step.waiting_count)).toEqual([0, 1]);
  expect(await waiting(`?step_id=${three.step_id}`)).toMatchObject({
    people: [{ email: "ada@example.test", step_id: three.step_id }],
  });
  expect((await call("GET", `/autoresponders/${series}/waiting?step_id=${two.step_id}`)).body).toMatchObject({
    code: "VALIDATION_ERROR",
    details: [{ field: "step_id" }],
  });
  expect(mailsOf(await walk("ada@example.test"))).toEqual([
    ["sent", expect.any(String)],
    ["planned", after(DAY_MS)],
  ]);
  await replace([kept(0, one.step_id)]);
  expect((await figures()).map((step: { waiting_count: number }) => step.waiting_count)).toEqual([0]);
  expect((await waiting()).people).toEqual([]);
  expect(await walk("ada@example.test")).toMatchObject({ progress: "finished" });
});

test("a walk has the mails that a person got, and those that come at the times when they then come", async () => {
  await join("ada@example.test");
  expect(await walk("ada@example.test")).toMatchObject({
    progress: "not_started",
    started_at: null,
    next_start_at: after(0),
    obstacle: null,
  });
  const began = after(0);
  await later(HOUR_MS);
  const half = await walk("ada@example.test");
  expect(half).toMatchObject({ progress: "waiting", started_at: began, next_start_at: null, obstacle: null });
  const planned = half.mails.slice(1).map(({ at }: { at: string }) => at);
  await later(new Date(planned[0]).getTime() - clock.now().getTime());
  await later(new Date(planned[1]).getTime() - clock.now().getTime());
  const whole = await walk("ada@example.test");
  expect(whole).toMatchObject({ progress: "finished", next_start_at: null });
  expect(mailsOf(whole).map(([state]) => state)).toEqual(["sent", "sent", "sent"]);
  const ids = whole.mails.map((mail: { message_id: string }) => mail.message_id);
  const written = await db.rows<{ created_at: Date }>(sql`
    select created_at from messages where id = any (${ids}::uuid[]) order by id`);
  expect(written.slice(1).map(({ created_at }) => created_at.toISOString())).toEqual(planned);
});

test("an inactive series shows the times of an activation now", async () => {
  await join("ada@example.test");
  await work();
  clock.advance(HOUR_MS);
  await call("POST", `/autoresponders/${series}/deactivate`);
  clock.advance(10 * DAY_MS);
  const [, next] = (await walk("ada@example.test")).mails;
  expect(next.at).toBe(after(DAY_MS - HOUR_MS));
  await call("POST", `/autoresponders/${series}/activate`);
  await later(DAY_MS - HOUR_MS - 1);
  expect((await figures())[1].queued_count).toBe(0);
  await later(1);
  expect((await figures())[1].queued_count).toBe(1);
});

test("a walk says what prevents the mail", async () => {
  const other = await newList(db, workspaceId);
  await addPeople(db, workspaceId, other, [{ email: "max@example.test" }], { now: clock.now() });
  expect(await walk("max@example.test")).toMatchObject({ progress: "not_started", obstacle: "not_a_member" });
  await join("eve@example.test");
  await work();
  await setStatus("eve@example.test", "unsubscribed");
  expect(await walk("eve@example.test")).toMatchObject({ progress: "waiting", obstacle: "unsubscribed" });
  await join("joe@blocked.test");
  await work();
  const { body: made } = await call("POST", "/suppression-lists", { name: "No" });
  await call("POST", `/suppression-lists/${made.data.id}/entries`, { entries: "joe@blocked.test" });
  expect(await walk("joe@blocked.test")).toMatchObject({ progress: "waiting", obstacle: "suppressed" });
});

test("a yearly date shows its next day, on 28 February for the 29th, and a past date that it does not come", async () => {
  clock.set(new Date("2027-01-10T12:00:00Z"));
  await call("POST", `/mailing-lists/${list}/custom-fields`, {
    field_name: "birthday",
    field_label: "Birthday",
    field_type: "date",
  });
  const dated = { type: "date", field: "birthday", at: "09:00" };
  await start({ trigger: { ...dated, yearly: true } });
  for (const [name, birthday] of [
    ["leap", "1996-02-29"],
    ["today", "1990-01-10"],
    ["tomorrow", "1990-01-11"],
    ["unborn", "2030-05-01"],
    ["odd", "0001-01-01"],
    ["late", "9999-12-31"],
  ] as const) {
    await join(`${name}@example.test`, { custom_fields: { birthday } });
  }
  await join("none@example.test");
  const nextOf = async (name: string) => (await walk(`${name}@example.test`)).next_start_at;
  expect(await nextOf("leap")).toBe("2027-02-28T09:00:00.000Z");
  expect(await nextOf("today")).toBe("2028-01-10T09:00:00.000Z");
  expect(await nextOf("tomorrow")).toBe("2027-01-11T09:00:00.000Z");
  expect(await nextOf("unborn")).toBe("2030-05-01T09:00:00.000Z");
  expect(await nextOf("odd")).toBe("2028-01-01T09:00:00.000Z");
  expect(await nextOf("late")).toBeNull();
  expect(await walk("none@example.test")).toMatchObject({ obstacle: "no_date", next_start_at: null });
  expect(mailsOf(await walk("tomorrow@example.test"))).toEqual([
    ["planned", "2027-01-11T09:00:00.000Z"],
    ["planned", "2027-01-12T09:00:00.000Z"],
    ["planned", "2027-01-14T09:00:00.000Z"],
  ]);
  await start({ trigger: dated });
  expect(await walk("odd@example.test")).toMatchObject({ obstacle: "date_has_passed", next_start_at: null });
});

test("a test of a step is its mail with the values of the recipient, and counts nowhere in the series", async () => {
  await join("ada@example.test", { first_name: "Ada" });
  const [, second] = await figures();
  const send = (order: object) => call("POST", `/autoresponders/${series}/test`, order);
  const first = await send({ emails: ["ada@example.test"] });
  expect(first.status).toBe(200);
  await send({ emails: ["ada@example.test"], step_id: second.step_id.toUpperCase() });
  const rows = await db.rows(sql`
    select subject, source from messages where workspace_id = ${workspaceId} and subject like '[Test]%' order by id`);
  expect(rows).toEqual([
    { subject: "[Test] Welcome Ada", source: "api" },
    { subject: "[Test] Tips", source: "api" },
  ]);
  expect(await figures()).toMatchObject([{ queued_count: 0 }, { queued_count: 0 }, { queued_count: 0 }]);
  for (const order of [
    { emails: [] },
    { emails: Array.from({ length: 6 }, (_, at) => `a${at}@example.test`) },
    { emails: ["nobody"] },
    { emails: ["ada@example.test"], step_id: nilId },
    { emails: ["a\u0000@example.test"] },
  ]) {
    expect((await send(order)).body).toMatchObject({ code: "VALIDATION_ERROR" });
  }
});

test("people are shown only to a key that may read subscribers, and of the own workspace only", async () => {
  await join("ada@example.test");
  await work();
  const limited = apiCaller(() => service.url, await service.newKey(["autoresponders:*"]));
  const stranger = apiCaller(() => service.url, (await service.newWorkspace()).key);
  for (const path of ["waiting", `walk/${await idOf("ada@example.test")}`]) {
    const refused = await limited("GET", `/autoresponders/${series}/${path}`);
    expect([refused.status, refused.body.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect((await stranger("GET", `/autoresponders/${series}/${path}`)).status).toBe(404);
  }
  expect((await limited("GET", `/autoresponders/${series}/steps`)).status).toBe(200);
  expect((await stranger("GET", `/autoresponders/${series}/steps`)).status).toBe(404);
  expect((await call("GET", `/autoresponders/${series}/walk/${nilId}`)).status).toBe(404);
});
