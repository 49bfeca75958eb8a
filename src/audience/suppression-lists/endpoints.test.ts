import sql from "sql-template-tag";
import { beforeEach, describe, expect, it, test } from "vitest";
import { apiCaller } from "../../../test/support/api-caller.ts";
import { newList } from "../../../test/support/audience.ts";
import { startService } from "../../../test/support/service.ts";
import { insertSegment } from "../../../test/support/suppression.ts";
import { newId } from "../../platform/ids.ts";
import { ensureSystemList, isSegmentUsedBySuppression } from "./store.ts";

const service = await startService();
const { database, workspaceId, clock, call } = service;

const create = async (body: object = {}) => {
  const answer = await call("POST", "/suppression-lists", { name: "Ours", ...body });
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data;
};
const find = async (id: string) => (await call("GET", `/suppression-lists/${id}`)).body.data;
const add = (id: string, entries: string) => call("POST", `/suppression-lists/${id}/entries`, { entries });
const entriesOf = async (id: string, query = "") =>
  (await call("GET", `/suppression-lists/${id}/entries${query}`)).body.data;
const valuesOf = async (id: string, query = "") =>
  ((await entriesOf(id, query)) ?? []).map(
    ({ normalized_value }: { normalized_value: string }) => normalized_value,
  );
const ask = async (id: string, test_value: string) =>
  (await call("POST", `/suppression-lists/${id}/test`, { test_value })).body;
const upload = (id: string, content: string | Uint8Array<ArrayBuffer>) => {
  const form = new FormData();
  form.set("csvFile", new Blob([content]), "list.csv");
  return call("POST", `/suppression-lists/${id}/import`, form);
};
/** The counter, the rows, and whether they agree. */
const countOf = async (id: string) => {
  const { entry_count } = await find(id);
  const counted = await database.row<{ rows: number }>(
    sql`select count(*)::int as rows from suppression_entries where suppression_list_id = ${id}`,
  );
  expect(entry_count).toBe(counted?.rows);
  return entry_count;
};

describe("lists", () => {
  it("have the defaults of the contract and are read as they were made", async () => {
    clock.advance(1);
    const made = await create({ name: "  Ours  " });
    const now = clock.now().toISOString();
    expect(made).toEqual({
      id: expect.any(String),
      name: "Ours",
      description: "",
      suppression_scope: "global",
      mailing_list_id: null,
      mailing_list_name: null,
      segment_id: null,
      segment_name: null,
      entry_count: 0,
      is_active: true,
      is_system: false,
      created_at: now,
      updated_at: now,
    });
    expect(await find(made.id)).toEqual(made);
    clock.advance(1);
    const newer = await create();
    const { suppression_lists } = (await call("GET", "/suppression-lists")).body.data;
    expect(suppression_lists.slice(0, 2)).toEqual([newer, made]);
  });

  it("of a mailing list or a segment name it", async () => {
    const mailing_list_id = await newList(database, workspaceId, "News");
    const segment_id = await insertSegment(database, workspaceId, mailing_list_id, "Readers");
    expect(await create({ suppression_scope: "mailing_list", mailing_list_id, segment_id })).toMatchObject({
      mailing_list_id,
      mailing_list_name: "News",
      segment_id: null,
    });
    expect(await create({ suppression_scope: "segment", segment_id, mailing_list_id })).toMatchObject({
      segment_id,
      segment_name: "Readers",
      mailing_list_id: null,
    });
    expect(await create({ segment_id, mailing_list_id })).toMatchObject({
      suppression_scope: "global",
      segment_id: null,
      mailing_list_id: null,
    });
    expect(await isSegmentUsedBySuppression(database, workspaceId, segment_id)).toBe(true);
    expect(await isSegmentUsedBySuppression(database, workspaceId, newId())).toBe(false);
  });

  it("need the thing of their scope, and it must be the workspace's own", async () => {
    const stranger = (await service.newWorkspace()).workspaceId;
    const theirs = await newList(database, stranger);
    const theirSegment = await insertSegment(database, stranger, theirs, "Theirs");
    const refusals = [];
    for (const [scope, id] of [
      ["mailing_list", undefined],
      ["mailing_list", null],
      ["mailing_list", "x"],
      ["mailing_list", newId()],
      ["mailing_list", theirs],
      ["segment", undefined],
      ["segment", newId()],
      ["segment", theirSegment],
    ] as const) {
      const body = { name: "x", suppression_scope: scope, [`${scope}_id`]: id };
      const { status, body: answer } = await call("POST", "/suppression-lists", body);
      expect([status, answer.code, answer.details[0].field]).toEqual([
        400,
        "VALIDATION_ERROR",
        `${scope}_id`,
      ]);
      refusals.push(answer.error);
    }
    // Nobody learns whether an id exists elsewhere.
    expect(refusals[3]).toBe(refusals[4]);
    expect(refusals[6]).toBe(refusals[7]);
  });

  it.each([
    [{}, "name"],
    [{ name: "x", suppression_scope: "all" }, "suppression_scope"],
    [{ name: "x", is_active: "no" }, "is_active"],
    [{ name: "a\nb" }, "name"],
  ])("%j is refused by its field", async (body, field) => {
    const { status, body: answer } = await call("POST", "/suppression-lists", body);
    expect([status, answer.details?.[0].field]).toEqual([400, field]);
  });

  it("change what an update names and keep the rest", async () => {
    const mailing_list_id = await newList(database, workspaceId, "News");
    const made = await create({ description: "Former customers" });
    const put = (body: object) => call("PUT", `/suppression-lists/${made.id}`, body);
    clock.advance(1_000);
    const updated_at = clock.now().toISOString();
    const inactive = { ...made, is_active: false, updated_at };
    expect((await put({ is_active: false })).body.data).toEqual(inactive);
    expect((await put({ suppression_scope: "mailing_list" })).status).toBe(400);
    const scoped = await put({ suppression_scope: "mailing_list", mailing_list_id });
    expect(scoped.body.data).toMatchObject({ mailing_list_name: "News", description: "Former customers" });
    expect((await put({ mailing_list_id: null })).status).toBe(400);
    expect((await put({ name: "Theirs" })).body.data).toMatchObject({ name: "Theirs", mailing_list_id });
    expect((await put({ suppression_scope: "global" })).body.data).toMatchObject({ mailing_list_id: null });
  });

  it("take their entries with them", async () => {
    const { id } = await create();
    await add(id, "ada@example.com");
    expect((await call("DELETE", `/suppression-lists/${id}`)).body.data).toEqual({ id, deleted: true });
    expect((await call("DELETE", `/suppression-lists/${id}`)).status).toBe(404);
    expect((await add(id, "ada@example.com")).status).toBe(404);
    expect(
      await database.rows(sql`select from suppression_entries where suppression_list_id = ${id}`),
    ).toEqual([]);
  });

  it("go with their mailing list, those of its segments too, and no others", async () => {
    const mailing_list_id = await newList(database, workspaceId);
    const segment_id = await insertSegment(database, workspaceId, mailing_list_id, "Readers");
    const { id: global } = await create();
    const { id: ofList } = await create({ suppression_scope: "mailing_list", mailing_list_id });
    const { id: ofSegment } = await create({ suppression_scope: "segment", segment_id });
    for (const id of [global, ofList, ofSegment]) await add(id, "ada@example.com");
    expect((await call("DELETE", `/mailing-lists/${mailing_list_id}`)).status).toBe(200);
    const statuses = [global, ofList, ofSegment].map(
      async (id) => (await call("GET", `/suppression-lists/${id}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 404, 404]);
    expect(
      await database.rows(sql`
        select from suppression_entries where suppression_list_id in (${ofList}, ${ofSegment})`),
    ).toEqual([]);
    expect(await countOf(global)).toBe(1);
  });
});

describe("the list of bounces and complaints", () => {
  it("is there from the beginning, and once", async () => {
    const { key } = await service.newWorkspace();
    const theirs = apiCaller(() => service.url, key);
    const answers = await Promise.all([1, 2, 3].map(() => theirs("GET", "/suppression-lists")));
    for (const { body } of answers) {
      expect(body.data.suppression_lists).toMatchObject([
        { name: "Bounces and complaints", is_system: true, suppression_scope: "global", entry_count: 0 },
      ]);
    }
  });

  it("can be neither changed, nor deleted, nor filled from a file; its entries can", async () => {
    const id = await ensureSystemList(database, workspaceId);
    const before = await find(id);
    for (const refused of [
      await call("PUT", `/suppression-lists/${id}`, { name: "Mine" }),
      await call("PUT", `/suppression-lists/${id}`, { is_active: false }),
      await call("DELETE", `/suppression-lists/${id}`),
      await upload(id, "ada@example.com\n"),
    ]) {
      expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
    }
    expect(await find(id)).toEqual(before);
    expect((await add(id, "ada@example.com")).status).toBe(201);
    const [entry] = await entriesOf(id);
    expect((await call("DELETE", `/suppression-lists/${id}/entries/${entry.id}`)).status).toBe(200);
    expect(await countOf(id)).toBe(0);
  });
});

describe("entries", () => {
  let id: string;
  beforeEach(async () => {
    ({ id } = await create());
  });

  it("of an empty list are null", async () => {
    const { status, body } = await call("GET", `/suppression-lists/${id}/entries`);
    expect([status, body.data]).toEqual([200, null]);
  });

  it("are counted: added, duplicates and invalid are all that is not blank", async () => {
    await add(id, "known@example.com");
    const { status, body } = await add(
      id,
      'User@EXAMPLE.com\r\n\r\nuser@example.com;  ,known@example.com\n"@Example.com"\nnobody\nexample.com.,ada@',
    );
    expect(status).toBe(201);
    const message = "2 added, 3 duplicates, 2 invalid: nobody, ada@";
    expect(body.data).toEqual({ added: 2, duplicates: 3, invalid: 2, message });
    expect(body.message).toBe(message);
    expect((await entriesOf(id)).at(1).entry_value).toBe("User@EXAMPLE.com");
    expect(await countOf(id)).toBe(3);
    expect((await add(id, "known@example.com")).body.data).toMatchObject({
      added: 0,
      duplicates: 1,
      invalid: 0,
    });
  });

  it("tell who added them and how they were written, newest first", async () => {
    await add(id, "first@example.com");
    clock.advance(1_000);
    const key = await service.newKey(["suppression_lists:write"], "The shop");
    await call("POST", `/suppression-lists/${id}/entries`, { entries: "@Example.COM" }, { key });
    const common = { id: expect.any(String), source_message_id: null };
    expect(await entriesOf(id)).toEqual([
      {
        ...common,
        entry_value: "@Example.COM",
        entry_type: "domain",
        normalized_value: "example.com",
        reason: "domain",
        created_at: clock.now().toISOString(),
        created_by: "The shop",
      },
      expect.objectContaining({ entry_value: "first@example.com", entry_type: "email", reason: "manual" }),
    ]);
  });

  it.each([
    ["nothing valid", "nobody, ada@\n\n", /no address/],
    ["blanks", " \r\n;,", /no address/],
    ["too many", Array.from({ length: 10_001 }, (_, at) => `a${at}@example.com`).join("\n"), /import a file/],
    ["a NUL", "ada@example.com\0", /./],
  ])("%s is refused, and nothing is added", async (_name, entries, error) => {
    const { status, body } = await add(id, entries);
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(body.error).toMatch(error);
    expect(await countOf(id)).toBe(0);
  });

  it("come ten thousand at a time, and are read a thousand at a time", async () => {
    const { body } = await add(
      id,
      Array.from({ length: 10_000 }, (_, at) => `a${at}@example.com`).join("\n"),
    );
    expect(body.data).toMatchObject({ added: 10_000, duplicates: 0, invalid: 0 });
    const read = [];
    for (const page of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
      const values = await valuesOf(id, `?page=${page}`);
      expect(values).toHaveLength(1_000);
      read.push(...values);
    }
    expect(read).toEqual(Array.from({ length: 10_000 }, (_, at) => `a${9_999 - at}@example.com`));
    expect(await entriesOf(id, "?page=11")).toBeNull();
    // A change moves what was remembered of the pages.
    await add(id, "newest@example.com");
    expect((await valuesOf(id, "?page=10")).at(-1)).toBe("a1@example.com");
    expect(await valuesOf(id, "?page=11")).toEqual(["a0@example.com"]);
  });

  it("are searched by their beginning", async () => {
    await add(
      id,
      "ada@example.com\nAdam@example.com\nbob@example.com\nexample.com\na%b@example.org\na_b@example.org",
    );
    expect(await valuesOf(id, "?search=ADA")).toEqual(["adam@example.com", "ada@example.com"]);
    expect(await valuesOf(id, "?search=@example")).toEqual(["example.com"]);
    expect(await valuesOf(id, "?search=a_")).toEqual(["a_b@example.org"]);
    expect(await entriesOf(id, "?search=nobody")).toBeNull();
    expect(await entriesOf(id, "?search=ada&page=2")).toBeNull();
  });

  it("are deleted one by one, only from their own list", async () => {
    await add(id, "ada@example.com");
    const [entry] = await entriesOf(id);
    const other = await create();
    const remove = (list: string) => call("DELETE", `/suppression-lists/${list}/entries/${entry.id}`);
    expect((await remove(other.id)).status).toBe(404);
    expect((await remove(id)).body.data).toEqual({ id: entry.id, deleted: true });
    expect((await remove(id)).status).toBe(404);
    expect(await countOf(id)).toBe(0);
  });

  it("of many callers at once are counted exactly", async () => {
    const texts = Array.from({ length: 16 }, (_, at) =>
      Array.from({ length: 200 }, (_, number) => `a${(number * 7 + at * 50) % 500}@example.com`).join("\n"),
    );
    const answers = await Promise.all(texts.map((text) => add(id, text)));
    const total = answers.reduce((sum, { body }) => sum + body.data.added, 0);
    expect(total).toBe(await countOf(id));
    expect(answers.every(({ body }) => body.data.added + body.data.duplicates === 200)).toBe(true);
  });
});

describe("an import", () => {
  let id: string;
  beforeEach(async () => {
    ({ id } = await create());
  });

  it.each([
    ["one a line", "ada@example.com\nbob@example.com\n@example.org\n"],
    [
      "a named column",
      "Name;E-Mail Address;Note\nAda;ada@example.com;x\nBob;bob@example.com;\nO;example.org;\n",
    ],
    [
      "entry_value, as it is exported",
      "id,entry_value\n1,ada@example.com\n2,bob@example.com\n3,example.org\n",
    ],
    ["the first column of a file without a header", "ada@example.com,1\nbob@example.com,2\nexample.org,3\n"],
    [
      "email before any address",
      "Address,Email\nRome,ada@example.com\nParis,bob@example.com\nOslo,example.org\n",
    ],
  ])("reads %s", async (_name, content) => {
    const { status, body } = await upload(id, content);
    expect([status, body.data]).toEqual([200, { added: 3, duplicates: 0, invalid: 0, message: "3 added" }]);
    expect((await valuesOf(id)).sort()).toEqual(["ada@example.com", "bob@example.com", "example.org"]);
  });

  it("counts what is there already, what comes twice and what cannot be read, and blanks not at all", async () => {
    await add(id, "ada@example.com");
    const { body } = await upload(
      id,
      "email,n\nADA@example.com,1\nbob@example.com,2\n,3\nbob@example.com,4\nnobody,5\n",
    );
    expect(body.data).toMatchObject({ added: 1, duplicates: 2, invalid: 1 });
    expect(await countOf(id)).toBe(2);
  });

  it("folds duplicates that lie far apart, and reads UTF-16", async () => {
    const rows = Array.from({ length: 12_000 }, (_, at) => `a${at % 6_000}@example.com`);
    const { body } = await upload(
      id,
      new Uint8Array(Buffer.from(`\ufeffemail\r\n${rows.join("\r\n")}`, "utf16le")),
    );
    expect(body.data).toMatchObject({ added: 6_000, duplicates: 6_000, invalid: 0 });
    expect(await countOf(id)).toBe(6_000);
  });

  it.each([
    ["empty", ""],
    ["without an entry", "email\nnobody\n"],
    ["a header alone", "email\n"],
    ["no text", new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0, 0])],
    [
      "broken off in the middle",
      `email\n${"a@example.com\n".repeat(6_000)}"b@example.com\n${"c\n".repeat(600_000)}`,
    ],
  ])("of a file that is %s adds nothing", async (_name, content) => {
    const { status, body } = await upload(id, content);
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(await countOf(id)).toBe(0);
  });
});

describe("the test of a value", () => {
  it("says whether, and why", async () => {
    const { id } = await create({ name: "Former customers" });
    await add(id, "Ada@example.com\n@example.org");
    expect(await ask(id, " ADA@EXAMPLE.COM ")).toMatchObject({
      data: {
        suppressed: true,
        test_value: " ADA@EXAMPLE.COM ",
        reason: "manual",
        list_name: "Former customers",
      },
      message: expect.stringContaining("is suppressed by Former customers (manual)"),
    });
    expect((await ask(id, "bob@example.org")).data).toMatchObject({ suppressed: true, reason: "domain" });
    expect((await ask(id, "example.org")).data).toMatchObject({ suppressed: true, reason: "domain" });
    expect((await ask(id, "bob@mail.example.org")).data).toMatchObject({ suppressed: false, reason: null });
    expect((await ask(id, "example.com")).data).toMatchObject({ suppressed: false });
    await call("PUT", `/suppression-lists/${id}`, { is_active: false });
    expect((await ask(id, "ada@example.com")).data).toMatchObject({ suppressed: false, reason: null });
  });

  it("of what is no address and no domain is refused", async () => {
    const { id } = await create();
    const { details } = await ask(id, "nobody");
    expect(details).toMatchObject([{ field: "test_value" }]);
  });
});

test("somebody who is suppressed joins a list with a warning, and their detail says by which lists", async () => {
  const [news, other] = [await newList(database, workspaceId, "News"), await newList(database, workspaceId)];
  const global = await create({ name: "Global" });
  const ofNews = await create({ suppression_scope: "mailing_list", mailing_list_id: news });
  const inactive = await create({ is_active: false });
  for (const { id } of [global, inactive]) await add(id, "Grace@navy.example");
  await add(ofNews.id, "hopper.example");
  const join = (list: string, email: string) => call("POST", `/mailing-lists/${list}/subscribers`, { email });

  const grace = await join(other, "grace@NAVY.example");
  expect([grace.status, grace.body.data.warnings]).toEqual([201, ["suppressed"]]);
  expect((await join(other, "ada@hopper.example")).body.data.warnings).toEqual([]);
  expect((await join(news, "ada@hopper.example")).body.data.warnings).toEqual(["suppressed"]);
  const { suppressions } = (await call("GET", `/subscribers/${grace.body.data.subscriber_id}`)).body.data;
  expect(suppressions).toEqual([
    {
      suppression_list_id: global.id,
      suppression_list_name: "Global",
      suppression_scope: "global",
      reason: "manual",
      created_at: expect.any(String),
    },
  ]);
  await call("DELETE", `/mailing-lists/${other}/subscribers/${grace.body.data.subscriber_id}`);
  expect(await valuesOf(global.id)).toEqual(["grace@navy.example"]);
});
