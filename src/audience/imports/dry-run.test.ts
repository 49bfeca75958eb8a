import sql from "sql-template-tag";
import { expect, it } from "vitest";
import { startImportService } from "#test/support/imports.ts";

const service = await startImportService();
const { call, database, ended, importFile, newList } = service;

async function dryRun(
  list: string,
  content: string,
  fields: Record<string, string> = {},
  query = "dry_run=true",
) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("csvFile", new Blob([content]), "people.csv");
  return call("POST", `/mailing-lists/${list}/subscribers/import-async?${query}`, form);
}

/** All that an import could change. */
const stored = () =>
  database.rows(sql`
    select s.email, s.first_name, s.custom_fields, s.updated_at, m.mailing_list_id, m.status, m.updated_at as moved_at
    from subscribers s left join memberships m on m.workspace_id = s.workspace_id and m.subscriber_id = s.id
    order by s.email, m.mailing_list_id`);

it("a dry run reports what an import would do and changes nothing, and the import then does it", async () => {
  const [list, other] = [await newList(), await newList()];
  const field = { field_name: "city", field_label: "City", field_type: "text" };
  await call("POST", `/mailing-lists/${list}/custom-fields`, field);
  await importFile(
    list,
    "Email,First,Status\nsame@dry.example,Ann,\nnews@dry.example,Bob,\nleft@dry.example,Cleo,unsubscribed\ngoes@dry.example,Dan,\n",
  );
  await importFile(other, "Email\nelsewhere@dry.example\n");
  const before = await stored();
  const file = [
    "E-Mail-Adresse;Vorname;City;Shoe size;Unsubscribed",
    "same@dry.example;Ann;;44;",
    "news@dry.example;Rob;;44;",
    "left@dry.example;Cleo;;44;no",
    "goes@dry.example;Dan;;44;yes",
    "elsewhere@dry.example;Eve;;44;",
    "new@dry.example;Finn;Rome;44;",
    "new@dry.example;Fynn;Rome;44;",
    "nobody;Gus;;44;",
  ].join("\n");
  const job = await ended(await dryRun(list, file));
  expect(job).toMatchObject({ status: "completed", total: 8, processed: 8, failed: 1, skipped: 1 });
  expect(job.result).toEqual({
    file_name: "people.csv",
    dry_run: true,
    rows: 8,
    created: 2,
    new_to_workspace: 1,
    updated: 2,
    unchanged: 2,
    duplicates: 1,
    invalid: 1,
    opted_out: 1,
    written_in_part: 0,
    encoding: "utf-8",
    delimiter: ";",
    date_order: null,
    columns: [
      ["E-Mail-Adresse", "email", "email", ["same@dry.example", "news@dry.example", "left@dry.example"]],
      ["Vorname", "first_name", "first_name", ["Ann", "Rob", "Cleo"]],
      ["City", "custom_fields.city", "custom_fields.city", ["Rome"]],
      ["Shoe size", null, null, ["44"]],
      ["Unsubscribed", "status (unsubscribed)", "opted_out", ["no", "yes"]],
    ].map(([column, meaning, field, samples], at) => ({
      position: at + 1,
      column,
      meaning,
      field,
      suggested_field: field,
      samples,
    })),
    has_header: true,
    header_line: 1,
    mapping: null,
    skipped_columns: ["Shoe size"],
    opt_out_columns: [{ column: "Unsubscribed", opted_out: 1 }],
    warnings: [],
    examples: {
      new: [
        { line: 6, email: "elsewhere@dry.example" },
        { line: 8, email: "new@dry.example" },
      ],
      known: [
        { line: 2, email: "same@dry.example" },
        { line: 3, email: "news@dry.example" },
        { line: 4, email: "left@dry.example" },
        { line: 5, email: "goes@dry.example" },
      ],
      opted_out: [{ line: 5, email: "goes@dry.example", status: "unsubscribed", column: "Unsubscribed" }],
      refused: [expect.objectContaining({ line: 9, column: "E-Mail-Adresse", value: "nobody" })],
    },
  });
  expect((await call("GET", job.errors_url.replace("/api/v1", ""))).body).toContain(
    "9,E-Mail-Adresse,nobody",
  );
  expect(await stored()).toEqual(before);
  const { created, updated, unchanged, duplicates, invalid } = job.result;
  expect((await importFile(list, file)).result).toMatchObject({
    created,
    updated,
    unchanged,
    duplicates,
    invalid,
  });
});

it("a dry run counts as the import does: with resubscribe, without update_existing, over several batches", async () => {
  const list = await newList();
  const rows = (from: number, to: number, rest: string) =>
    Array.from({ length: to - from }, (_, at) => `p${from + at}@many.example,${rest}\n`).join("");
  await importFile(list, `Email,First,Status\n${rows(0, 100, "A,unsubscribed")}${rows(100, 25_000, "A,")}`);
  const file = `Email,First\n${rows(0, 200, "B")}${rows(24_900, 45_000, "A")}p7@many.example,C\n`;
  for (const fields of [{ resubscribe: "true" }, { update_existing: "false" }, {}]) {
    const dry = (await ended(await dryRun(list, file, fields))).result;
    expect(dry.examples.new[0]).toEqual({ line: 302, email: "p25000@many.example" });
    if (fields.resubscribe) expect(dry.updated).toBe(200);
  }
  const dry = (await ended(await dryRun(list, file))).result;
  const done = (await importFile(list, file)).result;
  for (const name of ["created", "updated", "unchanged", "duplicates", "invalid"]) {
    expect([name, dry[name]]).toEqual([name, done[name]]);
  }
});

it("a dry run may be asked for in the form, too", async () => {
  const list = await newList();
  const job = await importFile(list, "Email\nform@dry.example\n", { dry_run: "true" });
  expect(job.result).toMatchObject({ dry_run: true, created: 1 });
  expect(await database.rows(sql`select from memberships where mailing_list_id = ${list}`)).toEqual([]);
});

it("a dry run refuses what the import refuses", async () => {
  const doubtful = await dryRun(await newList(), "Email,Newsletter\na@d.example,yes\n");
  expect([doubtful.status, doubtful.body.error]).toEqual([400, expect.stringContaining('"Newsletter"')]);
  const job = await ended(await dryRun(await newList(), "First,Last\nA,B\n"));
  expect(job).toMatchObject({ status: "failed", error: expect.stringContaining("no column named Email") });
});

it("a dry run that query and form contradict each other about is refused", async () => {
  const { status, body } = await dryRun(await newList(), "Email\na@x.example\n", { dry_run: "false" });
  expect([status, body.details[0].field]).toEqual([400, "dry_run"]);
});

it("an import that fails has all counts", async () => {
  const job = await ended(await call("POST", ...(await unreadable())));
  const counts = { created: 0, updated: 0, unchanged: 0, duplicates: 0, invalid: 0 };
  expect(job).toMatchObject({ status: "failed", counts });
});

async function unreadable(): Promise<[string, FormData]> {
  const form = new FormData();
  form.append("csvFile", new Blob(["Name\nAnn\n"]), "people.csv");
  return [`/mailing-lists/${await newList()}/subscribers/import-async`, form];
}

it("dry_run without a value is a dry run", async () => {
  const { status, body } = await dryRun(await newList(), "Email\na@bare.example\n", {}, "dry_run");
  expect([status, body.data.dry_run]).toEqual([202, true]);
});

it("the report quotes no rows and cells to callers who may see the job but not people", async () => {
  const job = await ended(await dryRun(await newList(), "Email,First\na@quote.example,Ann\nnobody,Bob\n"));
  expect(JSON.stringify(job.result)).toMatch(/a@quote\.example.*Bob/s);
  const key = await service.newKey(["jobs:read"]);
  const { body } = await call("GET", `/jobs/${job.id}`, undefined, { key });
  const { examples: _, columns, ...counts } = job.result;
  const named = columns.map(({ samples: _samples, ...column }: { samples: unknown }) => column);
  expect(body.data.result).toEqual({ ...counts, columns: named });
});
