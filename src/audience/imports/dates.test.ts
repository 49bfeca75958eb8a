import sql from "sql-template-tag";
import { expect, it } from "vitest";
import { startImportService } from "#test/support/imports.ts";
import { all } from "#test/support/segments.ts";

const service = await startImportService();
const { call, database, importFile, newList, upload } = service;
await database.run(sql`
  update workspaces set timezone = 'America/New_York' where id = ${service.workspaceId}`);

async function listWithDates(): Promise<string> {
  const list = await newList();
  for (const name of ["joined", "born"]) {
    const field = { field_name: name, field_label: name, field_type: "date" };
    const { status } = await call("POST", `/mailing-lists/${list}/custom-fields`, field);
    expect(status).toBe(201);
  }
  return list;
}

/** The custom fields of each member, by the local part of the address. */
async function values(list: string): Promise<Record<string, unknown>> {
  const rows = await database.rows<{ email: string; custom_fields: unknown }>(sql`
    select s.email, s.custom_fields
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list} order by s.email`);
  return Object.fromEntries(rows.map(({ email, custom_fields }) => [email.split("@")[0], custom_fields]));
}

async function faults(job: { errors_url: string }): Promise<string[]> {
  const { body } = await call("GET", job.errors_url.replace("/api/v1", ""));
  return body.trim().split("\r\n").slice(1);
}

it("dates are read as programs write them, and a time without an offset is one of the workspace's zone", async () => {
  const list = await listWithDates();
  const job = await importFile(
    list,
    [
      "Email,joined,born",
      "a@dates.example,2018-10-11 09:55:14,1980-05-17",
      "b@dates.example,2018-10-11T09:55:14+0200,17.05.1980",
      'c@dates.example,"Oct 11, 2018 9:55 AM",17 May 1980',
      "d@dates.example,0000-00-00 00:00:00,1900-01-00",
    ].join("\n"),
  );
  expect(job.result).toMatchObject({ created: 4, invalid: 0, warnings: [] });
  expect(await values(list)).toEqual({
    a: { joined: "2018-10-11T13:55:14.000Z", born: "1980-05-17" },
    b: { joined: "2018-10-11T07:55:14.000Z", born: "1980-05-17" },
    c: { joined: "2018-10-11T13:55:00.000Z", born: "1980-05-17" },
    d: {},
  });
});

it("a day that could be a month refuses its row, until the file or the sender shows the order", async () => {
  const list = await listWithDates();
  const undecided = "Email,joined\na@order.example,03/04/2019\n";
  const job = await importFile(list, undecided);
  expect(job.result).toMatchObject({
    created: 0,
    invalid: 1,
    warnings: [expect.stringContaining('"joined"')],
  });
  expect(await faults(job)).toEqual([expect.stringMatching(/^2,joined,03\/04\/2019,"?must be unambiguous/)]);

  await importFile(list, undecided, { date_format: "MM/DD/YYYY" });
  expect(await values(list)).toEqual({ a: { joined: "2019-03-04" } });

  await importFile(list, `${undecided}b@order.example,25/12/2018\n`);
  expect(await values(list)).toEqual({ a: { joined: "2019-04-03" }, b: { joined: "2018-12-25" } });

  // Another column of the same file decides, too.
  await importFile(list, "Email,joined,born\na@order.example,03/04/2019,12/25/1980\n");
  expect(await values(list)).toMatchObject({ a: { joined: "2019-03-04", born: "1980-12-25" } });

  const mixed = await importFile(
    list,
    "Email,joined\na@order.example,03/04/2020\nb@order.example,25/12/2018\nc@order.example,12/25/2018\n",
  );
  expect(mixed.result).toMatchObject({ invalid: 1, created: 1, unchanged: 1 });
});

it("a date with dots has the day first, whatever another column shows, unless its own column shows more", async () => {
  const list = await listWithDates();
  await importFile(list, "Email,joined,born\na@dots.example,12/31/2019,03.04.1980\n");
  expect(await values(list)).toMatchObject({ a: { joined: "2019-12-31", born: "1980-04-03" } });
  await importFile(list, "Email,joined\na@dots.example,03.04.1980\nb@dots.example,12.31.2019\n");
  expect(await values(list)).toMatchObject({ a: { joined: "1980-03-04" }, b: { joined: "2019-12-31" } });
});

it("serial numbers of a spreadsheet are dates where date_format says so", async () => {
  const list = await listWithDates();
  const file = "Email,joined\na@serial.example,43384\n";
  expect((await importFile(list, file)).result).toMatchObject({ invalid: 1 });
  await importFile(list, file, { date_format: "excel" });
  expect(await values(list)).toEqual({ a: { joined: "2018-10-11" } });
});

it("a date_format that is unknown is refused with those that are known", async () => {
  const { status, body } = await upload(await newList(), "Email\n", { date_format: "klingon" });
  expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(JSON.stringify(body)).toContain("DMY, MDY");
});

it("all faults of a row are reported together", async () => {
  const list = await listWithDates();
  const long = "x".repeat(201);
  const job = await importFile(list, `Email,First,joined,born\nnobody,${long},soon,2018-02-31\n`);
  expect(job.result).toMatchObject({ invalid: 1, rows: 1 });
  expect((await faults(job)).map((line) => line.split(",").slice(0, 2).join())).toEqual([
    "2,Email",
    "2,First",
    "2,joined",
    "2,born",
  ]);
});

it("the API takes the same dates, and says what it cannot take", async () => {
  const list = await listWithDates();
  const add = (custom_fields: object) =>
    call("POST", `/mailing-lists/${list}/subscribers`, {
      email: `${crypto.randomUUID()}@api.example`,
      custom_fields,
    });
  const { body } = await add({ joined: "11.10.2018 09:55", born: "0001-01-01" });
  expect(JSON.parse(body.data.custom_fields)).toEqual({ joined: "2018-10-11T13:55:00.000Z" });
  const refused = await add({ joined: "03/04/2019", born: "soon" });
  expect([refused.status, refused.body.details?.map(({ field }: { field: string }) => field)]).toEqual([
    400,
    ["custom_fields.joined", "custom_fields.born"],
  ]);
});

it("rules of a segment take the same dates", async () => {
  const list = await listWithDates();
  const segment = (value: string) =>
    call("POST", `/mailing-lists/${list}/segments`, {
      name: crypto.randomUUID(),
      conditions: all(["custom_fields.joined", "before", value]),
    });
  expect((await segment("11 Oct 2018")).status).toBe(201);
  const refused = await segment("03/04/2019");
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining("must be unambiguous"),
  ]);
});
