import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { findMiscounts, newList } from "#test/support/audience.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database, workspaceId, clock } = service;
let list: string;
let other: string;

beforeEach(async () => {
  [list, other] = [
    await newList(database, workspaceId, "News"),
    await newList(database, workspaceId, "Offers"),
  ];
});

const members = (of = list) => `/mailing-lists/${of}/subscribers`;
let number = 0;
const address = () => `person${++number}@example.com`;
const add = (body: object, of = list) => service.call("POST", members(of), body);
async function added(body: object, of = list) {
  const answer = await add(body, of);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data;
}
const get = async (path: string) => (await service.call("GET", path)).body.data;

describe("adding", () => {
  test("with a misspelled field name is refused, and adds no person", async () => {
    for (const [name, meant] of [
      ["firstName", "first_name"],
      ["fields", "custom_fields"],
    ]) {
      const email = address();
      const { status, body } = await add({ email, [name as string]: "Ann" });
      expect([status, body.error]).toEqual([400, `${name} is not a known field: did you mean ${meant}?`]);
      expect((await get(`${members()}?search=${email}`)).subscribers).toEqual([]);
    }
  });

  test("with another unknown field works, and the answer says what was ignored", async () => {
    const { status, body } = await add({ email: address(), phone: "1", custom_fields: { anything: 1 } });
    expect([status, body.warnings, body.data.warnings]).toEqual([
      201,
      [{ field: "phone", message: "phone is not a known field and was ignored" }],
      [],
    ]);
  });

  test("a person with a status keeps it: unsubscribed people stay unsubscribed", async () => {
    const left = await added({ email: address(), status: "unsubscribed" });
    expect(left).toMatchObject({ status: "unsubscribed", unsubscribed_at: clock.now().toISOString() });
    const lost = await added({ email: address(), status: "bounced" });
    expect(lost).toMatchObject({ status: "bounced", warnings: ["bounced", "suppressed"] });
    expect(await added({ email: lost.email }, other)).toMatchObject({ status: "bounced" });
    const refused = await add({ email: address(), status: "nonsense" });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, "status"]);
    expect(await findMiscounts(database)).toEqual([]);
  });

  test("returns a new person as the list shows them", async () => {
    const email = address();
    const body = {
      email,
      first_name: " Ann ",
      last_name: "",
      source: "shop",
      custom_fields: { city: "Rome", tags: [1] },
    };
    const member = await added(body);
    const now = clock.now().toISOString();
    expect(member).toEqual({
      id: expect.any(String),
      subscriber_id: expect.any(String),
      mailing_list_id: list,
      email,
      first_name: "Ann",
      last_name: null,
      status: "active",
      source: "shop",
      custom_fields: expect.any(String),
      subscribed_at: now,
      unsubscribed_at: null,
      created_at: now,
      updated_at: now,
      warnings: [],
    });
    expect(JSON.parse(member.custom_fields)).toEqual({ city: "Rome", tags: [1] });
    const { warnings: _, ...row } = member;
    expect((await get(members())).subscribers).toEqual([row]);
    expect(await get(`/mailing-lists/${list}`)).toMatchObject({ subscriber_count: 1, total_subscribers: 1 });
  });

  test("every spelling of an address is the same person, and adding it twice is a conflict", async () => {
    await added({ email: "Ännchen.Müller@Bücher.example" });
    for (const email of [
      " ännchen.müller@bücher.example\u00a0",
      "ÄNNCHEN.MÜLLER@XN--BCHER-KVA.EXAMPLE",
      "A\u0308nnchen.mu\u0308ller@bücher.example",
    ]) {
      expect((await add({ email })).body.code, email).toBe("CONFLICT");
    }
    // Two mailboxes, perhaps of two people.
    const plus = await added({ email: "ann+news@example.com" });
    expect((await added({ email: "ann@example.com" })).subscriber_id).not.toBe(plus.subscriber_id);
  });

  test("a person of another list stays the same person: given fields replace, others stay", async () => {
    const email = address();
    const first = await added({
      email,
      first_name: "Ann",
      last_name: "Lee",
      custom_fields: { city: "Rome", age: 7 },
    });
    const second = await added(
      { email, first_name: "Anna", custom_fields: { city: "Oslo", age: null } },
      other,
    );
    expect(second).toMatchObject({
      subscriber_id: first.subscriber_id,
      first_name: "Anna",
      last_name: "Lee",
    });
    expect(JSON.parse(second.custom_fields)).toEqual({ city: "Oslo", age: 7 });
    const lists = (await get(`/subscribers/${first.subscriber_id}`)).lists;
    expect(lists.map(({ name }: { name: string }) => name).sort()).toEqual(["News", "Offers"]);
  });

  test("a person who bounced or complained joins with that status and a warning", async () => {
    const email = address();
    const { subscriber_id } = await added({ email });
    await service.call("PUT", `${members()}/${subscriber_id}/status`, { status: "complained" });
    expect(await added({ email }, other)).toMatchObject({
      status: "complained",
      warnings: ["complained", "suppressed"],
    });
  });

  test("a change of a person's status or name returns why no mail reaches them", async () => {
    const { subscriber_id } = await added({ email: address(), status: "bounced" });
    const path = `${members()}/${subscriber_id}`;
    const back = await service.call("PUT", `${path}/status`, { status: "active" });
    expect(back.body.data).toMatchObject({ status: "active", warnings: ["suppressed"] });
    const named = await service.call("PUT", path, { first_name: "Ann" });
    expect(named.body.data).toMatchObject({ first_name: "Ann", warnings: ["suppressed"] });
  });

  test.each([
    [{ email: "nobody" }, "email"],
    [{ email: "a@example.com, b@example.com" }, "email"],
    [{ email: `${"x".repeat(65)}@example.com` }, "email"],
    [{ email: 7 }, "email"],
    [{}, "email"],
    [{ first_name: "a\r\nBcc: b" }, "first_name"],
    [{ last_name: "x".repeat(201) }, "last_name"],
    [{ source: "x".repeat(101) }, "source"],
    [{ custom_fields: [] }, "custom_fields"],
    [{ custom_fields: "{" }, "custom_fields"],
    [{ custom_fields: "[1]" }, "custom_fields"],
    [{ custom_fields: '{"a":1e400}' }, "custom_fields"],
    [{ custom_fields: { ["x".repeat(101)]: 1 } }, "custom_fields"],
    [{ custom_fields: { long: "x".repeat(70_000) } }, "custom_fields"],
    [
      { custom_fields: Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`k${at}`, at])) },
      "custom_fields",
    ],
  ])("%j is refused", async (fault, field) => {
    const answer = await add(Object.keys(fault).length === 0 ? {} : { email: address(), ...fault });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("VALIDATION_ERROR");
    expect(answer.body.details[0].field.startsWith(field)).toBe(true);
    expect((await get(members())).pagination.total).toBe(0);
  });

  test("a __proto__ among the custom fields is refused, also in JSON text, and adds nobody", async () => {
    const fields = '{"__proto__":{"polluted":1},"a":1}';
    for (const given of [fields, JSON.stringify(fields)]) {
      const answer = await service.call(
        "POST",
        members(),
        `{"email":"${address()}","custom_fields":${given}}`,
      );
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain("__proto__ is not allowed");
    }
    expect((await get(members())).pagination.total).toBe(0);
  });
});

describe("custom fields of people", () => {
  beforeEach(async () => {
    const define = (field: object) =>
      service.call("POST", `/mailing-lists/${list}/custom-fields`, { field_label: "A label", ...field });
    await define({ field_name: "size", field_type: "select", field_options: ["S", "M"], default_value: "M" });
    await define({ field_name: "birthday", field_type: "date", is_required: true });
    await define({ field_name: "old", field_type: "number", is_required: true, is_active: false });
  });

  test("are typed, get defaults, and must be there when required", async () => {
    const missing = await add({ email: address() });
    expect(missing.body.details).toEqual([
      { field: "custom_fields.birthday", message: "custom_fields.birthday is required" },
    ]);
    const wrong = await add({ email: address(), custom_fields: { birthday: "soon", size: "XL" } });
    expect(wrong.body.details.map(({ field }: { field: string }) => field)).toEqual([
      "custom_fields.birthday",
      "custom_fields.size",
    ]);
    const member = await added({ email: address(), custom_fields: { birthday: " 2000-02-29 ", old: "any" } });
    expect(JSON.parse(member.custom_fields)).toEqual({ birthday: "2000-02-29", size: "M", old: "any" });
  });

  test("of nothing but blanks are no value for a required text", async () => {
    const define = { field_name: "shop", field_label: "Shop", field_type: "text", is_required: true };
    await service.call("POST", `/mailing-lists/${list}/custom-fields`, define);
    const required = [{ field: "custom_fields.shop", message: "custom_fields.shop is required" }];
    const fields = { birthday: "2000-02-29", shop: " \t\u00a0" };
    expect((await add({ email: address(), custom_fields: fields })).body.details).toEqual(required);
    const { subscriber_id } = await added({ email: address(), custom_fields: { ...fields, shop: " Rome " } });
    const path = `${members()}/${subscriber_id}`;
    const refused = await service.call("PUT", path, { custom_fields: { shop: "  " } });
    expect([refused.status, refused.body.details]).toEqual([400, required]);
    const kept = await service.call("PUT", path, { custom_fields: { birthday: "2001-01-01" } });
    expect(JSON.parse(kept.body.data.custom_fields).shop).toBe(" Rome ");
  });

  test("of no choice are no value for a required multiselect", async () => {
    const settings = { field_name: "topics", field_label: "Topics", field_type: "multiselect" };
    const { body } = await service.call("POST", "/mailing-lists", { name: "Topics" });
    const define = { ...settings, field_options: ["News"], is_required: true };
    await service.call("POST", `/mailing-lists/${body.data.id}/custom-fields`, define);
    const refused = await service.call("POST", `/mailing-lists/${body.data.id}/subscribers`, {
      email: address(),
      custom_fields: { topics: [] },
    });
    expect([refused.status, refused.body.details[0].message]).toEqual([
      400,
      "custom_fields.topics is required",
    ]);
  });

  test("that a person holds from another list count", async () => {
    const email = address();
    await added({ email, custom_fields: { birthday: "2000-01-01" } }, other);
    expect(JSON.parse((await added({ email })).custom_fields)).toEqual({ birthday: "2000-01-01", size: "M" });
  });

  test("are merged on update: null removes a value, unless it is required", async () => {
    const { subscriber_id } = await added({
      email: address(),
      custom_fields: { birthday: "2000-01-01", pet: "cat" },
    });
    const path = `${members()}/${subscriber_id}`;
    const changed = await service.call("PUT", path, {
      custom_fields: '{"pet":null,"size":"S","x":{"y":null}}',
    });
    expect(JSON.parse(changed.body.data.custom_fields)).toEqual({
      birthday: "2000-01-01",
      size: "S",
      x: { y: null },
    });
    for (const birthday of [null, ""]) {
      const refused = await service.call("PUT", path, { custom_fields: { birthday } });
      expect(refused.body.details[0].field).toBe("custom_fields.birthday");
    }
    expect((await service.call("PUT", path, { first_name: "Ann" })).status).toBe(200);
  });
});

test("a person with more values than the limit can be changed, emptied and added to lists, but not get more", async () => {
  const { subscriber_id, email } = await added({ email: address() });
  const held = { a: "a".repeat(50_000), b: "b".repeat(40_000) };
  // As imports of different columns leave it.
  await database.run(sql`
    update subscribers set custom_fields = ${JSON.stringify(held)}::jsonb where id = ${subscriber_id}`);
  const path = `${members()}/${subscriber_id}`;
  const put = (body: object) => service.call("PUT", path, body);
  const tooMuch = {
    field: "custom_fields",
    message: "custom_fields of one person may hold 500 values and 64 KB",
  };
  const refused = [
    await put({ custom_fields: { c: "c" } }),
    await add({ email, custom_fields: { c: "c" } }, other),
    await add({ email: address(), custom_fields: held }),
  ];
  expect(refused.map(({ status, body }) => [status, body.details])).toEqual(
    refused.map(() => [400, [tooMuch]]),
  );
  expect((await put({ first_name: "Ann" })).body.data.first_name).toBe("Ann");
  const field = { field_name: "plan", field_label: "Plan", field_type: "text", default_value: "free" };
  await service.call("POST", `/mailing-lists/${other}/custom-fields`, field);
  expect(JSON.parse((await added({ email }, other)).custom_fields)).toEqual({ ...held, plan: "free" });
  const changed = await put({ custom_fields: { a: null, b: "short" } });
  expect(JSON.parse(changed.body.data.custom_fields)).toEqual({ b: "short", plan: "free" });
});

describe("changing", () => {
  test("omitted fields stay, null clears, and the email cannot change", async () => {
    const email = address();
    const { subscriber_id, ...member } = await added({ email, first_name: "Ann", last_name: "Lee" });
    const path = `${members()}/${subscriber_id}`;
    clock.advance(1_000);
    const changed = await service.call("PUT", path, { first_name: null, email: email.toUpperCase() });
    expect(changed.body.data).toEqual({
      ...member,
      subscriber_id,
      first_name: null,
      updated_at: clock.now().toISOString(),
    });
    const refused = await service.call("PUT", path, { email: address(), last_name: "Li" });
    expect(refused.body).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "email" }] });
    expect((await service.call("PUT", path, {})).body.data).toEqual(changed.body.data);
  });

  test("any status can be set; unsubscribing is dated, and a return starts a new subscription", async () => {
    const { subscriber_id, subscribed_at } = await added({ email: address() });
    const path = `${members()}/${subscriber_id}`;
    clock.advance(1_000);
    const left = await service.call("PUT", path, { status: "unsubscribed", first_name: "Ann" });
    const leftAt = clock.now().toISOString();
    expect(left.body.data).toMatchObject({
      status: "unsubscribed",
      first_name: "Ann",
      subscribed_at,
      unsubscribed_at: leftAt,
    });
    clock.advance(1_000);
    const back = await service.call("PUT", `${path}/status`, { status: "active" });
    expect(back.body.data).toMatchObject({
      status: "active",
      subscribed_at: clock.now().toISOString(),
      unsubscribed_at: null,
    });
    for (const status of ["bounced", "complained", "unsubscribed", "bounced", "active"]) {
      expect((await service.call("PUT", `${path}/status`, { status })).body.data.status).toBe(status);
    }
    for (const body of [{}, { status: "gone" }, { status: null }]) {
      expect((await service.call("PUT", `${path}/status`, body)).status).toBe(400);
    }
    expect(await findMiscounts(database)).toEqual([]);
  });

  test("bounced applies to every list, unsubscribed and active to their own only", async () => {
    const email = address();
    const { subscriber_id } = await added({ email });
    await added({ email }, other);
    const statuses = async () =>
      Object.fromEntries(
        (await get(`/subscribers/${subscriber_id}`)).lists.map((one: { name: string; status: string }) => [
          one.name,
          one.status,
        ]),
      );
    const set = (of: string, status: string) =>
      service.call("PUT", `${members(of)}/${subscriber_id}/status`, { status });
    await set(list, "unsubscribed");
    expect(await statuses()).toEqual({ News: "unsubscribed", Offers: "active" });
    expect((await get(`/subscribers/${subscriber_id}`)).status).toBe("active");
    await set(other, "bounced");
    expect(await statuses()).toEqual({ News: "bounced", Offers: "bounced" });
    await set(list, "active");
    expect(await statuses()).toEqual({ News: "active", Offers: "bounced" });
    expect((await get(`/subscribers/${subscriber_id}`)).status).toBe("bounced");
  });
});

describe("leaving", () => {
  test("a person is deleted with the last membership", async () => {
    const email = address();
    const { subscriber_id } = await added({ email });
    await added({ email }, other);
    const gone = await service.call("DELETE", `${members()}/${subscriber_id}`);
    expect(gone.body.data).toEqual({ id: subscriber_id, deleted: true });
    expect((await service.call("DELETE", `${members()}/${subscriber_id}`)).status).toBe(404);
    expect((await get(`/subscribers/${subscriber_id}`)).lists).toHaveLength(1);
    await service.call("DELETE", `${members(other)}/${subscriber_id}`);
    expect((await service.call("GET", `/subscribers/${subscriber_id}`)).status).toBe(404);
  });

  test("DELETE all removes the members of that list only", async () => {
    const both = address();
    await added({ email: both });
    await added({ email: address() });
    await added({ email: both }, other);
    const gone = await service.call("DELETE", `${members()}/all`);
    expect(gone.body).toMatchObject({ data: { deleted: 2 }, message: "2 subscribers deleted" });
    expect((await service.call("DELETE", `${members()}/all`)).body.data).toEqual({ deleted: 0 });
    expect((await get(members(other))).subscribers).toMatchObject([{ email: both }]);
    const last = await service.call("DELETE", `${members(other)}/all`);
    expect(last.body).toMatchObject({ data: { deleted: 1 }, message: "1 subscriber deleted" });
    expect((await service.call("DELETE", `${members(newId())}/all`)).status).toBe(404);
    expect(await findMiscounts(database)).toEqual([]);
  });
});

test("a person in full: lists, lifetime and history", async () => {
  const email = address();
  const { subscriber_id } = await added({ email, custom_fields: { city: "Rome" }, source: "fair" });
  await database.run(sql`
    update subscribers set unique_open_count = 4, unique_click_count = 1, open_count = 9, click_count = 2,
      engagement_score = 71, last_opened_at = '2026-01-02T03:04:05Z'
    where id = ${subscriber_id}`);
  await database.run(sql`
    update subscriber_stats set sent_count = 10, delivered_count = 8, bounce_count = 2,
      last_opened_at = '2026-01-02T03:04:05Z'
    where subscriber_id = ${subscriber_id}`);
  expect(await get(`/subscribers/${subscriber_id}`)).toMatchObject({
    id: subscriber_id,
    email,
    source: "fair",
    status: "active",
    custom_fields: { city: "Rome" },
    lists: [{ mailing_list_id: list, name: "News", status: "active", source: "fair", unsubscribed_at: null }],
    stats: {
      sent: 10,
      delivered: 8,
      bounced: 2,
      opens: 9,
      unique_opens: 4,
      open_rate: 0.5,
      click_rate: 0.125,
      unsubscribed: 0,
    },
    engagement_score: 71,
    recent_activity: [],
    bounces: [],
    suppressions: [],
  });
  const { subscribers } = await get(`/subscribers?search=${email}`);
  expect(subscribers).toMatchObject([
    {
      id: subscriber_id,
      lists: [{ id: list, name: "News", status: "active" }],
      list_count: 1,
      last_activity_at: "2026-01-02T03:04:05.000Z",
    },
  ]);
});

test("a member of one list is not found on another, nor one of another workspace", async () => {
  const { subscriber_id } = await added({ email: address() });
  const stranger = await service.newWorkspace();
  const theirs = await newList(database, stranger.workspaceId);
  const attempts = [
    [other, undefined],
    [theirs, undefined],
    [list, stranger.key],
    [theirs, stranger.key],
  ] as const;
  for (const [of, key] of attempts) {
    const path = `${members(of)}/${subscriber_id}`;
    const options = key === undefined ? {} : { key };
    for (const [method, target, body] of [
      ["PUT", path, { first_name: "Mallory" }],
      ["PUT", `${path}/status`, { status: "bounced" }],
      ["DELETE", path, undefined],
    ] as const) {
      expect((await service.call(method, target, body, options)).status, `${method} ${target}`).toBe(404);
    }
  }
  expect(await get(`/subscribers/${subscriber_id}`)).toMatchObject({ first_name: null, status: "active" });
});

test("64 clients that subscribe, unsubscribe and delete the same people: no 500, and correct counters", async () => {
  const emails = Array.from({ length: 10 }, address);
  const client = async (seed: number) => {
    for (let turn = 0; turn < 6; turn++) {
      const of = (seed + turn) % 3 === 0 ? other : list;
      const email = emails[(seed * 7 + turn) % emails.length] ?? "";
      const made = await add({ email, first_name: `Ann${seed}` }, of);
      expect([201, 409]).toContain(made.status);
      const id = made.body.data?.subscriber_id;
      const answers = [
        ...(id
          ? [
              await service.call("PUT", `${members(of)}/${id}/status`, {
                status: turn % 2 ? "bounced" : "unsubscribed",
              }),
            ]
          : []),
        ...(id && turn % 3 === 0 ? [await service.call("DELETE", `${members(of)}/${id}`)] : []),
        ...(seed % 16 === 0 && turn === 3 ? [await service.call("DELETE", `${members(of)}/all`)] : []),
      ];
      for (const { status, body } of answers) expect([200, 404], JSON.stringify(body)).toContain(status);
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, seed) => client(seed)));
  expect(await findMiscounts(database)).toEqual([]);
});

test("a change whose transaction is rolled back by a deadlock is repeated", async () => {
  const { subscriber_id: id } = await added({ email: address() });
  await database.run(sql`create sequence tries`);
  await database.run(sql`
    create function give_way() returns trigger language plpgsql as $$ begin
      if nextval('tries') = 1 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
      return null;
    end $$`);
  await database.run(sql`
    create trigger give_way after insert or update or delete on subscribers
    for each statement execute function give_way()`);
  const calls: [string, string, object?][] = [
    ["POST", members(), { email: address() }],
    ["PUT", `${members()}/${id}`, { first_name: "Ann" }],
    ["PUT", `${members()}/${id}/status`, { status: "unsubscribed" }],
    ["DELETE", `${members()}/${id}`],
    ["DELETE", `${members()}/all`],
    ["DELETE", `/mailing-lists/${list}`],
  ];
  for (const [method, path, body] of calls) {
    if (path.endsWith(list)) await added({ email: address() });
    await database.run(sql`alter sequence tries restart`);
    const { status } = await service.call(method, path, body);
    expect([method, path, status < 300]).toEqual([method, path, true]);
    expect(await database.row(sql`select from tries where last_value > 1`)).toBeDefined();
  }
  await database.run(sql`drop trigger give_way on subscribers`);
  expect(await findMiscounts(database)).toEqual([]);
});
