import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sql from "sql-template-tag";
import { describe, expect, it } from "vitest";
import { newId } from "#platform/ids.ts";
import { findMiscounts } from "#test/support/audience.ts";
import { startImportService } from "#test/support/imports.ts";
import { IMPORT_JOB } from "./import-job.ts";

const service = await startImportService();
const { call, database, importFile, newList, upload } = service;

/** The members of a list by address: first name, last name, status and custom fields. */
async function members(list: string): Promise<Record<string, unknown>> {
  const rows = await database.rows<Record<string, unknown>>(sql`
    select s.email, s.first_name, s.last_name, m.status, m.source, s.custom_fields
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list} order by s.email`);
  return Object.fromEntries(rows.map(({ email, ...rest }) => [email, rest]));
}

const emails = async (list: string) => Object.keys(await members(list));

/** The refused rows: line, column, value, reason. */
async function refusals(job: { errors_url: string | null }): Promise<string[]> {
  if (job.errors_url === null) return [];
  const { body } = await call("GET", job.errors_url.replace("/api/v1", ""));
  return body.trim().split("\r\n").slice(1);
}

/** Counts of a job, which always add up. */
function countsOf(job: ReturnType<typeof JSON.parse>) {
  const { created, updated, unchanged, duplicates, invalid } = job.counts;
  expect(job.status).toBe("completed");
  expect(job.total).toBe(created + updated + unchanged + duplicates + invalid);
  expect(job).toMatchObject({
    processed: job.total,
    progress: 100,
    succeeded: created + updated + unchanged,
    failed: invalid,
    skipped: duplicates,
  });
  return { created, updated, unchanged, duplicates, invalid };
}

const none = { created: 0, updated: 0, unchanged: 0, duplicates: 0, invalid: 0 };

describe("an import", () => {
  it("answers with a job, and adds people to the list", async () => {
    const list = await newList();
    const answer = await upload(
      list,
      "Email,First,Last\r\nAnn@Example.com,Ann,Lee\r\nbob@example.com,Bob,\r\n",
    );
    expect(answer.status).toBe(202);
    expect(answer.body.data).toEqual({
      job_id: expect.any(String),
      status: "pending",
      dry_run: false,
      file: expect.objectContaining({ has_header: true, column_count: 3 }),
    });
    const job = await service.ended(answer);
    expect(countsOf(job)).toEqual({ ...none, created: 2 });
    expect(job).toMatchObject({
      type: "subscriber_import",
      error: null,
      errors_url: null,
      download_url: null,
    });
    expect(job.result).toEqual({
      dry_run: false,
      file_name: "people.csv",
      rows: 2,
      created: 2,
      updated: 0,
      unchanged: 0,
      duplicates: 0,
      invalid: 0,
      written_in_part: 0,
      encoding: "utf-8",
      delimiter: ",",
      skipped_columns: [],
      opt_out_columns: [],
      warnings: [],
    });
    expect(await members(list)).toEqual({
      "ann@example.com": {
        first_name: "Ann",
        last_name: "Lee",
        status: "active",
        source: "import",
        custom_fields: {},
      },
      "bob@example.com": {
        first_name: "Bob",
        last_name: null,
        status: "active",
        source: "import",
        custom_fields: {},
      },
    });
  });

  it("of the same file twice changes nothing", async () => {
    const list = await newList();
    const file = "Email,First\na@twice.example,A\nb@twice.example,B\n";
    expect(countsOf(await importFile(list, file))).toEqual({ ...none, created: 2 });
    expect(countsOf(await importFile(list, file))).toEqual({ ...none, unchanged: 2 });
  });

  it("leaves nothing of the upload but the refused rows", async () => {
    const list = await newList();
    const job = await importFile(list, "Email\na@left.example\nnobody\n");
    expect(await readdir(join(service.dataDir, "uploads"))).toEqual([]);
    const files = await database.rows<{ name: string }>(sql`
      select name from job_file_parts where job_id = ${job.id}`);
    expect(files.map(({ name }) => name.slice(name.indexOf("/") + 1)).toSorted()).toEqual([
      "errors.csv",
      "rows-with-errors.csv",
    ]);
  });

  it("of people on another list keeps them the same people", async () => {
    const [one, other] = [await newList(), await newList()];
    await importFile(one, "Email,First\na@shared.example,A\n");
    expect(countsOf(await importFile(other, "Email,Last\na@shared.example,Z\nb@shared.example,\n"))).toEqual({
      ...none,
      created: 2,
    });
    expect(await members(one)).toMatchObject({ "a@shared.example": { first_name: "A", last_name: "Z" } });
  });

  it("is refused for a list of another workspace, or none", async () => {
    const list = await newList();
    const stranger = await service.newWorkspace();
    const form = new FormData();
    form.append("csvFile", new Blob(["Email\na@b.example\n"]), "a.csv");
    const path = `/mailing-lists/${list}/subscribers/import-async`;
    expect((await call("POST", path, form, { key: stranger.key })).status).toBe(404);
    expect((await call("POST", path.replace(list, crypto.randomUUID()), form)).status).toBe(404);
    expect(await readdir(join(service.dataDir, "uploads"))).toEqual([]);
  });
});

describe("people who left", () => {
  it("stay unsubscribed, whatever the file says", async () => {
    const list = await newList();
    await importFile(
      list,
      "Email,Status\nu@left.example,unsubscribed\nb@left.example,bounced\nc@left.example,complained\n",
    );
    const again = "Email,Status,First\nu@left.example,active,U\nb@left.example,Active,B\nc@left.example,,C\n";
    expect(countsOf(await importFile(list, again))).toEqual({ ...none, updated: 3 });
    expect(await members(list)).toMatchObject({
      "u@left.example": { status: "unsubscribed", first_name: "U" },
      "b@left.example": { status: "bounced" },
      "c@left.example": { status: "complained" },
    });
  });

  it("become active again with resubscribe if they unsubscribed, and only then", async () => {
    const list = await newList();
    await importFile(list, "Email,Status\nu@back.example,unsubscribed\nb@back.example,bounced\n");
    const file = "Email\nu@back.example\nb@back.example\n";
    expect(countsOf(await importFile(list, file, { resubscribe: "true" }))).toEqual({
      ...none,
      updated: 1,
      unchanged: 1,
    });
    expect(await members(list)).toMatchObject({
      "u@back.example": { status: "active" },
      "b@back.example": { status: "bounced" },
    });
  });

  it("are recognised by the status column, in the words of other programs, too", async () => {
    const list = await newList();
    const file =
      "Email,Status\na@st.example,Subscribed\nb@st.example,CLEANED\nc@st.example, unsubscribed \nd@st.example,maybe\n";
    const job = await importFile(list, file);
    expect(countsOf(job)).toEqual({ ...none, created: 3, invalid: 1 });
    expect(Object.values(await members(list))).toMatchObject([
      { status: "active" },
      { status: "bounced" },
      { status: "unsubscribed" },
    ]);
    expect(await refusals(job)).toEqual([
      '5,Status,maybe,"must be one of active, subscribed, unsubscribed, bounced, cleaned, complained"',
    ]);
    // For the worse, people who are there already move too.
    expect(countsOf(await importFile(list, "Email,Status\na@st.example,unsubscribed\n"))).toEqual({
      ...none,
      updated: 1,
    });
  });
});

describe("known people", () => {
  it("keep their values if a cell is empty", async () => {
    const list = await newList();
    await importFile(list, "Email,First,Last\na@keep.example,Ann,Lee\n");
    expect(countsOf(await importFile(list, "Email,First,Last\na@keep.example,,Low\n"))).toEqual({
      ...none,
      updated: 1,
    });
    expect(await members(list)).toMatchObject({ "a@keep.example": { first_name: "Ann", last_name: "Low" } });
  });

  it("keep everything with update_existing off", async () => {
    const list = await newList();
    await importFile(list, "Email,First\na@off.example,Ann\n");
    const file = "Email,First\na@off.example,Eve\nb@off.example,Bob\n";
    expect(countsOf(await importFile(list, file, { update_existing: "false" }))).toEqual({
      ...none,
      created: 1,
      unchanged: 1,
    });
    expect(await members(list)).toMatchObject({ "a@off.example": { first_name: "Ann" } });
  });
});

describe("custom fields", () => {
  const field = (list: string, body: object) => call("POST", `/mailing-lists/${list}/custom-fields`, body);

  it("are found by name or label, and typed", async () => {
    const list = await newList();
    const make = (field_name: string, field_label: string, field_type: string, more = {}) =>
      field(list, { field_name, field_label, field_type, ...more });
    await make("first_visit", "Since", "date");
    await make("points", "Loyalty Points", "number");
    await make("vip", "VIP", "boolean");
    await make("topics", "Topics", "multiselect", { field_options: ["News", "Sport"] });
    const job = await importFile(
      list,
      "EMAIL;First Visit;loyalty_points;Vip;topics;Shoe size\n" +
        "a@cf.example;2026-01-31;12,5;yes;News;44\n" +
        "b@cf.example;2026-01-31;12.5;yes;News;44\n" +
        "e@cf.example;2026-01-31;12.5;yes;News; Sport;44\n" +
        'c@cf.example;2026-01-31;-7;no;"News; Sport";44\n' +
        "d@cf.example;;;;;\n",
    );
    expect(countsOf(job)).toEqual({ ...none, created: 3, invalid: 2 });
    expect(job.result).toMatchObject({ skipped_columns: ["Shoe size"], delimiter: ";" });
    expect(await refusals(job)).toEqual([
      '2,loyalty_points,"12,5","must be a number, with a point as in 1.5"',
      expect.stringMatching(/^4,EMAIL,44,"is one value more than there are columns: /),
    ]);
    expect(
      Object.values(await members(list)).map((member) => (member as { custom_fields: object }).custom_fields),
    ).toEqual([
      { first_visit: "2026-01-31", points: 12.5, vip: true, topics: ["News"] },
      { first_visit: "2026-01-31", points: -7, vip: false, topics: ["News", "Sport"] },
      {},
    ]);
  });

  it("and names hold every character as the file has it, but that of a name's line breaks and tabs one blank is left", async () => {
    const list = await newList();
    await field(list, { field_name: "motto", field_label: "Motto", field_type: "text" });
    const mottos = ['say "no"', "C:\\temp\\new", "Übung macht 猫 🐈", "two\nlines\tand a tab", "back\\"];
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const rows = mottos.map((motto, at) => `q${at}@cf.example,${quoted("Zoë\n\tLi\\n")},${quoted(motto)}\n`);
    const job = await importFile(list, `email,first_name,motto\n${rows.join("")}`);
    expect(countsOf(job)).toEqual({ ...none, created: mottos.length });
    expect(Object.values(await members(list))).toEqual(
      mottos.map((motto) => expect.objectContaining({ first_name: "Zoë Li\\n", custom_fields: { motto } })),
    );
  });

  it("get their defaults only in people who join the list", async () => {
    const list = await newList();
    await importFile(list, "Email\nold@df.example\n");
    await field(list, { field_name: "plan", field_label: "Plan", field_type: "text", default_value: "free" });
    await importFile(list, "Email,Plan\nold@df.example,\nnew@df.example,\npro@df.example,pro\n");
    expect(await members(list)).toMatchObject({
      "old@df.example": { custom_fields: {} },
      "new@df.example": { custom_fields: { plan: "free" } },
      "pro@df.example": { custom_fields: { plan: "pro" } },
    });
  });

  it("get their defaults in people of another list who join, as when they are added one by one", async () => {
    const [home, list] = [await newList(), await newList()];
    const options = { field_options: ["free", "pro"], default_value: "free", is_required: true };
    await field(list, { field_name: "need", field_label: "Need", field_type: "text", is_required: true });
    await field(list, { field_name: "plan", field_label: "Plan", field_type: "select", ...options });
    await importFile(home, "Email,First\none@jo.example,\ntwo@jo.example,\nthree@jo.example,Ann\n");
    await call("POST", `/mailing-lists/${list}/subscribers`, {
      email: "one@jo.example",
      custom_fields: { need: "v" },
    });
    expect(countsOf(await importFile(list, "Email,need\ntwo@jo.example,v\n"))).toEqual({
      ...none,
      created: 1,
    });
    const kept = await importFile(
      list,
      "Email,need,First,Last\nthree@jo.example,v,Eve,Lee\ntwo@jo.example,w,Eve,Lee\n",
      { update_existing: "false" },
    );
    expect(countsOf(kept)).toEqual({ ...none, created: 1, unchanged: 1 });
    const custom_fields = { need: "v", plan: "free" };
    expect(await members(list)).toMatchObject({
      "one@jo.example": { custom_fields },
      "two@jo.example": { first_name: null, last_name: null, custom_fields },
      // What they had is kept, what they lacked is filled.
      "three@jo.example": { first_name: "Ann", last_name: "Lee", custom_fields },
    });
  });

  it("that are required refuse rows without a value, unless the person has one", async () => {
    const list = await newList();
    await field(list, { field_name: "city", field_label: "City", field_type: "text", is_required: true });
    expect(countsOf(await importFile(list, "Email,City\nhas@rq.example,Rome\n"))).toEqual({
      ...none,
      created: 1,
    });
    const job = await importFile(list, "Email,First\nhas@rq.example,Ann\nlacks@rq.example,Bob\n");
    expect(countsOf(job)).toEqual({ ...none, updated: 1, invalid: 1 });
    expect(await refusals(job)).toEqual(["3,city,,is required"]);
  });

  it("of numbers refuse rows whose digits would be lost", async () => {
    const list = await newList();
    await call("POST", `/mailing-lists/${list}/custom-fields`, {
      field_name: "customer",
      field_label: "Customer",
      field_type: "number",
    });
    const job = await importFile(list, "Email,Customer\nodd@nb.example,9007199254740993\n");
    expect(countsOf(job)).toEqual({ ...none, invalid: 1 });
    expect(await refusals(job)).toEqual([
      "2,Customer,9007199254740993,must have fewer digits: as a number it would become 9007199254740992",
    ]);
  });

  it("under a column without a header are reported as skipped if it holds values", async () => {
    const list = await newList();
    const skipped = async (text: string) => (await importFile(list, text)).result.skipped_columns;
    expect(await skipped("Email,,First,Shoe,\na@un.example,,A,9,\nb@un.example,x,B,9, \n")).toEqual([
      "column 2",
      "Shoe",
    ]);
    expect(await skipped("Email,First,\nc@un.example,C,c\n")).toEqual(["column 3"]);
    expect(await skipped("Email,First, \nd@un.example,D,\ne@un.example,E\n")).toEqual([]);
  });

  it("named like a property of every object are skipped", async () => {
    const list = await newList();
    const job = await importFile(list, "Email,__proto__,constructor,toString\na@pp.example,x,y,z\n");
    expect(countsOf(job)).toEqual({ ...none, created: 1 });
    expect(job.result.skipped_columns).toEqual(["__proto__", "constructor", "toString"]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("a person who is in the file twice", () => {
  it("counts once, and the last row applies, in whatever spelling of the address", async () => {
    const list = await newList();
    const job = await importFile(
      list,
      "Email,First\nx@du.example,One\nX@DU.example,Two\n\u00a0x@du.example\u3000,Three\ny@bücher.example,U\nY@xn--bcher-kva.example,A\n",
    );
    expect(countsOf(job)).toEqual({ ...none, created: 2, duplicates: 3 });
    expect(await members(list)).toMatchObject({
      "x@du.example": { first_name: "Three" },
      "y@xn--bcher-kva.example": { first_name: "A" },
    });
  });

  it("keeps an earlier row when the last one is refused", async () => {
    const list = await newList();
    const job = await importFile(list, "Email,Status\nx@dr.example,active\nx@dr.example,nonsense\n");
    expect(countsOf(job)).toEqual({ ...none, created: 1, invalid: 1 });
    expect(await emails(list)).toEqual(["x@dr.example"]);
  });

  it("also when the rows are batches apart", async () => {
    const list = await newList();
    const rows = Array.from({ length: 45_000 }, (_, at) => `p${at}@far.example,N${at}`);
    rows.push("p3@far.example,Last", "p44999@far.example,Later", "p3@far.example,Latest");
    const job = await importFile(list, `Email,First\n${rows.join("\n")}\n`);
    expect(countsOf(job)).toEqual({ ...none, created: 45_000, duplicates: 3 });
    const names = await members(list);
    expect(names["p3@far.example"]).toMatchObject({ first_name: "Latest" });
    expect(names["p44999@far.example"]).toMatchObject({ first_name: "Later" });
    expect(await findMiscounts(database)).toEqual([]);
  });
});

describe("only faulty rows are refused, with their line and the reason", () => {
  it("and the others are imported", async () => {
    const list = await newList();
    const job = await importFile(
      list,
      [
        "Email,First,Last",
        "good@br.example,Ann,Lee",
        "no-at.example,A,B",
        ",Empty,Cell",
        "",
        '"line@br.example","two\nlines",x',
        "short@br.example",
        "long@br.example,A,B, ,C",
        "padded@br.example,A,B,, ",
        "a@b@br.example,A,B",
        `name@br.example,${"x".repeat(201)},B`,
        "nul@br.example,a\0b,B",
        "=1+1@br.example,'=cmd,B",
        ",,",
      ].join("\n"),
    );
    expect(countsOf(job)).toEqual({ ...none, created: 5, invalid: 6 });
    expect(await emails(list)).toEqual([
      "=1+1@br.example",
      "good@br.example",
      "line@br.example",
      "padded@br.example",
      "short@br.example",
    ]);
    expect(await members(list)).toMatchObject({
      "line@br.example": { first_name: "two lines" },
      "=1+1@br.example": { first_name: "=cmd" },
    });
    const lines = await refusals(job);
    expect(lines.map((line) => line.split(",").slice(0, 2))).toEqual([
      ["3", "Email"],
      ["4", "Email"],
      ["9", "Email"],
      ["11", "Email"],
      ["12", "First"],
      ["13", "First"],
    ]);
  });

  it("and all of them, when no row is good", async () => {
    const list = await newList();
    const job = await importFile(list, "Email\nnobody\nnothing\n");
    expect(countsOf(job)).toEqual({ ...none, invalid: 2 });
  });
});

describe("a file that is refused as a whole", () => {
  it.each([
    ["nothing", "", /file is empty/],
    ["no addresses", "First,Last\nA,B\n", /no column named Email; it has: First, Last/],
    ["no header", "a@b.example,Ann\n", /no column named Email/],
    ["a spreadsheet", Buffer.from("PK\x03\x04abc", "latin1"), /Save the table as CSV/],
    ["a picture", Buffer.from("\x89PNG\r\n\x1a\n\0\0", "latin1"), /PNG image/],
    ["a quote that never closes", 'Email,First\na@rf.example,"A\nb@rf.example,B\n', /line 2 does not end/],
  ])("%s fails with a sentence that helps, and nobody is written", async (_name, content, sentence) => {
    const list = await newList();
    const job = await importFile(list, content);
    expect(job).toMatchObject({ status: "failed", error: expect.stringMatching(sentence), processed: 0 });
    expect(await emails(list)).toEqual([]);
  });

  it("a million and one rows", async () => {
    const list = await newList();
    const job = await importFile(list, `Email\n${"a@b.example\n".repeat(1_000_001)}`);
    expect(job).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/more than 1,000,000 rows: split it/),
    });
    expect(await emails(list)).toEqual([]);
  });

  it("a header without rows is accepted", async () => {
    expect(countsOf(await importFile(await newList(), "Email,First\n"))).toEqual(none);
    expect(countsOf(await importFile(await newList(), "Email"))).toEqual(none);
  });
});

describe("files as programs write them", () => {
  it.each([
    [
      "UTF-16 with tabs, from Excel",
      Buffer.from("\ufeffE-mail Address\tFirst Name\r\na@fi.example\tZoë\r\n", "utf16le"),
    ],
    [
      "Windows-1252 with semicolons",
      Buffer.from("E-Mail;Vorname;First\r\na@fi.example;x;Zo\xeb\r\n", "latin1"),
    ],
    ["UTF-8 with a mark", Buffer.from("\ufeffEmail,FNAME\na@fi.example,Zoë\n")],
    ["Excel's sep= line", "sep=;\nemail;first\na@fi.example;Zoë\n"],
    ["old Mac line ends", "email|first_name\ra@fi.example|Zoë\r"],
  ])("%s", async (_name, content) => {
    const list = await newList();
    expect(countsOf(await importFile(list, content))).toEqual({ ...none, created: 1 });
    expect(await members(list)).toMatchObject({ "a@fi.example": { first_name: "Zoë" } });
  });
});

it("concurrent imports of the same people into one list add each of them once", async () => {
  const list = await newList();
  const rows = (from: number) =>
    Array.from({ length: 30_000 }, (_, at) => `q${from + at}@at-once.example`).join("\n");
  const jobs = await Promise.all(
    [0, 10_000, 20_000].map((from) => importFile(list, `Email\n${rows(from)}\n`)),
  );
  const counts = jobs.map(countsOf);
  expect(counts.reduce((sum, { created }) => sum + created, 0)).toBe(50_000);
  expect(counts.reduce((sum, { unchanged }) => sum + unchanged, 0)).toBe(40_000);
  expect(await emails(list)).toHaveLength(50_000);
  expect(await findMiscounts(database)).toEqual([]);
});

it("an import is refused while 50 of them are open, those under way among them, also by callers at once", async () => {
  const list = await newList();
  const ids = Array.from({ length: 50 }, newId);
  await database.run(sql`
    insert into jobs (workspace_id, id, type, permission, status, due_at)
    select ${service.workspaceId}, unnest(${ids}::uuid[]), ${IMPORT_JOB}, 'subscribers:read', 'processing',
      now() + interval '1 hour'`);
  const refused = await upload(list, "Email\na@open.example\n");
  expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
  await database.run(sql`update jobs set status = 'completed' where id = ${ids[0]}`);
  const last = await Promise.all([1, 2, 3, 4].map(() => upload(list, "Email\na@open.example\n")));
  expect(last.filter(({ status }) => status === 202)).toHaveLength(1);
  await database.run(sql`delete from jobs where id = any(${ids}::uuid[])`);
});
