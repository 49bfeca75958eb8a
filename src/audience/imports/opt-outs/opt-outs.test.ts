import sql from "sql-template-tag";
import { describe, expect, it } from "vitest";
import { startImportService } from "#test/support/imports.ts";

const service = await startImportService();
const { call, database, importFile, newList, upload } = service;

async function statuses(list: string): Promise<Record<string, string>> {
  const rows = await database.rows<{ email: string; status: string }>(sql`
    select s.email, m.status
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list} order by s.email`);
  return Object.fromEntries(rows.map(({ email, status }) => [email.split("@")[0] ?? "", status]));
}

/** Names and custom fields of the members, by address. */
const people = (list: string) =>
  database.rows<{ first_name: string | null; custom_fields: object }>(sql`
    select s.first_name, s.custom_fields
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list} order by s.email`);

it.each([
  [
    "Ghost",
    "id,email,name,subscribed_to_emails\n1,in@g.example,A,true\n2,out@g.example,B,false\n",
    "subscribed_to_emails",
  ],
  [
    "Brevo",
    "EMAIL;EMAIL_BLACKLISTED;SMS_BLACKLISTED\nin@g.example;false;true\nout@g.example;true;false\n",
    "EMAIL_BLACKLISTED",
  ],
  ["listmonk", "uuid,email,status\n1,in@g.example,enabled\n2,out@g.example,blocklisted\n", "status"],
  [
    "Mailchimp",
    "Email Address,OPTIN_TIME,UNSUB_TIME,UNSUB_REASON\nin@g.example,2018-10-11 09:55:14,,\nout@g.example,2018-10-11 09:55:14,2019-01-01 10:00:00,NORMAL\n",
    "UNSUB_TIME",
  ],
])("who opted out in an export of %s does not come in as active", async (_name, content, column) => {
  const list = await newList();
  const job = await importFile(list, content);
  expect(job).toMatchObject({
    status: "completed",
    result: { created: 2, opt_out_columns: [{ column, opted_out: 1 }] },
  });
  expect(await statuses(list)).toEqual({ in: "active", out: "unsubscribed" });
});

it("a doubtful column refuses the file until the sender says what it is", async () => {
  const list = await newList();
  const file = "Email,Newsletter\nin@d.example,yes\nout@d.example,no\n";
  const refused = await upload(list, file);
  expect([refused.status, refused.body.code]).toEqual([400, "BAD_REQUEST"]);
  expect(refused.body.error).toMatch(/"Newsletter".*opt_out_column=Newsletter.*opt_out_column=ignore/);
  const unknown = await upload(list, file, { opt_out_column: "Nope" });
  expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([
    400,
    expect.stringContaining("Email, Newsletter"),
  ]);
  await importFile(list, file, { opt_out_column: "newsletter" });
  expect(await statuses(list)).toEqual({ in: "active", out: "unsubscribed" });
  const other = await newList();
  const job = await importFile(other, file, { opt_out_column: "ignore" });
  expect(job.result).toMatchObject({ opt_out_columns: [], skipped_columns: ["Newsletter"] });
  expect(await statuses(other)).toEqual({ in: "active", out: "active" });
});

it("a doubtful column with a few other values makes the import refuse the file", async () => {
  const file = "Email,Newsletter\na@q.example,yes\nb@q.example,no\nc@q.example,no\nd@q.example,weekly\n";
  expect((await upload(await newList(), file)).status).toBe(400);
});

it("a column that the sender names is read by the meaning of its name", async () => {
  const list = await newList();
  await importFile(list, "Email,Active\nin@p.example,yes\nout@p.example,no\n", { opt_out_column: "Active" });
  expect(await statuses(list)).toEqual({ in: "active", out: "unsubscribed" });
});

it("the sender may name several columns; those that do not count are reported", async () => {
  const list = await newList();
  const file =
    "Email,Active,Subscribed,Unsubscribed\na@m.example,no,yes,no\nb@m.example,yes,no,no\nc@m.example,yes,yes,yes\n";
  const job = await importFile(list, file, { opt_out_column: ["Active", "Subscribed"] });
  expect(job.result).toMatchObject({
    opt_out_columns: [
      { column: "Active", opted_out: 1 },
      { column: "Subscribed", opted_out: 1 },
    ],
    warnings: [expect.stringContaining('"Unsubscribed" says in 1 row ')],
  });
  expect(await statuses(list)).toEqual({ a: "unsubscribed", b: "unsubscribed", c: "active" });
});

it("a file with too many columns is refused before they are read", async () => {
  const file = `Email${",Unsubscribed".repeat(20_000)}\na@x.example${",no".repeat(20_000)}\n`;
  const refused = await upload(await newList(), file);
  expect([refused.status, refused.body.error]).toEqual([
    400,
    expect.stringContaining("line 1 has more than 1,000 cells"),
  ]);
});

it("a column Status about orders makes the import refuse the file", async () => {
  const refused = await upload(await newList(), "Email,Status\na@o.example,shipped\n");
  expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('"shipped"')]);
});

it("status applies to the whole file, unless a row has a worse one", async () => {
  const list = await newList();
  await importFile(list, "Email,Bounced\na@w.example,\nb@w.example,yes\n", { status: "unsubscribed" });
  expect(await statuses(list)).toEqual({ a: "unsubscribed", b: "bounced" });
});

it("a person who opted out in one of several rows has opted out", async () => {
  const list = await newList();
  await importFile(list, "Email,Unsubscribed\na@t.example,yes\na@t.example,no\n");
  expect(await statuses(list)).toEqual({ a: "unsubscribed" });
});

describe("a person who opted out in a row with another fault", () => {
  it("is imported anyway, without the faulty value", async () => {
    const list = await newList();
    const field = { field_name: "born", field_label: "Born", field_type: "date" };
    await call("POST", `/mailing-lists/${list}/custom-fields`, field);
    await importFile(list, "Email,First\nmember@f.example,Ann\nshift@f.example,Bea\n");
    const long = "x".repeat(201);
    const job = await importFile(
      list,
      [
        "Email,First,Born,Unsubscribed",
        "member@f.example,Eve,soon,yes",
        `long@f.example,${long},1980-05-17,yes`,
        "shift@f.example,Bea, Lee,1980-05-17,yes",
        "stays@f.example,Ian,soon,no",
        "nobody,Ida,soon,yes",
      ].join("\n"),
    );
    expect(job).toMatchObject({
      status: "completed",
      counts: { created: 1, updated: 2, invalid: 2 },
      result: {
        written_in_part: 3,
        opt_out_columns: [{ column: "Unsubscribed", opted_out: 3 }],
        warnings: [expect.stringContaining("3 rows of people who get no mail have faults")],
      },
    });
    expect(await statuses(list)).toEqual({
      long: "unsubscribed",
      member: "unsubscribed",
      shift: "unsubscribed",
    });
    expect(await people(list)).toMatchObject([
      { first_name: null, custom_fields: { born: "1980-05-17" } },
      { first_name: "Eve", custom_fields: {} },
      { first_name: "Bea", custom_fields: {} },
    ]);
    const { body } = await call("GET", job.errors_url.replace("/api/v1", ""));
    expect(body).toContain("written as unsubscribed anyway");
    expect(
      body
        .trim()
        .split("\r\n")
        .slice(1)
        .map((line: string) => line.split(",")[0]),
    ).toEqual(["2", "3", "4", "5", "6", "6"]);
  });

  it("is imported even if a required value is missing or bytes are invalid", async () => {
    const list = await newList();
    const field = { field_name: "city", field_label: "City", field_type: "text", is_required: true };
    await call("POST", `/mailing-lists/${list}/custom-fields`, field);
    const rows = "a@r.example,Zoë,,yes\nb@r.example,Zoë,Rome,no\nc@r.example,Zoë,,no\n";
    const file = Buffer.concat([
      Buffer.from(`Email,First,City,Unsubscribed\n${rows}`),
      Buffer.from("d@r.example,M\xfcller,Rome,yes\n", "latin1"),
    ]);
    const job = await importFile(list, file);
    expect(job.counts).toMatchObject({ created: 3, invalid: 1 });
    expect(await statuses(list)).toEqual({ a: "unsubscribed", b: "active", d: "unsubscribed" });
  });
});
