import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import iconv from "iconv-lite";
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { runCli } from "./program.ts";

const db = await testDatabase();
const folder = await mkdtemp(join(tmpdir(), "posthaste-inspect-test-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function inspect(name: string, content: string | Uint8Array | undefined, ...options: string[]) {
  const path = join(folder, name);
  if (content !== undefined) await writeFile(path, content);
  const written = { stdout: "", stderr: "" };
  const output = (to: "stdout" | "stderr") => ({
    write(text: string) {
      written[to] += text;
    },
  });
  const code = await runCli(["import", "inspect", path, ...options], {
    stdout: output("stdout"),
    stderr: output("stderr"),
    environment: { DATABASE_URL: db.url },
    endpoints: () => [],
    serve: async () => {},
  });
  return { code, ...written };
}

test("a file is inspected without a list, and without a database", async () => {
  const file =
    "sep=;\nE-Mail;Vorname;Unsubscribed\na@x.example;Zoë;no\nb@x.example;Bob;yes\nnobody;Cleo;no\n";
  const { code, stdout } = await inspect("people.csv", file, "--json");
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({
    rows: 3,
    invalid: 1,
    opted_out: 1,
    delimiter: ";",
    columns: [{ meaning: "email" }, { meaning: "first_name" }, { meaning: "status (unsubscribed)" }],
    examples: { opted_out: [{ line: 4, email: "b@x.example" }], refused: [{ line: 5, value: "nobody" }] },
  });
  expect(report.created).toBeUndefined();
  const { stdout: text } = await inspect("people.csv", file);
  expect(text).toMatch(/Vorname +first_name/);
  expect(text).toMatch(/refused +1/);
});

test("a file is compared with a list, and nothing is written", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const list = await newList(db, workspaceId);
  await addPeople(db, workspaceId, list, [
    { email: "a@x.example" },
    { email: "b@x.example", first_name: "Bob" },
  ]);
  const before = await db.rows(sql`select * from subscribers order by email`);
  const file = iconv.encode(
    "Email,First\na@x.example,Zoë\nb@x.example,Bob\nc@x.example,Cleo\n",
    "windows-1252",
  );
  const { stdout } = await inspect("list.csv", file, "--list", list, "--encoding", "cp1252", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    encoding: "windows-1252",
    created: 1,
    new_to_workspace: 1,
    updated: 1,
    unchanged: 1,
    warnings: [],
    examples: { new: [{ line: 4, email: "c@x.example" }], known: [{ line: 2 }, { line: 3 }] },
  });
  expect(await db.rows(sql`select * from subscribers order by email`)).toEqual(before);
});

test("what an import refuses is said, and what cannot be read", async () => {
  const doubtful = await inspect("d.csv", "Email,Newsletter\na@x.example,yes\n");
  expect([doubtful.code, doubtful.stderr]).toEqual([
    1,
    'error: An import of this file would be refused: The column "Newsletter" may say who gets no mail. Send the file again with opt_out_column=Newsletter, and it decides, or with opt_out_column=ignore, and it does not (here: opt_out_column is --opt-out-column)\n',
  ]);
  const named = await inspect("cleaned.csv", "Email\na@x.example\n");
  expect([named.code, named.stdout, named.stderr]).toEqual([
    1,
    "",
    'error: An import of this file would be refused: The file is called "cleaned.csv", and no column says who gets no mail. Send it again with status=unsubscribed if it holds people who get no mail (or status=bounced), or with status=active (here: status is --status)\n',
  ]);
  expect(await inspect("cleaned.csv", "Email\na@x.example\n", "--status", "bounced")).toMatchObject({
    code: 0,
  });
  const broken = await inspect("b.csv", 'Email,First\na@x.example,"A\nb@x.example,"B"\n');
  expect(broken.stderr).toContain("would be refused: The row on line 2");
  const unknown = await inspect("u.csv", "Email\na@x.example\n", "--list", crypto.randomUUID());
  expect([unknown.code, unknown.stderr]).toEqual([1, "error: Mailing list not found\n"]);
  expect((await inspect("u.csv", "Email\n", "--encoding", "klingon")).code).toBe(2);
  expect((await inspect("u.csv", "Email\n", "--date-format", "klingon")).code).toBe(2);
});

test("texts say which options their fields are", async () => {
  const file = "Email,Active,Unsubscribed\na@x.example,no,yes\n";
  const { stdout } = await inspect("o.csv", file, "--opt-out-column", "Active");
  expect(stdout).toMatch(
    /send opt_out_column=Unsubscribed as well \(here: opt_out_column is --opt-out-column\)\n/,
  );
  const both = await inspect("o.csv", file, "--opt-out-column", "Active", "--opt-out-column", "unsubscribed");
  expect([both.code, both.stdout]).toEqual([0, expect.not.stringContaining("Warning")]);
  const guessed = await inspect("g.csv", Buffer.from("Email,First\na@x.example,Zo\xeb\n", "latin1"));
  expect(guessed.stdout).toContain("(here: encoding is --encoding)");
});

test("columns are mapped by header or position, and a file without a header is read", async () => {
  const { code, stdout } = await inspect(
    "m.csv",
    "Ann,a@x.example,1\nBob,nobody,2\n",
    "--no-header",
    "--map",
    "#2=email",
    "--map",
    "#1=first_name",
    "--map",
    "#3=",
    "--json",
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    rows: 2,
    invalid: 1,
    has_header: false,
    columns: [{ field: "first_name" }, { field: "email" }, { field: null }],
  });
  const unknown = await inspect("m.csv", "Mail\na@x.example\n", "--map", "E-Mail=email");
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    'error: An import of this file would be refused: mapping[0].column is no column of the file: "E-Mail"; it has: Mail (here: mapping is --map)\n',
  ]);
  const headless = await inspect("m.csv", "a@x.example,1\n");
  expect(headless.stderr).toContain("or send has_header=false (here: has_header=false is --no-header)");
  expect((await inspect("m.csv", "Mail\n", "--map", "email")).code).toBe(2);
});

test("a missing file and a folder are refused with a sentence", async () => {
  const missing = await inspect("nosuch.csv", undefined);
  expect([missing.code, missing.stderr]).toEqual([
    1,
    `error: The file ${join(folder, "nosuch.csv")} does not exist\n`,
  ]);
  expect((await inspect("", undefined)).stderr).toContain("is not a file");
});
