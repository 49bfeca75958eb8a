import sql from "sql-template-tag";
import { expect, it } from "vitest";
import { startImportService } from "#test/support/imports.ts";

const service = await startImportService();
const { call, database, importFile, newList, upload } = service;

async function names(list: string): Promise<Record<string, string | null>> {
  const rows = await database.rows<{ email: string; first_name: string | null }>(sql`
    select s.email, s.first_name
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list} order by s.email`);
  return Object.fromEntries(rows.map(({ email, first_name }) => [email, first_name]));
}

it("one invalid byte in a file of UTF-8 refuses its row with the line, and changes no other name", async () => {
  const list = await newList();
  const rows = Array.from({ length: 800 }, (_, at) => `j${at}@odd.example,Jürgen\n`).join("");
  await importFile(list, `Email,First\n${rows}`);
  const job = await importFile(
    list,
    Buffer.concat([
      Buffer.from(`Email,First\n${rows}`),
      Buffer.from("odd@odd.example,M\xfcller\n", "latin1"),
    ]),
  );
  expect(job).toMatchObject({
    status: "completed",
    counts: { unchanged: 800, updated: 0, invalid: 1 },
    result: { encoding: "utf-8", warnings: [expect.stringContaining("1 line contains invalid bytes")] },
  });
  const { body } = await call("GET", job.errors_url.replace("/api/v1", ""));
  expect(body).toContain("802,First,M\ufffdller,contains bytes that are invalid in the encoding of the file");
  expect(new Set(Object.values(await names(list)))).toEqual(new Set(["Jürgen"]));
});

it("text of a guessed encoding never replaces stored values; text of a named encoding does", async () => {
  const list = await newList();
  await importFile(list, "Email,First\na@guess.example,Zoe\n");
  const file = Buffer.from("Email,First\na@guess.example,Zo\xeb\nb@guess.example,Ren\xe9e\n", "latin1");
  const job = await importFile(list, file);
  expect(job.result).toMatchObject({
    encoding: "windows-1252",
    created: 1,
    updated: 0,
    warnings: [expect.stringContaining("a guess"), expect.stringContaining("left as they are")],
  });
  expect(await names(list)).toEqual({ "a@guess.example": "Zoe", "b@guess.example": "Renée" });
  const named = await importFile(list, file, { encoding: "cp1252" });
  expect(named.result).toMatchObject({ encoding: "windows-1252", updated: 1, warnings: [] });
  expect(await names(list)).toMatchObject({ "a@guess.example": "Zoë" });
});

it("an encoding that is unknown is refused with those that are known", async () => {
  const { status, body } = await upload(await newList(), "Email\n", { encoding: "klingon" });
  expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(JSON.stringify(body)).toMatch(/utf-8, .*shift_jis/);
});
