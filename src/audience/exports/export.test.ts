import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import sql from "sql-template-tag";
import { afterAll, describe, expect, it, test } from "vitest";
import { columnKey } from "#platform/csv/find-column.ts";
import { openCsv } from "#platform/csv/read.ts";
import { newId } from "#platform/ids.ts";
import { startImportService } from "#test/support/imports.ts";
import { EXPORT_JOB } from "./export-job.ts";

const service = await startImportService();
const { call, database, importFile, newList } = service;
const folder = await mkdtemp(join(tmpdir(), "posthaste-exports-"));
afterAll(() => rm(folder, { recursive: true }));

const startExport = (list: string, body?: object) =>
  call("POST", `/mailing-lists/${list}/subscribers/export-async`, body);
const add = (list: string, person: object) => call("POST", `/mailing-lists/${list}/subscribers`, person);
const field = (list: string, body: object) => call("POST", `/mailing-lists/${list}/custom-fields`, body);

/** The text of an export. */
async function exported(list: string, body?: object): Promise<string> {
  const job = await service.ended(await startExport(list, body));
  expect(job).toMatchObject({ type: "subscriber_export", status: "completed", error: null, progress: 100 });
  const answer = await call("GET", job.download_url.replace("/api/v1", ""));
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const rows = await rowsOf(answer.body);
  expect(job).toMatchObject({
    total: rows.length - 1,
    processed: rows.length - 1,
    result: { rows: rows.length - 1 },
  });
  return answer.body;
}

async function rowsOf(text: string): Promise<(readonly string[])[]> {
  const path = join(folder, "export.csv");
  await writeFile(path, text);
  return (await Array.fromAsync((await openCsv(path)).rows())).map(({ cells }) => cells);
}

const emailsIn = async (text: string) => (await rowsOf(text)).slice(1).map(([email]) => email);

describe("an export", () => {
  it("has all members of the list, newest first, with the columns of an import and all stored values", async () => {
    const list = await newList();
    await field(list, { field_name: "city", field_label: "City", field_type: "text" });
    await add(list, { email: "a@ex.example", first_name: "Ann", custom_fields: { city: "Rome", other: 1 } });
    await add(list, { email: "b@ex.example", last_name: "Lee, Jr.", source: "form" });
    const at = service.clock.now().toISOString();
    expect(await exported(list)).toBe(
      [
        "Email,First,Last,Status,Source,Subscribed At,city,other",
        `b@ex.example,,"Lee, Jr.",active,form,${at},,`,
        `a@ex.example,Ann,,active,api,${at},Rome,1`,
        "",
      ].join("\r\n"),
    );
  });

  it("of an empty list is its header", async () => {
    const list = await newList();
    expect(await exported(list)).toBe("Email,First,Last,Status,Source,Subscribed At\r\n");
  });

  it("asks with or without a body, and for the custom fields it names", async () => {
    const list = await newList();
    for (const name of ["one", "two"]) {
      await field(list, { field_name: name, field_label: name, field_type: "text" });
    }
    await add(list, { email: "a@fd.example", custom_fields: { one: "1", two: "2" } });
    const header = async (body?: object) => (await rowsOf(await exported(list, body)))[0]?.slice(6);
    expect(await header()).toEqual(["one", "two"]);
    expect(await header({})).toEqual(["one", "two"]);
    expect(await header({ fields: ["two", "email", "two"], format: "csv" })).toEqual(["two"]);
    expect(await header({ fields: [] })).toEqual([]);
  });

  it("of a status, a search or a segment has only those people", async () => {
    const list = await newList();
    await importFile(
      list,
      "Email,First,Status\nann@se.example,Ann,active\nbob@se.example,Bob,active\neve@se.example,Ann,unsubscribed\n",
    );
    const segment = await call("POST", `/mailing-lists/${list}/segments`, {
      name: "Bobs",
      conditions: { logic: "and", rules: [{ field: "first_name", operator: "equals", value: "Bob" }] },
    });
    expect(segment.status).toBe(201);
    const emails = async (body: object) =>
      (await emailsIn(await exported(list, body))).map(String).sort((a, b) => a.localeCompare(b));
    expect(await emails({ status: "unsubscribed" })).toEqual(["eve@se.example"]);
    expect(await emails({ search: "ann" })).toEqual(["ann@se.example", "eve@se.example"]);
    expect(await emails({ search: "ann", status: "active" })).toEqual(["ann@se.example"]);
    expect(await emails({ segment_id: segment.body.data.id })).toEqual(["bob@se.example"]);
    expect(await emails({ segment_id: segment.body.data.id, status: "bounced" })).toEqual([]);
  });

  it("has those people that the list of subscribers has with the same filters", async () => {
    const [list, other] = [await newList(), await newList()];
    await field(list, { field_name: "plan", field_label: "Plan", field_type: "text" });
    const first = service.clock.now();
    for (const [name, plan] of [
      ["a", "pro"],
      ["b", "pro"],
      ["c", "free"],
    ] as const) {
      await add(list, { email: `${name}@sf.example`, custom_fields: { plan } });
      service.clock.advance(60_000);
    }
    // A member of two lists joined the other one later.
    await add(other, { email: "a@sf.example" });
    const at = (minutes: number) => new Date(first.getTime() + minutes * 60_000).toISOString();
    await database.run(sql`
      update subscribers set last_opened_at = ${at(1)}, last_clicked_at = ${at(2)} where email = 'b@sf.example'`);
    await database.run(sql`
      update subscriber_stats set last_opened_at = ${at(1)}, last_clicked_at = ${at(2)} where subscriber_id in (
        select id from subscribers where email = 'b@sf.example')`);
    for (const [filter, names] of [
      [{ joined_from: at(1) }, "bc"],
      [{ joined_from: at(1), joined_to: at(2) }, "b"],
      [{ opened_since: at(1) }, "b"],
      [{ opened_since: at(2) }, ""],
      [{ never_opened: true }, "ac"],
      [{ clicked_since: at(2) }, "b"],
      [{ never_clicked: true }, "ac"],
      [{ field: "plan", field_value: "pro" }, "ab"],
      [{ field: "plan", field_value: "pro", never_opened: true }, "a"],
    ] as const) {
      const sorted = (emails: readonly (string | undefined)[]) =>
        emails.map(String).toSorted((a, b) => a.localeCompare(b));
      const given = new URLSearchParams();
      for (const [name, value] of Object.entries(filter)) given.set(name, String(value));
      const { body } = await call("GET", `/subscribers?list_id=${list}&${given.toString()}`);
      const listed = body.data.subscribers.map(({ email }: { readonly email: string }) => email);
      expect(sorted(listed)).toEqual(Array.from(names, (name) => `${name}@sf.example`));
      expect(sorted(await emailsIn(await exported(list, { filter })))).toEqual(sorted(listed));
    }
    const all = { search: "sf.example", status: "active", filter: { joined_to: at(2), never_opened: true } };
    expect(await emailsIn(await exported(list, all))).toEqual(["a@sf.example"]);
  });

  it("is refused for a segment or field that the list does not have", async () => {
    const [list, other] = [await newList(), await newList()];
    const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "a" }] };
    const segment = await call("POST", `/mailing-lists/${other}/segments`, { name: "S", conditions });
    for (const [body, name] of [
      [{ segment_id: segment.body.data.id }, "segment_id"],
      [{ segment_id: crypto.randomUUID() }, "segment_id"],
      [{ segment_id: "x" }, "segment_id"],
      [{ fields: ["email", "nothing"] }, "fields[1]"],
      [{ status: "gone" }, "status"],
      [{ format: "xlsx" }, "format"],
      [{ fields: "city" }, "fields"],
      [{ filter: { joined_from: "soon" } }, "filter.joined_from"],
      [{ filter: { joined_from: "2026-11-01T00:00:00+01:00[Europe/Berlin]" } }, "filter.joined_from"],
      [{ filter: { joined_to: "2016-12-31T23:59:60Z" } }, "filter.joined_to"],
      [
        { filter: { joined_from: "2026-02-01T00:00:00Z", joined_to: "2026-01-01T00:00:00Z" } },
        "filter.joined_to",
      ],
      [{ filter: { opened_since: "2026-02-01T00:00:00Z", never_opened: true } }, "filter.never_opened"],
      [{ filter: { field: "nothing", field_value: "x" } }, "filter.field"],
      [{ filter: { field: "city" } }, "filter.field_value"],
      [{ filter: { never_open: true } }, "filter.never_open"],
    ] as const) {
      const answer = await startExport(list, body);
      expect([answer.status, answer.body.code, answer.body.details?.[0].field]).toEqual([
        400,
        "VALIDATION_ERROR",
        name,
      ]);
    }
  });

  it("is not available to others: another workspace gets 404, a key without the permission 403", async () => {
    const list = await newList();
    const job = await service.ended(await startExport(list));
    const path = job.download_url.replace("/api/v1", "");
    const stranger = await service.newWorkspace();
    expect((await call("GET", path, undefined, { key: stranger.key })).status).toBe(404);
    expect((await call("GET", path, undefined, { key: null })).status).toBe(401);
    const key = await service.newKey(["segments:read"]);
    expect((await call("GET", path, undefined, { key })).status).toBe(403);
  });

  it("can be fetched for seven days", async () => {
    const job = await service.ended(await startExport(await newList()));
    const path = job.download_url.replace("/api/v1", "");
    await database.run(sql`update jobs set expires_at = now() - interval '1 second' where id = ${job.id}`);
    expect((await call("GET", path)).status).toBe(404);
  });
});

it("no cell of an export starts a formula", async () => {
  const list = await newList();
  await field(list, { field_name: "note", field_label: "Note", field_type: "text" });
  const notes = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''@x", "'plain", '=HYPERLINK("x")'];
  for (const [at, note] of notes.entries()) {
    await add(list, { email: `=n${at}@fo.example`, first_name: "-x", custom_fields: { note } });
  }
  const rows = (await rowsOf(await exported(list))).slice(1);
  expect(rows).toHaveLength(notes.length);
  for (const cell of rows.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
});

test("an exported file can be imported unchanged, in the same workspace and in another", async () => {
  const fields = [
    { field_name: "note", field_type: "text" },
    { field_name: "story", field_type: "textarea" },
    { field_name: "score", field_type: "number" },
    { field_name: "born", field_type: "date" },
    { field_name: "vip", field_type: "boolean" },
    { field_name: "site", field_type: "url" },
    { field_name: "contact", field_type: "email" },
    { field_name: "size", field_type: "select", field_options: ["S", "-M", "=L"] },
    { field_name: "topics", field_type: "multiselect", field_options: ["News", "@home", "a, b"] },
  ].map((body) => ({ ...body, field_label: body.field_name }));
  const odd = fc.string({
    unit: fc.constantFrom(
      "a",
      "é",
      "😀",
      " ",
      ",",
      ";",
      "\t",
      "|",
      '"',
      "'",
      "\n",
      "\r",
      "=",
      "+",
      "-",
      "@",
      "\\",
      "N",
    ),
    maxLength: 12,
  });
  const text = fc
    .oneof(odd, fc.string({ unit: "grapheme", maxLength: 12 }))
    .map((raw) => raw.replaceAll("\0", ""));
  const said = text.filter((value) => value.trim() !== "");
  const name = fc.oneof(
    fc.string({ unit: fc.constantFrom("A", "ß", "'", "-", "=", "+", "@", '"', ",", ";", " "), maxLength: 8 }),
    fc.constant("Zoë"),
  );
  const person = fc.record({
    first_name: fc.option(name),
    last_name: fc.option(name),
    status: fc.constantFrom("active", "unsubscribed", "bounced", "complained"),
    source: fc.option(fc.constantFrom("form", "=shop", "a, b"), { nil: "api" }),
    custom_fields: fc.record(
      {
        note: said,
        story: said,
        // As text, because JSON bodies may not have the largest as numbers.
        score: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map(String),
        born: fc.constantFrom("2026-02-28", "2026-01-31T09:00:00.000Z"),
        vip: fc.boolean(),
        site: fc.constantFrom("https://example.com/?a=1,2", "http://example.org"),
        contact: fc.constantFrom("+a@example.com", "-b.c@example.org"),
        size: fc.constantFrom("S", "-M", "=L"),
        topics: fc.uniqueArray(fc.constantFrom("News", "@home", "a, b"), { minLength: 1 }),
      },
      { requiredKeys: [] },
    ),
  });
  const people = async (list: string) =>
    database.rows(sql`
      select s.email, s.first_name, s.last_name, m.status, m.source, s.custom_fields
      from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
      where m.mailing_list_id = ${list} order by s.email`);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(person, { minLength: 1, maxLength: 8 }), async (given) => {
      run++;
      const list = await newList();
      for (const body of fields) expect((await field(list, body)).status).toBe(201);
      for (const [at, { status, ...rest }] of given.entries()) {
        const answer = await add(list, { ...rest, email: `+p${at}@run${run}.example` });
        expect(answer.status, JSON.stringify(answer.body)).toBe(201);
        const id = answer.body.data.subscriber_id;
        await call("PUT", `/mailing-lists/${list}/subscribers/${id}/status`, { status });
      }
      const before = await people(list);
      const file = await exported(list);
      const again = await importFile(list, file);
      expect(again.counts).toMatchObject({ unchanged: given.length, created: 0, updated: 0, invalid: 0 });
      expect(await people(list)).toEqual(before);
      await call("DELETE", `/mailing-lists/${list}/subscribers/all`);
      const back = await importFile(list, file);
      expect(back.counts).toMatchObject({ created: given.length, invalid: 0 });
      expect(await people(list)).toEqual(before);
    }),
    { numRuns: 40 },
  );
}, 120_000);

it.each([
  ["with every field", undefined, "2020-01-31", 0],
  ["with that field", { fields: ["subscribed_at"] }, "2020-01-31", 0],
  ["without fields", { fields: [] }, undefined, 1],
])("a custom field named as a column of the export is another one: %s", async (_what, body, held, fields) => {
  const list = await newList();
  const named = { field_name: "subscribed_at", field_label: "Subscribed At", field_type: "text" };
  expect((await field(list, named)).status).toBe(201);
  const email = `${newId()}@ex.example`;
  await add(list, { email, custom_fields: { subscribed_at: "2020-01-31" } });
  const file = await exported(list, body);
  expect((await rowsOf(file))[0]).toHaveLength(7 - fields);
  await call("DELETE", `/mailing-lists/${list}/subscribers/all`);
  expect((await importFile(list, file)).counts).toMatchObject({ created: 1, invalid: 0 });
  const again = await call("GET", `/mailing-lists/${list}/subscribers`);
  expect(JSON.parse(again.body.data.subscribers[0].custom_fields).subscribed_at).toBe(held);
});

it("every column of an export is known to an import", () => {
  for (const name of ["Email", "First", "Last", "Status", "Source"])
    expect(columnKey(name)).toBe(name.toLowerCase());
});

it("an export is refused while 50 of them are open, those under way among them, also by callers at once", async () => {
  const list = await newList();
  const ids = Array.from({ length: 50 }, newId);
  await database.run(sql`
    insert into jobs (workspace_id, id, type, permission, status, due_at)
    select ${service.workspaceId}, unnest(${ids}::uuid[]), ${EXPORT_JOB}, 'subscribers:read', 'processing',
      now() + interval '1 hour'`);
  const refused = await startExport(list);
  expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
  await database.run(sql`update jobs set status = 'completed' where id = ${ids[0]}`);
  const last = await database.transaction(async (tx) => {
    // The accepted export must not have ended, and freed its place, before the others are checked.
    await tx.run(sql`lock table memberships in access exclusive mode`);
    return Promise.all([1, 2, 3, 4].map(() => startExport(list)));
  });
  expect(last.filter(({ status }) => status === 202)).toHaveLength(1);
  await database.run(sql`delete from jobs where id = any(${ids}::uuid[])`);
});
