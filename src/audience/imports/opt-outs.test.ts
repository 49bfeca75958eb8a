import sql from "sql-template-tag";
import { expect, it } from "vitest";
import { startImportService } from "../../../test/support/imports.ts";

const service = await startImportService();
const { database, importFile, newList, upload } = service;

async function statuses(list: string): Promise<Record<string, string>> {
  const rows = await database.rows<{ email: string; status: string }>(sql`
    select s.email, m.status
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list} order by s.email`);
  return Object.fromEntries(rows.map(({ email, status }) => [email.split("@")[0] ?? "", status]));
}

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

it("a doubtful column with another answer here and there refuses the file all the same", async () => {
  const file = "Email,Newsletter\na@q.example,yes\nb@q.example,no\nc@q.example,no\nd@q.example,weekly\n";
  expect((await upload(await newList(), file)).status).toBe(400);
});

it("a column that its sender points to is read by what its name says", async () => {
  const list = await newList();
  await importFile(list, "Email,Active\nin@p.example,yes\nout@p.example,no\n", { opt_out_column: "Active" });
  expect(await statuses(list)).toEqual({ in: "active", out: "unsubscribed" });
});

it("a column Status that speaks of orders refuses the file", async () => {
  const refused = await upload(await newList(), "Email,Status\na@o.example,shipped\n");
  expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('"shipped"')]);
});

it("status sets it for the whole file, where a row says nothing worse", async () => {
  const list = await newList();
  await importFile(list, "Email,Bounced\na@w.example,\nb@w.example,yes\n", { status: "unsubscribed" });
  expect(await statuses(list)).toEqual({ a: "unsubscribed", b: "bounced" });
});

it("who opted out in one of several rows has opted out", async () => {
  const list = await newList();
  await importFile(list, "Email,Unsubscribed\na@t.example,yes\na@t.example,no\n");
  expect(await statuses(list)).toEqual({ a: "unsubscribed" });
});
