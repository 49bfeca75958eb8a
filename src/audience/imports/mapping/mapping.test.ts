/** Imports with a mapping, over HTTP. */
import { randomUUID } from "node:crypto";
import iconv from "iconv-lite";
import sql from "sql-template-tag";
import { expect, it, test } from "vitest";
import { startImportService } from "#test/support/imports.ts";

const service = await startImportService();
const { call, database, ended, importFile, newList, upload } = service;

type Entry = readonly [column: string | number, field: string | null];
const mapped = (...entries: readonly Entry[]) =>
  JSON.stringify(entries.map(([column, field]) => ({ column, field })));

async function listWithFields(...names: readonly string[]) {
  const list = await newList();
  const ids: string[] = [];
  for (const name of names) {
    const field = { field_name: name, field_label: `The ${name}`, field_type: "text" };
    ids.push((await call("POST", `/mailing-lists/${list}/custom-fields`, field)).body.data.id);
  }
  return { list, ids };
}

const people = (list: string) =>
  database.rows(sql`
    select s.email, s.first_name, s.last_name, s.custom_fields, m.status
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list} order by s.email`);

it("imports the columns that the mapping names, whatever their headers say", async () => {
  const { list, ids } = await listWithFields("city", "code");
  const file = "Kontakt;Rufname;Email;Stadt;Code\na@map.example;Ann;old@map.example;Rome;7\n";
  const mapping = mapped(
    ["Kontakt", "email"],
    ["rufname ", "first_name"],
    ["Stadt", "custom_fields.city"],
    [5, ids[1] ?? ""],
    ["Email", null],
  );
  const job = await importFile(list, file, { mapping });
  expect(job).toMatchObject({
    status: "completed",
    counts: { created: 1 },
    result: { skipped_columns: ["Email"], warnings: [] },
  });
  expect(await people(list)).toEqual([
    {
      email: "a@map.example",
      first_name: "Ann",
      last_name: null,
      custom_fields: { city: "Rome", code: "7" },
      status: "active",
    },
  ]);
});

it("leaves out columns that the mapping does not name, even if their headers name a field", async () => {
  const { list } = await listWithFields("city");
  const job = await importFile(list, "Email,First,city\na@rest.example,Ann,Rome\n", {
    mapping: mapped(["Email", "email"]),
  });
  expect(job.result.skipped_columns).toEqual(["First", "city"]);
  expect(await people(list)).toMatchObject([{ first_name: null, custom_fields: {} }]);
});

it("takes each entry as a form field of its own, too", async () => {
  const list = await newList();
  const mapping = ['{"column":"A","field":"email"}', '{"column":"B","field":"last_name"}'];
  await importFile(list, "A,B\na@own.example,Lee\n", { mapping });
  expect(await people(list)).toMatchObject([{ email: "a@own.example", last_name: "Lee" }]);
});

test("a file without a header is imported by positions", async () => {
  const list = await newList();
  const file = "Ann,a@bare.example,yes\nBob,b@bare.example,no\nCleo,nobody,no\n";
  const mapping = mapped([2, "email"], [1, "first_name"], [3, "opted_out"]);
  const job = await importFile(list, file, { mapping });
  expect(job).toMatchObject({ total: 3, counts: { created: 2, invalid: 1 } });
  expect(await people(list)).toMatchObject([
    { email: "a@bare.example", first_name: "Ann", status: "unsubscribed" },
    { email: "b@bare.example", first_name: "Bob", status: "active" },
  ]);
  const errors = await call("GET", job.errors_url.replace("/api/v1", ""));
  expect(errors.body).toContain("3,column 2,nobody");
});

test("has_header=false makes the first row a person even if its address is broken, and true makes it a header", async () => {
  const list = await newList();
  const file = "nobody,Ann\nb@said.example,Bob\n";
  const mapping = mapped([1, "email"], [2, "first_name"]);
  expect(await importFile(list, file, { mapping, has_header: "false" })).toMatchObject({
    total: 2,
    counts: { created: 1, invalid: 1 },
  });
  expect(await importFile(list, file, { mapping, has_header: "true" })).toMatchObject({
    total: 1,
    counts: { created: 0, invalid: 0 },
  });
});

test("without a mapping, the addresses of a file without a header are found by the cells", async () => {
  const list = await newList();
  const job = await importFile(list, "Ann,a@guess.example\nBob,b@guess.example\n", { has_header: "false" });
  expect(job).toMatchObject({ counts: { created: 2 }, result: { skipped_columns: ["column 1"] } });
  const two = await importFile(list, "a@guess.example,b@guess.example\n", { has_header: "false" });
  expect(two).toMatchObject({ status: "failed", error: expect.stringContaining("by position in mapping") });
});

test("UTF-16, semicolons and two columns of one name are mapped by position", async () => {
  const list = await newList();
  const file = iconv.encode("Mail;Name;Name\na@utf.example;Zoë;Lee\n", "utf-16le", { addBOM: true });
  const mapping = mapped(["Mail", "email"], [2, "first_name"], [3, "last_name"]);
  const job = await importFile(list, file, { mapping });
  expect(job.result).toMatchObject({ encoding: "utf-16le", delimiter: ";" });
  expect(await people(list)).toMatchObject([{ first_name: "Zoë", last_name: "Lee" }]);
  const unclear = await upload(list, file, { mapping: mapped(["Mail", "email"], ["Name", "first_name"]) });
  expect([unclear.status, unclear.body.details]).toEqual([
    400,
    [
      {
        field: "mapping[1].column",
        message: expect.stringContaining("names 2 columns: name one by its position (2, 3)"),
      },
    ],
  ]);
});

test("the header is the first row with all columns of the mapping, below a title", async () => {
  const list = await newList();
  const file = "Members of 2026\nKontakt,Rufname\na@title.example,Ann\n";
  const job = await importFile(list, file, {
    mapping: mapped(["Kontakt", "email"], ["Rufname", "first_name"]),
  });
  expect(job).toMatchObject({ total: 1, counts: { created: 1 } });
});

test.each([
  [
    "an unknown column",
    [
      ["Email", "email"],
      ["Stadt", "custom_fields.city"],
    ],
    "mapping[1].column",
    'is no column of the file: "Stadt"; it has: Email, First, Newsletter',
  ],
  [
    "a position after the last",
    [
      ["Email", "email"],
      [4, "first_name"],
    ],
    "mapping[1].column",
    "is 4, and the file has 3 columns",
  ],
  ["position 0", [[0, "email"]], "mapping[0].column", "at least 1"],
  [
    "an unknown field",
    [
      ["Email", "email"],
      ["First", "nickname_of_birth"],
    ],
    "mapping[1].field",
    "is not a field of the list; it has email, first_name",
  ],
  [
    "a misspelled field",
    [
      ["Email", "email"],
      ["First", "firstname"],
    ],
    "mapping[1].field",
    "did you mean first_name?",
  ],
  [
    "a field without its prefix",
    [
      ["Email", "email"],
      ["First", "city"],
    ],
    "mapping[1].field",
    "did you mean custom_fields.city?",
  ],
  [
    "a field twice",
    [
      ["Email", "email"],
      ["First", "email"],
    ],
    "mapping[1].field",
    "is email, which mapping[0] gives already",
  ],
  [
    "a column twice",
    [
      ["Email", "email"],
      [1, "first_name"],
    ],
    "mapping[1].column",
    'is the column "Email", which mapping[0] names already',
  ],
  [
    "no column of addresses",
    [
      ["First", "first_name"],
      ["Email", null],
    ],
    "mapping",
    "must name the column of the addresses",
  ],
  ["no entry", [], "mapping", "must not be empty"],
] as const)("a mapping with %s is refused at once", async (_, entries, field, message) => {
  const { list } = await listWithFields("city");
  const file = "Email,First,Newsletter\na@no.example,Ann,\n";
  const { status, body } = await upload(list, file, { mapping: mapped(...(entries as readonly Entry[])) });
  expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(body.details).toEqual([{ field, message: expect.stringContaining(message) }]);
  expect((await call("GET", `/jobs?type=subscriber_import&resource_id=${list}`)).body.data.jobs).toEqual([]);
});

test("a custom field is given once, by name or id", async () => {
  const { list, ids } = await listWithFields("city");
  const mapping = mapped(["Email", "email"], ["A", "custom_fields.city"], ["B", ids[0] ?? ""]);
  const { status, body } = await upload(list, "Email,A,B\na@x.example,1,2\n", { mapping });
  expect([status, body.details[0]]).toEqual([
    400,
    {
      field: "mapping[2].field",
      message: expect.stringContaining("is custom_fields.city, which mapping[1]"),
    },
  ]);
  const other = await listWithFields("town");
  const elsewhere = mapped(["Email", "email"], ["A", other.ids[0] ?? ""]);
  expect((await upload(list, "Email,A,B\na@x.example,1,2\n", { mapping: elsewhere })).status).toBe(400);
});

test("a mapping that is no JSON, has other fields or is over its limits is refused", async () => {
  const list = await newList();
  const file = "Email\na@x.example\n";
  const refusal = async (mapping: string) => {
    const { status, body } = await upload(list, file, { mapping });
    return [status, body.details?.[0]?.field, body.details?.[0]?.message];
  };
  expect(await refusal("email")).toEqual([400, "mapping", "mapping is not valid JSON"]);
  expect(await refusal('{"Email":"email"}')).toEqual([
    400,
    "mapping[0].column",
    "mapping[0].column is required",
  ]);
  expect(await refusal('["email"]')).toEqual([
    400,
    "mapping[0]",
    expect.stringContaining("must be an object"),
  ]);
  expect(await refusal(mapped([true as never, "email"]))).toEqual([
    400,
    "mapping[0].column",
    expect.stringContaining("must be a string or an integer"),
  ]);
  expect(await refusal(mapped(["a\0b", "email"]))).toEqual([400, "mapping", expect.stringContaining("NUL")]);
  const many = Array.from({ length: 1_001 }, () => ["a", null] as const);
  expect(await refusal(mapped(...many))).toEqual([400, "mapping", "mapping must have at most 1000 items"]);
  expect(await refusal(`[${" ".repeat(130 * 1024)}]`)).toEqual([
    400,
    "mapping",
    "mapping must have at most 128 KB",
  ]);
});

test("who gets no mail counts whether the mapping names the column or not, unless it leaves the column out", async () => {
  const statusWith = async (...entries: readonly Entry[]) => {
    const { list } = await listWithFields("note");
    // A person who has bounced is bounced on every list, so each file has a person of its own.
    const file = `Email,Unsubscribed,Note\n${randomUUID()}@out.example,yes,hi\n`;
    const { result } = await importFile(list, file, { mapping: mapped(["Email", "email"], ...entries) });
    const [person] = await people(list);
    return [(person as { status: string }).status, result.warnings];
  };
  expect(await statusWith()).toEqual(["unsubscribed", []]);
  expect(await statusWith(["Unsubscribed", "custom_fields.note"])).toEqual(["unsubscribed", []]);
  expect(await statusWith(["Unsubscribed", "bounced"])).toEqual(["bounced", []]);
  expect(await statusWith(["Unsubscribed", "opted_in"])).toEqual(["active", []]);
  expect(await statusWith(["Unsubscribed", null])).toEqual([
    "active",
    [expect.stringMatching(/"Unsubscribed" says in 1 row that a person gets no mail.*mapping leaves it out/)],
  ]);
});

test("several columns may say who gets no mail, and the worst counts", async () => {
  const list = await newList();
  const file = "Email,Left,Hard\na@two.example,yes,\nb@two.example,yes,2026-01-02\nc@two.example,no,\n";
  const mapping = mapped(["Email", "email"], ["Left", "opted_out"], ["Hard", "bounced"]);
  const { result } = await importFile(list, file, { mapping });
  expect((await people(list)).map((one) => (one as { status: string }).status)).toEqual([
    "unsubscribed",
    "bounced",
    "active",
  ]);
  expect(result.opt_out_columns).toEqual([
    { column: "Left", opted_out: 1 },
    { column: "Hard", opted_out: 1 },
  ]);
});

test("a mapping decides about a column that would refuse the file", async () => {
  const list = await newList();
  const file = "Email,Newsletter\na@doubt.example,yes\nb@doubt.example,no\n";
  expect((await upload(list, file)).status).toBe(400);
  const mapping = mapped(["Email", "email"], ["Newsletter", "opted_in"]);
  await importFile(list, file, { mapping });
  expect(await people(list)).toMatchObject([{ status: "active" }, { status: "unsubscribed" }]);
});

test("a dry run shows the mapping in use, the suggestions and samples, and so does the first answer", async () => {
  const { list } = await listWithFields("city");
  const file = `E-Mail;Vorname;City;Unsubscribed;\n${[1, 2, 3, 3, 4].map((n) => `p${n}@dry.example;N${n};${"x".repeat(200)};no;\n`).join("")}`;
  const answer = await upload(list, file, { dry_run: "true" });
  const email = {
    position: 1,
    column: "E-Mail",
    samples: ["p1@dry.example", "p2@dry.example", "p3@dry.example"],
  };
  const first = answer.body.data.file;
  expect(first).toMatchObject({
    encoding: "utf-8",
    is_encoding_guessed: false,
    delimiter: ";",
    has_header: true,
    header_line: 1,
    column_count: 5,
    columns: [
      { ...email, field: "email", suggested_field: "email" },
      { field: "first_name", suggested_field: "first_name" },
      { field: "custom_fields.city", samples: ["x".repeat(100)] },
      { field: "opted_out", suggested_field: "opted_out" },
      { column: "column 5", field: null, suggested_field: null, samples: [] },
    ],
  });
  const guessed = (await ended(answer)).result;
  expect(guessed).toMatchObject({ has_header: true, header_line: 1, mapping: null });
  expect(guessed.columns[0]).toEqual({ ...first.columns[0], meaning: "email" });
  // The suggestions are themselves a mapping.
  const entries = first.columns.map((one: { position: number; suggested_field: string }) => ({
    column: one.position,
    field: one.suggested_field,
  }));
  const again = await ended(await upload(list, file, { dry_run: "true", mapping: JSON.stringify(entries) }));
  expect(again.result).toMatchObject({
    created: 4,
    mapping: entries,
    opt_out_columns: [{ column: "Unsubscribed" }],
  });
  const own = await upload(list, file, { dry_run: "true", mapping: mapped([1, "email"], [2, "last_name"]) });
  expect((await ended(own)).result.columns[1]).toMatchObject({
    field: "last_name",
    suggested_field: "first_name",
  });
});

test.each([
  ["an unknown header", "Kontakt,Notiz\na@content.example,Ann\nb@content.example,Bob\n", {}, "email"],
  ["no header row", "a@content.example,Ann\nb@content.example,Bob\n", {}, "email"],
  ["no header row, as the request says", "a@content.example,Ann\n", { has_header: "false" }, "email"],
  ["only one row, of a person", "a@content.example,Ann\n", {}, "email"],
  ["no addresses", "Kontakt,Notiz\n1,Ann\n2,Bob\n", {}, null],
])(
  "a column of addresses is suggested as the email by its content: with %s",
  async (_, file, fields, suggested) => {
    const list = await newList();
    const answer = await upload(list, file, { dry_run: "true", ...fields });
    const shown = answer.body.data.file;
    expect(shown.columns).toMatchObject([{ suggested_field: suggested }, { suggested_field: null }]);
    if (suggested === null) return;
    const mapping = mapped([1, suggested], [2, "first_name"]);
    const read = await ended(await upload(list, file, { dry_run: "true", ...fields, mapping }));
    expect(read.result.columns).toMatchObject([{ field: "email" }, { field: "first_name" }]);
  },
);

test("two columns of addresses are not suggested: only the sender knows which one is meant", async () => {
  const file = "Work,Home\na@two.example,b@two.example\n";
  const { body } = await upload(await newList(), file, { dry_run: "true" });
  expect(body.data.file.columns).toMatchObject([{ suggested_field: null }, { suggested_field: null }]);
});

test("a file that fits no mapping yet still shows its columns", async () => {
  const list = await newList();
  const answer = await upload(list, "Kontakt,Rufname\n1,Ann\n", { dry_run: "true" });
  expect(answer.body.data.file).toMatchObject({
    columns: [{ column: "Kontakt", field: null, samples: ["1"] }, {}],
  });
  expect(await ended(answer)).toMatchObject({ status: "failed" });
  const empty = await upload(list, "", { dry_run: "true" });
  expect(empty.body.data.file).toBeNull();
});

test.each(["null", '"x"', "1", "{}"])("the mapping %s is no array", async (mapping) => {
  const { status, body } = await upload(await newList(), "Email\na@x.example\n", { mapping });
  expect([status, body.details]).toEqual([400, [{ field: "mapping", message: "mapping must be an array" }]]);
});

test("a mapping with half a character is refused", async () => {
  const mapping = String.raw`[{"column":"\ud800","field":"email"}]`;
  const { status, body } = await upload(await newList(), "Email\na@x.example\n", { mapping });
  expect([status, body.details[0].field]).toEqual([400, "mapping"]);
});

test.each([
  ["opted_out", "Left"],
  ["opted_out", "ignore"],
  [null, "Left"],
])("mapping a column to %s and opt_out_column=%s contradict each other", async (field, opt_out_column) => {
  const mapping = JSON.stringify([
    { column: "Email", field: "email" },
    { column: "Left", field },
  ]);
  const { status, body } = await upload(await newList(), "Email,Left\na@x.example,yes\n", {
    mapping,
    opt_out_column,
  });
  expect([status, body.details[0].field]).toEqual([400, "opt_out_column"]);
});
