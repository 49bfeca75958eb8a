/** The look at the beginning of a file, over HTTP: what it shows is what an import of the file does. */
import iconv from "iconv-lite";
import sql from "sql-template-tag";
import { expect, it, test } from "vitest";
import { startImportService } from "#test/support/imports.ts";

const service = await startImportService();
const { call, database, importFile, newList } = service;

type Fields = Record<string, string>;

function inspect(list: string, content: string | Uint8Array, fields: Fields = {}, name = "people.csv") {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append("csvFile", new Blob([typeof content === "string" ? content : new Uint8Array(content)]), name);
  return call("POST", `/mailing-lists/${list}/subscribers/inspect-import-file`, form);
}

const cellsOf = ({ body }: Awaited<ReturnType<typeof inspect>>): string[][] =>
  body.data.rows.map(({ cells }: { readonly cells: string[] }) => cells);

it("shows encoding, delimiter, header, columns with suggestions, and the first rows", async () => {
  const list = await newList();
  await call("POST", `/mailing-lists/${list}/custom-fields`, {
    field_name: "city",
    field_label: "City",
    field_type: "text",
  });
  const { status, body } = await inspect(
    list,
    "Export of May\n\nE-Mail;Vorname;City;Notes;Unsubscribed\nann@look.example;Ann;Rome;x;\n",
  );
  expect(status).toBe(200);
  expect(body.data).toEqual({
    encoding: "utf-8",
    is_encoding_guessed: false,
    delimiter: ";",
    has_header: true,
    header_line: 3,
    column_count: 5,
    columns: [
      ["E-Mail", "email", "ann@look.example"],
      ["Vorname", "first_name", "Ann"],
      ["City", "custom_fields.city", "Rome"],
      ["Notes", null, "x"],
      ["Unsubscribed", "opted_out"],
    ].map(([column, field, ...samples], at) => ({
      position: at + 1,
      column,
      field,
      suggested_field: field,
      samples,
    })),
    rows: [{ line: 4, cells: ["ann@look.example", "Ann", "Rome", "x", ""] }],
    warnings: ["The header is on line 3: the lines above it were skipped"],
    refusal: null,
  });
});

it("writes no job and no person", async () => {
  const count = () => database.rows(sql`select count(*) from jobs`);
  const before = await count();
  const list = await newList();
  await inspect(list, "Email\nann@none.example\n");
  expect(await count()).toEqual(before);
  const { body } = await call("GET", `/mailing-lists/${list}/subscribers`);
  expect(body.data.subscribers).toEqual([]);
});

test("a file without a header is recognised, and its columns are suggested by their cells", async () => {
  const answer = await inspect(await newList(), "Ann,a@bare.example\nBob,b@bare.example\n");
  expect(answer.body.data).toMatchObject({
    has_header: false,
    header_line: null,
    columns: [
      { column: "column 1", suggested_field: null },
      { column: "column 2", suggested_field: "email" },
    ],
    refusal: null,
  });
  expect(cellsOf(answer)).toEqual([
    ["Ann", "a@bare.example"],
    ["Bob", "b@bare.example"],
  ]);
});

test("has_header is obeyed", async () => {
  const answer = await inspect(await newList(), "Email\nann@said.example\n", { has_header: "false" });
  expect(cellsOf(answer)).toEqual([["Email"], ["ann@said.example"]]);
});

test.each(["utf-8", "utf-16le", "utf-16be", "windows-1251", "shift_jis", "cp852"])(
  "a beginning in %s that ends anywhere is read like the whole file",
  async (encoding) => {
    const word = encoding === "windows-1251" ? "Привет" : encoding === "shift_jis" ? "日本語" : "Ćwik";
    const rows = Array.from({ length: 30 }, (_, at) => `p${at}@cut.example,"${word}\n${word}"\n`);
    const bytes = iconv.encode(`Email,First\n${rows.join("")}`, encoding, {
      addBOM: encoding.startsWith("utf-16"),
    });
    const list = await newList();
    // Both ends of a character, and places within a quoted cell with a line break.
    for (let cut = 0; cut < 12; cut++) {
      const beginning = bytes.subarray(0, bytes.length - 60 - cut);
      const answer = await inspect(list, beginning, {
        is_beginning: "true",
        ...(/^(?:windows|shift|cp)/.test(encoding) && { encoding }),
      });
      expect([answer.status, answer.body.data?.encoding]).toEqual([200, encoding]);
      expect(answer.body.data.warnings).toEqual([]);
      expect(cellsOf(answer)[9]).toEqual(["p9@cut.example", `${word}\n${word}`]);
    }
  },
);

test("a row that is cut off is not shown, and the last row of a whole file is", async () => {
  const list = await newList();
  const file = "Email,First\na@end.example,Ann\nb@end.example,Bo";
  expect(cellsOf(await inspect(list, file, { is_beginning: "true" }))).toEqual([["a@end.example", "Ann"]]);
  expect(cellsOf(await inspect(list, file))).toHaveLength(2);
});

it("names the guess of an encoding, and reads by the encoding that is named", async () => {
  const list = await newList();
  const file = iconv.encode("Email,First\na@dos.example,Zoë\n", "cp850");
  const guessed = await inspect(list, file);
  expect(guessed.body.data).toMatchObject({ is_encoding_guessed: true });
  const named = await inspect(list, file, { encoding: "cp850" });
  expect(named.body.data).toMatchObject({ encoding: "cp850", is_encoding_guessed: false });
  expect(cellsOf(named)).toEqual([["a@dos.example", "Zoë"]]);
});

test("what an import would refuse is answered as the refusal, with suggestions", async () => {
  const list = await newList();
  const doubtful = "Email,Newsletter\na@doubt.example,yes\nb@doubt.example,no\n";
  const unnamed = "Name,Number\nAnn,1\n";
  for (const [file, name, suggested] of [
    [doubtful, "people.csv", ["email", null]],
    [unnamed, "people.csv", [null, null]],
    ["Email\na@out.example\n", "unsubscribed.csv", ["email"]],
  ] as const) {
    const { status, body } = await inspect(list, file, {}, name);
    expect(status).toBe(200);
    expect(body.data.columns.map((column: { suggested_field: unknown }) => column.suggested_field)).toEqual(
      suggested,
    );
    expect(body.data.refusal).toEqual(expect.any(String));
    if (name !== "people.csv") continue;
    const job = await call("POST", `/mailing-lists/${list}/subscribers/import-async`, formOf(file));
    const refusal = job.status === 202 ? (await service.ended(job)).error : job.body.error;
    expect(body.data.refusal).toBe(refusal);
  }
});

function formOf(file: string): FormData {
  const form = new FormData();
  form.append("csvFile", new Blob([file]), "people.csv");
  return form;
}

test("its columns are a mapping that imports the file", async () => {
  const list = await newList();
  const file = "Ann,a@map.example\nBob,b@map.example\n";
  const { columns, has_header } = (await inspect(list, file)).body.data;
  const mapping = JSON.stringify(
    columns.map(({ position, suggested_field }: { position: number; suggested_field: string | null }) => ({
      column: position,
      field: suggested_field,
    })),
  );
  const job = await importFile(list, file, { mapping, has_header: String(has_header) });
  expect(job).toMatchObject({ status: "completed", counts: { created: 2, invalid: 0 } });
});

test("cells are shortened, and the apostrophes of an export are removed", async () => {
  const answer = await inspect(
    await newList(),
    `Email,First,Last\na@apos.example,'=1+1,${"x".repeat(500)}\n`,
  );
  expect(cellsOf(answer)).toEqual([["a@apos.example", "=1+1", "x".repeat(100)]]);
});

it("refuses a file that is no table, with the reason", async () => {
  const list = await newList();
  for (const [content, fields, sentence] of [
    ["", {}, "The file is empty"],
    ["%PDF-1.7 …", {}, "The file is a PDF document"],
    ['Email,First\n"a@open.example,Ann\n', {}, "line 2 does not end"],
    ['"Email,First\na@open.example,Ann\n', { is_beginning: "true" }, "line 1 does not end"],
  ] as const) {
    const { status, body } = await inspect(list, content, fields);
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(body.error).toContain(sentence);
  }
});

it("refuses an unknown encoding, a larger file, and a list of another workspace", async () => {
  const list = await newList();
  const file = "Email\na@no.example\n";
  expect((await inspect(list, file, { encoding: "morse" })).body.details?.[0].field).toBe("encoding");
  expect((await inspect(list, "x".repeat(256 * 1024 + 1))).status).toBe(413);
  const stranger = await service.newWorkspace();
  const form = formOf(file);
  const path = `/mailing-lists/${list}/subscribers/inspect-import-file`;
  expect((await call("POST", path, form, { key: stranger.key })).status).toBe(404);
});
