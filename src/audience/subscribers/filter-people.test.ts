import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { addPeople, newList } from "#test/support/audience.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database, workspaceId, call } = service;

const COUNT = 60;
const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const day = (at: number) => new Date(START + at * DAY).toISOString();
const emailOf = (at: number) => `p${String((at * 37) % COUNT).padStart(2, "0")}@example.com`;

const list = await newList(database, workspaceId, "News");
const other = await newList(database, workspaceId, "Offers");
for (const [field_name, field_type] of [
  ["age", "number"],
  ["vip", "boolean"],
  ["tags", "multiselect"],
] as const) {
  const field_options = field_type === "multiselect" ? ["a", "b"] : undefined;
  const body = { field_name, field_label: field_name, field_type, field_options };
  const answer = await call("POST", `/mailing-lists/${list}/custom-fields`, body);
  expect(answer.status, answer.body.error).toBe(201);
}
/** Person `at` joined on day `at`; every third opened on that day, every sixth clicked. */
for (let at = 0; at < COUNT; at++) {
  const custom_fields = {
    city: at % 2 ? "Rome" : "Paris",
    age: at % 10,
    vip: at % 4 === 0,
    tags: at % 5 ? ["a"] : ["a", "b"],
  };
  const person = {
    email: emailOf(at),
    custom_fields,
    status: at % 7 === 0 ? ("unsubscribed" as const) : null,
  };
  await addPeople(database, workspaceId, at < 40 ? list : other, [person], {
    now: new Date(START + at * DAY),
  });
}
await database.run(sql`
  update subscribers s set last_opened_at = case when n % 3 = 0 then created_at end,
    last_clicked_at = case when n % 6 = 0 then created_at end
  from (select id, row_number() over (order by created_at) - 1 as n from subscribers
    where workspace_id = ${workspaceId}) r
  where s.id = r.id`);
await database.run(sql`
  update subscriber_stats t set last_opened_at = s.last_opened_at, last_clicked_at = s.last_clicked_at
  from subscribers s where s.workspace_id = t.workspace_id and s.id = t.subscriber_id`);

type Test = (at: number) => boolean;
const all = Array.from({ length: COUNT }, (_, at) => at);

async function page(query: string) {
  const answer = await call("GET", `/subscribers?${query}`);
  expect(answer.status, answer.body.error).toBe(200);
  const { subscribers, pagination } = answer.body.data;
  return { emails: subscribers.map(({ email }: { email: string }) => email), pagination };
}

/** All pages by cursor. */
async function walk(query: string): Promise<string[]> {
  const found: string[] = [];
  for (let after = ""; ; ) {
    const { emails, pagination } = await page(
      `${query}&limit=7${after && `&after=${encodeURIComponent(after)}`}`,
    );
    found.push(...emails);
    if (pagination.next_cursor === null) return found;
    after = pagination.next_cursor;
  }
}

describe("people are filtered", () => {
  const cases: readonly [string, Test][] = [
    [`joined_from=${day(10)}`, (at) => at >= 10],
    [`joined_to=${day(10)}`, (at) => at < 10],
    [`joined_from=${day(10)}&joined_to=${day(20)}`, (at) => at >= 10 && at < 20],
    ["joined_from=2026-01-11", (at) => at >= 10],
    ["joined_from=2026-01-11T00:00:00", (at) => at >= 10],
    [`opened_since=${day(30)}`, (at) => at >= 30 && at % 3 === 0],
    ["never_opened=true", (at) => at % 3 !== 0],
    [`clicked_since=${day(30)}`, (at) => at >= 30 && at % 6 === 0],
    ["never_clicked=true", (at) => at % 6 !== 0],
    ["field=city&field_value=Rome", (at) => at % 2 === 1],
    ["field=age&field_value=3", (at) => at % 10 === 3],
    ["field=vip&field_value=true", (at) => at % 4 === 0],
    ["field=tags&field_value=b", (at) => at % 5 === 0],
    ["field=city&field_value=rome", () => false],
    [
      `never_opened=true&status=unsubscribed&field=city&field_value=Rome`,
      (at) => at % 3 !== 0 && at % 7 === 0 && at % 2 === 1,
    ],
    [`list_id=${list}&joined_from=${day(30)}`, (at) => at >= 30 && at < 40],
    [`list_id=${list}&status=active&never_opened=true`, (at) => at < 40 && at % 7 !== 0 && at % 3 !== 0],
    [`search=p0&opened_since=${day(0)}`, (at) => emailOf(at).startsWith("p0") && at % 3 === 0],
  ];
  test.each(cases)("%s: exactly those, with their number", async (query, isIn) => {
    const wanted = all.filter(isIn).map(emailOf).toReversed();
    const { emails, pagination } = await page(`${query}&limit=200`);
    expect(emails).toEqual(wanted);
    expect(pagination.total).toBe(wanted.length);
    expect(await walk(query)).toEqual(wanted);
  });

  test("and has no people of another workspace", async () => {
    const { key } = await service.newWorkspace();
    const answer = await call("GET", "/subscribers?never_clicked=true&sort=email", undefined, { key });
    expect(answer.body.data).toMatchObject({ subscribers: [], pagination: { total: 0 } });
  });
});

describe("people are sorted", () => {
  const byEmail = all.map(emailOf).toSorted();
  const ofThird = (step: number) => [
    ...all.filter((at) => at % step === 0).toReversed(),
    ...all.filter((at) => at % step !== 0).toReversed(),
  ];
  const orders: readonly [string, string[]][] = [
    ["sort=-created_at", all.map(emailOf).toReversed()],
    ["sort=created_at", all.map(emailOf)],
    ["sort=email", byEmail],
    ["sort=-email", byEmail.toReversed()],
    ["sort=-last_opened_at", ofThird(3).map(emailOf)],
    ["sort=-last_clicked_at", ofThird(6).map(emailOf)],
  ];
  test.each(orders)("%s by pages and by cursor, everybody once", async (query, wanted) => {
    expect(await walk(query)).toEqual(wanted);
    const pages = [];
    for (let number = 1; number <= 9; number++)
      pages.push(...(await page(`${query}&limit=7&page=${number}`)).emails);
    expect(pages).toEqual(wanted);
    expect((await page(`${query}&limit=7&page=10`)).emails).toEqual([]);
    expect((await page(query)).pagination.total).toBe(COUNT);
  });

  test("within a filter and a search", async () => {
    expect((await page("sort=email&field=city&field_value=Rome&limit=200")).emails).toEqual(
      all
        .filter((at) => at % 2 === 1)
        .map(emailOf)
        .toSorted(),
    );
    expect(await walk("sort=-email&search=p1")).toEqual(
      byEmail.filter((email) => email.startsWith("p1")).toReversed(),
    );
  });

  test("and the next page begins after the last person of the page before, even if that person was deleted", async () => {
    const first = await page("sort=email&limit=7");
    const gone = await database.row<{ id: string }>(sql`
      select id from subscribers where workspace_id = ${workspaceId} and email = ${first.emails.at(-1)}`);
    const lists = await call("GET", `/subscribers/${gone?.id}`);
    for (const { mailing_list_id } of lists.body.data.lists) {
      await call("DELETE", `/mailing-lists/${mailing_list_id}/subscribers/${gone?.id}`);
    }
    const next = await page(`sort=email&limit=7&after=${first.pagination.next_cursor}`);
    expect(next.emails).toEqual(byEmail.slice(7, 14));
  });
});

test.each([
  ["joined_from=yesterday", "joined_from"],
  ["joined_from=2026-02-30", "joined_from"],
  ["opened_since=01/02/2026", "opened_since"],
  [`joined_from=${day(2)}&joined_to=${day(1)}`, "joined_to"],
  [`never_opened=true&opened_since=${day(1)}`, "never_opened"],
  [`never_clicked=1&clicked_since=${day(1)}`, "never_clicked"],
  ["field=city", "field_value"],
  ["field_value=Rome", "field"],
  ["sort=name", "sort"],
  [`field=city&field_value=${"x".repeat(501)}`, "field_value"],
])("%s is refused, and %s is named", async (query, field) => {
  const { status, body } = await call("GET", `/subscribers?${query}`);
  expect([status, body.code, body.details?.[0].field]).toEqual([400, "VALIDATION_ERROR", field]);
});

test("a field that no list defines and no person has a value of is refused, and what has the names is said", async () => {
  const { status, body } = await call("GET", "/subscribers?field=agee&field_value=3");
  expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", "field"]);
  expect(body.error).toBe(
    'field is no custom field: no list defines "agee", and no person has a value of it. Did you mean age? GET /mailing-lists/{id}/custom-fields and GET /custom-fields/global have the names',
  );
  const filter = { field: "agee", field_value: "3" };
  const action = await call("POST", "/subscribers/bulk", {
    action: "remove_from_list",
    mailing_list_id: list,
    filter,
  });
  expect([action.status, action.body.details[0].field]).toEqual([400, "filter.field"]);
  // Defined on a list, though no person has a value; and stored for a person, though no list defines it.
  const { emails } = await page("field=vip&field_value=no-such-value");
  expect(emails).toEqual([]);
  expect((await page("field=city&field_value=Oslo")).emails).toEqual([]);
});

test("a cursor of another order or filter is refused", async () => {
  const { pagination } = await page("sort=email&limit=7");
  for (const query of ["sort=-email", "sort=email&never_opened=true", "status=active"]) {
    const { status, body } = await call("GET", `/subscribers?${query}&after=${pagination.next_cursor}`);
    expect([status, body.details?.[0].field]).toEqual([400, "after"]);
  }
});

test("more people than are counted have a total that says so, and can all be paged to", async () => {
  const { key, workspaceId: large } = await service.newWorkspace();
  const many = Array.from({ length: 10_003 }, (_, at) => ({ email: `m${at}@example.com` }));
  await addPeople(database, large, await newList(database, large, "Many"), many);
  const ask = async (query: string) => {
    const { status, body } = await call("GET", `/subscribers?${query}`, undefined, { key });
    expect(status, body.error).toBe(200);
    const { total, total_is_exact, next_cursor } = body.data.pagination;
    return { shown: body.data.subscribers.length, total, total_is_exact, next_cursor };
  };
  const counted = { total: 10_000, total_is_exact: false };
  const first = await ask("never_opened=true&limit=200");
  expect(first).toMatchObject({ shown: 200, ...counted, next_cursor: expect.any(String) });
  expect(await ask("never_opened=true&limit=200&page=51")).toMatchObject({ shown: 3, ...counted });
  expect(await ask("never_opened=true&limit=200&page=52")).toMatchObject({ shown: 0, ...counted });
  expect(await ask("search=m&limit=1")).toMatchObject({ shown: 1, total: 2_000, total_is_exact: false });
  expect(await ask("limit=1")).toMatchObject({ total: 10_003, total_is_exact: true });
  expect(await ask("never_opened=true&search=m77@example.com")).toMatchObject({
    total: 1,
    total_is_exact: true,
  });
  // So many are sorted by an index of opens.
  const opened = ["m7@example.com", "m5000@example.com", "m12@example.com"];
  for (const [at, email] of opened.entries()) {
    const time = new Date(START - at * DAY);
    await database.run(sql`update subscribers set last_opened_at = ${time} where email = ${email}`);
    await database.run(sql`
      update subscriber_stats set last_opened_at = ${time} where subscriber_id = (
        select id from subscribers where email = ${email})`);
  }
  const emailsOf = async (query: string) => {
    const { body } = await call("GET", `/subscribers?sort=-last_opened_at&limit=2${query}`, undefined, {
      key,
    });
    const { subscribers, pagination } = body.data;
    const emails = subscribers.map(({ email }: { email: string }) => email);
    return { emails, cursor: pagination.next_cursor };
  };
  const newest = await database.row<{ email: string }>(sql`
    select email from subscribers where workspace_id = ${large} and last_opened_at is null order by id desc limit 1`);
  const [top, behind] = [await emailsOf(""), await emailsOf("&page=2")];
  expect(top.emails).toEqual(opened.slice(0, 2));
  expect(behind.emails).toEqual([opened[2], newest?.email]);
  expect((await emailsOf(`&after=${top.cursor}`)).emails).toEqual(behind.emails);
  expect((await emailsOf("&status=unsubscribed")).emails).toEqual([]);
});
