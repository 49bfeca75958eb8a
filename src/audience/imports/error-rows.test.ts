/** Rows that were refused, to be corrected and uploaded again. */
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { startImportService } from "#test/support/imports.ts";

const { call, importFile, newList, upload } = await startImportService();

const rowsOf = async (job: { error_rows_url: string }) =>
  (await call("GET", job.error_rows_url.replace("/api/v1", ""))).body as string;
const mapping = (...fields: readonly (string | null)[]) =>
  JSON.stringify(fields.map((field, at) => ({ column: at + 1, field })));

test("refused rows keep the columns of the upload, and a corrected file is imported with the same mapping", async () => {
  const list = await newList();
  const file = 'Kontakt;Rufname;Notiz\na@back.example;Ann;\nnobody;Zoë;"a;b"\nb@back;;=1+1\n';
  const fields = { mapping: mapping("email", "first_name", null), encoding: "windows-1252" };
  const job = await importFile(list, iconv.encode(file, "windows-1252"), fields);
  expect(job.counts).toMatchObject({ created: 1, invalid: 2 });
  const rows = await rowsOf(job);
  expect(rows.split("\r\n")).toEqual([
    "Kontakt,Rufname,Notiz,Import error",
    expect.stringMatching(/^nobody,Zoë,"a;b","Kontakt: /),
    expect.stringMatching(/^b@back,,'=1\+1,"Kontakt: /),
    "",
  ]);
  const corrected = rows.replace("nobody,", "zoe@back.example,").replace("b@back,", "b@back.example,");
  const again = await importFile(list, corrected, { mapping: fields.mapping });
  expect(again).toMatchObject({ error_rows_url: null, counts: { created: 2, invalid: 0 } });
  const { body } = await call("GET", `/mailing-lists/${list}/subscribers?search=zoe@back.example`);
  expect(body.data.subscribers[0]).toMatchObject({ first_name: "Zoë" });
});

test("without a header the file has none, and positions stay the same", async () => {
  const list = await newList();
  const fields = { mapping: mapping("first_name", "email"), has_header: "false" };
  const job = await importFile(list, "Ann,a@bare.example\nBob,nobody\n", fields);
  const rows = await rowsOf(job);
  expect(rows).toMatch(/^Bob,nobody,"column 2: .*\r\n$/);
  const again = await importFile(list, rows.replace("nobody", "b@bare.example"), fields);
  expect(again.counts).toMatchObject({ created: 1, invalid: 0 });
});

test("a file that is uploaded again gets new reasons in place of the old ones, and needs no mapping", async () => {
  const list = await newList();
  const first = await rowsOf(await importFile(list, "Email,First\nnobody,Ann\nno@b,Bob\n"));
  const job = await importFile(list, first.replace("nobody", "a@twice.example"));
  expect(job.counts).toMatchObject({ created: 1, invalid: 1 });
  expect((await rowsOf(job)).split("\r\n")).toEqual([
    "Email,First,Import error",
    expect.stringMatching(/^no@b,Bob,"Email: /),
    "",
  ]);
});

test("rows with too many and too few cells keep all of their cells, and the reason is under its header", async () => {
  const list = await newList();
  const file = "Email,First,Last\na@x.example,Ann,Lee,Jr,,III\nnobody\n";
  const rows = await rowsOf(await importFile(list, file));
  const expected = [
    "Email,First,Last,Import error",
    expect.stringMatching(/^a@x.example,Ann,Lee,"Email: is one value more[^"]*",Jr,,III$/),
    expect.stringMatching(/^nobody,,,"Email: [^"]*"$/),
    "",
  ];
  expect(rows.split("\r\n")).toEqual(expected);
  // Uploaded again as it is, the file has each reason once, and still all cells.
  expect((await rowsOf(await importFile(list, rows))).split("\r\n")).toEqual(expected);
});

test("who opted out by a shifted cell is opted out by the returned row as well", async () => {
  const [list, other] = [await newList(), await newList()];
  const file = "Email,First,Status\na@shift.example,Lee,Ann,unsubscribed\n";
  const fields = { mapping: mapping("email", "first_name", "status") };
  const rows = await rowsOf(await importFile(list, file, fields));
  expect(rows).toMatch(/\r\na@shift.example,Lee,Ann,"Email: [^"]*",unsubscribed\r\n$/);
  await importFile(other, rows, fields);
  for (const one of [list, other]) {
    const { body } = await call("GET", `/mailing-lists/${one}/subscribers`);
    expect(body.data.subscribers).toMatchObject([{ email: "a@shift.example", status: "unsubscribed" }]);
  }
});

test("a very long row, with characters of two halves, comes back whole", async () => {
  const list = await newList();
  const note = '😀"'.repeat(200_000);
  const file = `Email,Note\nnobody,"${note.replaceAll('"', '""')}"\n`;
  const rows = await rowsOf(await importFile(list, file));
  expect(rows.includes(note.replaceAll('"', '""'))).toBe(true);
  expect(rows).not.toContain("\ufffd");
});

test("a dry run has the rows, too; a job without errors has none", async () => {
  const list = await newList();
  const dry = await importFile(list, "Email\nnobody\n", { dry_run: "true" });
  expect(await rowsOf(dry)).toContain('nobody,"Email: ');
  const { error_rows_url, id } = await importFile(list, "Email\na@good.example\n");
  expect(error_rows_url).toBeNull();
  expect((await call("GET", `/jobs/${id}/errors?layout=rows`)).status).toBe(404);
});

test("the job of an import says who started it, with what file, for which list, and under which label", async () => {
  const list = await newList();
  const { body } = await call("PUT", `/mailing-lists/${list}`, { name: "Spring" });
  expect(body.data.name).toBe("Spring");
  const job = await importFile(list, "Email\nlabel@x.example\n", { label: "March leads" });
  expect(job).toMatchObject({
    label: "March leads",
    actor: { kind: "key" },
    file_name: "people.csv",
    resource: { kind: "mailing_lists", id: list, name: "Spring" },
  });
  const exported = await call("POST", `/mailing-lists/${list}/subscribers/export-async`, {
    label: "For Kim",
  });
  const listed = (await call("GET", `/jobs?resource_id=${list}`)).body.data.jobs;
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([exported.body.data.job_id, job.id]);
  expect(listed[0]).toMatchObject({ label: "For Kim", resource: { id: list } });
  const long = await upload(list, "Email\nx@x.example\n", { label: "x".repeat(201) });
  expect([long.status, long.body.details[0].field]).toEqual([400, "label"]);
});
