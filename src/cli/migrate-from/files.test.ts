/** Sources that are files alone: Postal, and a folder of CSV files. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startImportService } from "#test/support/imports.ts";
import { startMigration } from "#test/support/migration.ts";

const service = await startImportService();

test("suppressions of Postal that have not expired come over, hard fails as bounces", async () => {
  const migration = await startMigration(service);
  const path = join(migration.folder, "suppressions.tsv");
  const later = Math.floor(Date.now() / 1000) + 86_400;
  await writeFile(
    path,
    [
      "type\taddress\treason\ttimestamp\tkeep_until",
      `recipient\tdead@x.example\ttoo many hard fails\t1700000000.5\t${later}.5`,
      `recipient\tfull@x.example\ttoo many soft fails\t1700000000.5\t${later}.5`,
      "recipient\told@x.example\ttoo many hard fails\t1700000000.5\t1700000001.5",
      `recipient\tmanual@x.example\tasked by phone\t1700000000.5\t${later}`,
      `recipient\tnot an address\ttoo many hard fails\t1700000000\t${later}`,
    ].join("\n"),
  );
  const done = await migration.run(["postal", "--from", path, "--json"]);
  expect(done.code, done.stderr).toBe(0);
  expect(await migration.suppressions()).toEqual({
    "Postal: too many hard fails": ["dead@x.example"],
    "Postal: suppressed": ["manual@x.example"],
  });
  expect(done.leftOut).toEqual([
    "suppression,suppressions.tsv,full@x.example,was suppressed for a while only: too many soft fails",
    "suppression,suppressions.tsv,old@x.example,had expired in Postal",
    "suppression,Postal: too many hard fails,not an address,is neither an address nor a domain",
  ]);
  const again = await migration.run(["postal", "--from", path, "--json"]);
  expect(again.report.suppressions.map(({ added }: { added: number }) => added)).toEqual([0, 0]);
  for (const [words, sentence] of [
    [[], "Name the files with --from: Postal is read from files alone"],
    [["--from", "https://postal.example.org"], "Postal is read from files alone"],
  ] as const) {
    const refused = await migration.run(["postal", ...words]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(sentence) });
  }
  const { stderr: useless } = await migration.run(["postal", "--from", path, "--keep-existing"]);
  expect(useless).toContain("unknown option '--keep-existing'");
});

test("each CSV file of a folder becomes a list, with types of fields, opt-outs and suppressions", async () => {
  const migration = await startMigration(service);
  const folder = join(migration.folder, "lists");
  await mkdir(folder);
  const files: Readonly<Record<string, string>> = {
    "Kunden.csv":
      "E-Mail;Vorname;Nachname;Punkte;Seit;PLZ;Status (alt);Abgemeldet\nin@x.example;Zoë;Müller;7;2019-05-06;01234;=x;\nout@x.example;Bob;Lee;8;2019-05-07;10115;gut;ja\ndead@x.example;Ida;Ray;;;;;\nrene@x.example;René;Roy;;;;;\nkaputt;Tom;May;;;;;\n",
    "News.csv": "email,status\nin@x.example,unsubscribed\nshop@gone.example,\n",
    "suppressions.csv":
      "email,reason\ndead@x.example,Hard bounce\nangry@x.example,spam complaint\n@gone.example,\nRene@x.example,\n",
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  // An unpacked zip file of macOS has copies that are no table, and other programs keep files of their own.
  for (const name of ["__MACOSX", ".cache"]) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "Kunden.csv"), "email\nhidden@x.example\n");
  }
  await writeFile(join(folder, "._Kunden.csv"), Buffer.of(0, 5, 22, 7));
  const words = ["csv-folder", "--from", folder, "--json"];
  const done = await migration.run(words);
  expect(done.code, done.stderr).toBe(0);
  const people = await migration.people();
  expect(people).toEqual({
    Kunden: {
      "in@x.example": {
        name: "Zoë Müller",
        status: "active",
        source: "CSV files",
        fields: { punkte: 7, seit: "2019-05-06", plz: "01234", status_alt: "=x" },
      },
      "out@x.example": expect.objectContaining({ status: "unsubscribed" }),
      "dead@x.example": expect.objectContaining({ status: "bounced" }),
      "rene@x.example": expect.objectContaining({ status: "unsubscribed" }),
    },
    News: {
      "in@x.example": expect.objectContaining({ status: "unsubscribed" }),
      "shop@gone.example": expect.objectContaining({ status: "active" }),
    },
  });
  expect(await migration.fieldTypes()).toEqual({
    punkte: "number",
    seit: "date",
    plz: "text",
    status_alt: "text",
  });
  expect(await migration.suppressions()).toEqual({
    "Suppressed before: bounced": ["dead@x.example"],
    "Suppressed before: complained": ["angry@x.example"],
    "Suppressed before": ["gone.example", "rene@x.example"],
  });
  expect(done.leftOut).toEqual([expect.stringMatching(/^person,"?Kunden.csv, line 6"?,kaputt,/)]);
  await migration.run(words);
  expect(await migration.people()).toEqual(people);
});

test("a file that may say who gets no mail is refused until the caller decides, and nothing is written", async () => {
  const migration = await startMigration(service);
  const folder = join(migration.folder, "doubtful");
  await mkdir(folder);
  await writeFile(join(folder, "People.csv"), "email,Newsletter\nin@x.example,yes\nout@x.example,no\n");
  await writeFile(join(folder, "Others.csv"), "email\nother@x.example\n");
  const refused = await migration.run(["csv-folder", "--from", folder]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/People\.csv: .* \(here: opt_out_column is --opt-out-column\)/),
  });
  expect(await migration.people()).toEqual({});
  const done = await migration.run(["csv-folder", "--from", folder, "--opt-out-column", "Newsletter"]);
  expect(done.code, done.stderr).toBe(0);
  expect(await migration.people()).toMatchObject({
    People: { "in@x.example": { status: "active" }, "out@x.example": { status: "unsubscribed" } },
    Others: { "other@x.example": { status: "active" } },
  });
  expect(done.stdout).toMatch(/LIST +IS +ACTIVE +UNSUBSCRIBED/);
});

test("a status for one file takes precedence over that of all files, and the refusal of a file names it", async () => {
  const migration = await startMigration(service);
  const folder = join(migration.folder, "statuses");
  await mkdir(join(folder, "old"), { recursive: true });
  for (const [name, email] of [
    ["Kunden.csv", "kunde@x.example"],
    ["cleaned_members.csv", "gone@x.example"],
    ["old/Kunden.csv", "old@x.example"],
    ["suppressions.csv", "supp@x.example"],
  ] as const) {
    await writeFile(join(folder, name), `email\n${email}\n`);
  }
  const run = (...words: string[]) => migration.run(["csv-folder", "--from", folder, ...words]);
  const { code, stderr } = await run();
  const [, advised = ""] = /--status '([^']+)'/.exec(stderr) ?? [];
  expect([code, advised], stderr).toEqual([1, "cleaned_members.csv=bounced"]);
  for (const [word, refusal, sentence] of [
    ["Weg=bounced", 1, "no file of people is called so: Kunden.csv, cleaned_members.csv, old/Kunden.csv\n"],
    ["suppressions=bounced", 1, "no file of people is called so"],
    ["cleaned_members=gone", 2, "one of active, unsubscribed, bounced, complained"],
    ["=bounced", 2, "one of active"],
  ] as const) {
    const refused = await run("--status", advised, "--status", word);
    expect(refused).toMatchObject({ code: refusal, stderr: expect.stringContaining(sentence) });
  }
  const ambiguous = await run("--status", "Kunden=bounced");
  expect(ambiguous.stderr).toContain("several files are called so: Kunden.csv, old/Kunden.csv\n");
  const twice = await run("--status", "cleaned_members=active", "--status", advised);
  expect(twice.stderr).toContain("two statuses, active and bounced");
  expect(await migration.people()).toEqual({});
  const words = ["--status", advised, "--status", "active", "--status", "old/Kunden.csv=unsubscribed"];
  const done = await run(...words);
  expect(done.code, done.stderr).toBe(0);
  expect(await migration.people()).toMatchObject({
    Kunden: { "kunde@x.example": { status: "active" } },
    cleaned_members: { "gone@x.example": { status: "bounced" } },
    "Kunden (2)": { "old@x.example": { status: "unsubscribed" } },
  });
});

test("advice about a file says what to do in place of a field that the command does not take", async () => {
  const migration = await startMigration(service);
  const folder = join(migration.folder, "advice");
  await mkdir(folder);
  const path = join(folder, "People.csv");
  const { stderr: help } = await migration.run(["csv-folder", "--from", folder, "--list", "X"]);
  expect(help).toContain("unknown option '--list'");
  const contents = [
    "Kontakt,Ort\na,b\n",
    "Kontakt,Ort\nann@x.example,bob@x.example\n",
    "ann@x.example,b\nbob@x.example,c\n",
    ",\nann@x.example,bob@x.example\n",
    Buffer.from("email,Ort\nann@x.example,M\xfcnchen\n", "latin1"),
    Buffer.concat([
      Buffer.from("email,Ort\nann@x.example,München Köln Zürich\n".repeat(9)),
      Buffer.of(0xff, 10),
    ]),
  ];
  const said = [];
  for (const content of contents) {
    await writeFile(path, content);
    const run = await migration.run(["csv-folder", "--from", folder, "--dry-run"]);
    const words = `${run.stdout}${run.stderr}${run.leftOut.join("\n")}`;
    expect(words).not.toMatch(/--map|--encoding|--no-header|--date-format/);
    said.push(words);
  }
  const nameColumns = "(here: put a row with the names of the columns at the top of the file)";
  for (const at of [1, 2, 3]) expect(said[at]).toContain(nameColumns);
  for (const at of [4, 5]) expect(said[at]).toContain("(here: save the file as UTF-8)");
});

test("of a person's rows on a list the last counts with the worst status, and the others are reported by their lines", async () => {
  const migration = await startMigration(service);
  const folder = join(migration.folder, "twice");
  await mkdir(folder);
  const rows = [
    "ada@x.example,Ada,",
    "bob@x.example,Bob,",
    "ADA@x.example,A.,unsubscribed",
    "Ada@x.example,Ada L.,",
  ];
  await writeFile(join(folder, "Kunden.csv"), `email,first name,status\n\n${rows.join("\n")}\n`);
  await writeFile(join(folder, "News.csv"), "email\nada@x.example\n");
  const words = ["csv-folder", "--from", folder];
  const duplicates = [
    'duplicate,"Kunden.csv, line 3",ada@x.example,"is replaced: Kunden.csv, line 5 has the same address"',
    'duplicate,"Kunden.csv, line 5",ada@x.example,"is replaced: Kunden.csv, line 6 has the same address"',
  ];
  for (const isDryRun of [true, false]) {
    const run = await migration.run([...words, ...(isDryRun ? ["--dry-run"] : [])]);
    expect(run.leftOut, run.stderr).toEqual(duplicates);
    expect(run.stdout).toMatch(/Kunden +\S.* 1 +1 +0 +0\b/);
    expect(run.stdout).toMatch(/Left out: 2 duplicates\. \S+ has each with the reason/);
  }
  expect(await migration.people()).toMatchObject({
    Kunden: {
      "ada@x.example": { name: "Ada L.", status: "unsubscribed" },
      "bob@x.example": { status: "active" },
    },
    News: { "ada@x.example": { status: "active" } },
  });
  const { report } = await migration.run([...words, "--json"]);
  expect(report.left_out).toMatchObject({ person: 0, duplicate: 2 });
});

test("a value that a known custom field does not take is left out, and its person comes", async () => {
  const migration = await startMigration(service);
  const path = join(migration.folder, "choices");
  await mkdir(path);
  const write = (rows: string) => writeFile(join(path, "List.csv"), `email,points,since\n${rows}`);
  await write("a@x.example,1,2020-01-01\n");
  await migration.run(["csv-folder", "--from", path]);
  await write("a@x.example,many,2020-01-01\nb@x.example,2,soon\n");
  const second = await migration.run(["csv-folder", "--from", path, "--json"]);
  expect(second.code, second.stderr).toBe(0);
  expect(second.leftOut).toEqual([
    "value,List,a@x.example,points must be a number",
    expect.stringMatching(/^"?value"?,List,b@x\.example,"?since must be a date/),
  ]);
  expect((await migration.people()).List).toMatchObject({
    "a@x.example": { fields: { points: 1, since: "2020-01-01" } },
    "b@x.example": { fields: { points: 2 } },
  });
});

test("of two columns that become one custom field, the first has the value and the other is reported", async () => {
  const migration = await startMigration(service);
  const path = join(migration.folder, "collision");
  await mkdir(path);
  const rows = "email,Shoe size,shoe_size\na@x.example,41,42\nb@x.example,43,43\nc@x.example,,44\n";
  await writeFile(join(path, "List.csv"), rows);
  const done = await migration.run(["csv-folder", "--from", path, "--json"]);
  expect(done.code, done.stderr).toBe(0);
  expect((await migration.people()).List).toMatchObject({
    "a@x.example": { fields: { shoe_size: 41 } },
    "b@x.example": { fields: { shoe_size: 43 } },
    "c@x.example": { fields: { shoe_size: 44 } },
  });
  expect(done.leftOut).toEqual([
    expect.stringMatching(/^value,List,a@x\.example,.*shoe_size: an earlier field/),
  ]);
});
