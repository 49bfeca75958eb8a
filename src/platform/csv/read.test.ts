import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import iconv from "iconv-lite";
import { afterAll, describe, expect, it, test } from "vitest";
import { readEncodingName } from "./encodings.ts";
import { type CsvFile, openCsv } from "./read.ts";

const folder = await mkdtemp(join(tmpdir(), "posthaste-csv-"));
afterAll(() => rm(folder, { recursive: true }));
let files = 0;

async function csvOf(content: string | Uint8Array): Promise<CsvFile> {
  const path = join(folder, `${files++}.csv`);
  await writeFile(path, content);
  return openCsv(path);
}

async function cellsOf(content: string | Uint8Array): Promise<(readonly string[])[]> {
  return (await Array.fromAsync((await csvOf(content)).rows())).map(({ cells }) => cells);
}

const linesOf = async (content: string) =>
  (await Array.fromAsync((await csvOf(content)).rows())).map(({ line }) => line);

const refusal = (content: string | Uint8Array) =>
  cellsOf(content).then(
    () => "",
    (fault: Error) => fault.message,
  );

/** Bytes of a text with one byte a character. */
const latin = (text: string) => Buffer.from(text, "latin1");
const utf16 = (text: string) => Buffer.from(text, "utf16le");
const swapped = (text: string) => utf16(text).swap16();

describe("encodings", () => {
  const table = [
    ["Email", "Name"],
    ["zoë@example.com", "Zoë Müller"],
    ["a@b.example", "naïve €"],
  ];
  const text = table.map((row) => row.join(",")).join("\r\n");
  it.each([
    ["UTF-8", "utf-8", Buffer.from(text)],
    ["UTF-8 with a mark", "utf-8", Buffer.from(`\ufeff${text}`)],
    ["UTF-16 LE with a mark", "utf-16le", utf16(`\ufeff${text}`)],
    ["UTF-16 LE without", "utf-16le", utf16(text)],
    ["UTF-16 BE with a mark", "utf-16be", swapped(`\ufeff${text}`)],
    ["UTF-16 BE without", "utf-16be", swapped(text)],
    ["Windows-1252", "windows-1252", latin(text.replace("€", "\x80"))],
  ])("%s is recognised and read", async (_name, encoding, bytes) => {
    const file = await csvOf(bytes);
    expect(file.encoding).toBe(encoding);
    expect(await cellsOf(bytes)).toEqual(table);
  });

  it("are not changed by one invalid byte: only its row is broken", async () => {
    const rows = Array.from({ length: 800 }, (_, at) => `j${at}@x.example,Jürgen Müller\n`).join("");
    const bytes = Buffer.concat([Buffer.from(`email,name\n${rows}`), latin("odd@x.example,M\xfcller\n")]);
    for (const content of [bytes, Buffer.concat([Buffer.from("\ufeff"), bytes])]) {
      const file = await csvOf(content);
      expect([file.encoding, file.isGuessed, file.warnings]).toEqual([
        "utf-8",
        false,
        [expect.stringContaining("1 line contains invalid bytes")],
      ]);
      const read = await Array.fromAsync(file.rows());
      expect(read[1]?.cells[1]).toBe("Jürgen Müller");
      const broken = read.filter(({ cells }) => cells.some((cell) => file.isBroken(cell)));
      expect(broken.map(({ line }) => line)).toEqual([802]);
    }
  });

  it.each([
    ["one good row of three", Buffer.concat([Buffer.from("Zoë\n"), latin("M\xfcller\nRen\xe9e\n")])],
    [
      "a name and an odd byte on one line",
      Buffer.from("Jürgen M\xfcller\n".replace("ü", "\xc3\xbc"), "latin1"),
    ],
    ["a character that is cut off at the end", Buffer.from("Zoë\nZo\xc3".replace("ë", "\xc3\xab"), "latin1")],
  ])("are UTF-8 with %s", async (_name, bytes) => {
    expect((await csvOf(Buffer.concat([Buffer.from("name\n"), bytes]))).encoding).toBe("utf-8");
  });

  it.each([
    ["windows-1252", "José Núñez\nRenée Lefèvre\n"],
    ["windows-1251", "Пётр Иванов\nАнна Смирнова\n"],
    ["koi8-r", "Пётр Иванов\nАнна Смирнова\n"],
    ["windows-1250", "Łukasz Żółć\nPaweł Wójcik\nŚwiętosława Źdźbło\n"],
    ["windows-1253", "Γιώργος Παπαδόπουλος\nΜαρία\n"],
    ["windows-1256", "محمد علي\nفاطمة حسن\n"],
    ["macintosh", "Renée Lefèvre\nJürgen Müller\n"],
    ["shift_jis", "田中 太郎\n鈴木 花子\n"],
    ["euc-jp", "たなか 太郎さん\nすずき 花子さん\nお客様のお名前をご記入ください\n"],
    ["gb18030", "王伟\n李娜\n郑成\n"],
    ["big5", "王偉\n李娜\n陳小明\n這是我們的客戶\n他說他不來了\n"],
    ["euc-kr", "김민수\n이영희\n"],
    ["koi8-r", "Иван\nМария\nОльга\nСергей\n"],
    ["ibm866", "Иван\nМария\nОльга\nСергей\n"],
    ["iso-8859-5", "Иван\nМария\nОльга\nСергей\n"],
    ["koi8-u", "Євген\nЇжакевич\nІгор\n"],
    ["windows-1250", "Jiří Dvořák\nRůžena Čapková\n"],
    ["windows-1250", "Győző Tűzoltó\nBéla Kovács\n"],
    ["iso-8859-2", "Jiří Dvořák\nŠárka Růžičková\n"],
    ["windows-1254", "Şükrü Çağlar\nİbrahim Yıldız\n"],
    ["windows-1257", "Žydrūnas\nJūratė\nEglė\n"],
    ["windows-1255", "דוד כהן\nשרה לוי\n"],
    ["windows-874", "สมชาย\nประเสริฐ\n"],
    ["windows-1252", "François\nHélène\n"],
    ["windows-1252", "João\nConceição\n"],
    ["windows-1252", "„Müller“ Straße\nJörg\n"],
    ["macintosh", "Zoë\nMüller\n"],
  ])("%s is guessed, also behind much that is ASCII, and says so", async (encoding, names) => {
    const bytes = Buffer.concat([
      Buffer.from(`name\n${"plain\n".repeat(30_000)}`),
      iconv.encode(names, encoding),
    ]);
    const file = await csvOf(bytes);
    expect([file.encoding, file.isGuessed, file.warnings]).toEqual([
      encoding,
      true,
      [expect.stringContaining(`read as ${encoding}, which is a guess`)],
    ]);
    expect((await Array.fromAsync(file.rows())).slice(-2).map(({ cells }) => cells[0])).toEqual(
      names.trim().split("\n").slice(-2),
    );
  });

  it("ISO-2022-JP, which consists of ASCII bytes, is detected by its escapes", async () => {
    const bytes = latin("name\n\x1b$B;3ED\x1b(B\n");
    expect([(await csvOf(bytes)).encoding, await cellsOf(bytes)]).toEqual([
      "iso-2022-jp",
      [["name"], ["山田"]],
    ]);
  });

  it.each([
    "windows-1250",
    "windows-1254",
    "windows-1257",
    "iso-8859-2",
    "iso-8859-15",
    "macintosh",
    "shift_jis",
    "gbk",
    "utf-16le",
    "utf-16be",
    "cp437",
    "cp850",
    "cp852",
  ])("%s is read where the sender names it, and is no guess", async (name) => {
    const text = /jis|gb/.test(name) ? "山田" : name.startsWith("utf") ? "山é" : "é";
    const path = join(folder, `${files++}.csv`);
    await writeFile(path, iconv.encode(`name\n${text}\n`, name));
    const file = await openCsv(path, readEncodingName(name.toUpperCase()));
    expect([file.encoding, file.isGuessed, file.warnings]).toEqual([name, false, []]);
    expect((await Array.fromAsync(file.rows())).map(({ cells }) => cells[0])).toEqual(["name", text]);
  });

  it("that are unknown are refused with a list of known ones", () => {
    expect(readEncodingName("CP1252")).toBe("windows-1252");
    expect(readEncodingName("Latin 1")).toBe("iso-8859-1");
    expect(["CP850", "IBM-850", "DOS 850", "850"].map(readEncodingName)).toEqual(Array(4).fill("cp850"));
    expect(() => readEncodingName("klingon")).toThrow(/must be one of utf-8, .*shift_jis/);
  });

  it("characters on the border of two chunks are decoded", async () => {
    const cell = "é€😀".repeat(70_000);
    for (const shift of ["", "a", "ab", "abc"]) {
      const rows = [
        ["x", "y"],
        [shift + cell, "z"],
      ];
      const content = rows.map((row) => row.join(",")).join("\n");
      expect(await cellsOf(content)).toEqual(rows);
      expect(await cellsOf(swapped(`\ufeff${content}`))).toEqual(rows);
    }
  });

  it("a single NUL is text", async () => {
    expect(
      await cellsOf("email,name\na@b.example,x\0y\nc@d.example,z z z z z z z z z z z z z z z z"),
    ).toEqual([
      ["email", "name"],
      ["a@b.example", "x\0y"],
      ["c@d.example", "z z z z z z z z z z z z z z z z"],
    ]);
  });
});

describe("a file that is not CSV is refused with advice", () => {
  it.each([
    ["nothing", "", /empty/],
    ["blanks", " \r\n\t\n", /empty/],
    ["a byte order mark", "\ufeff", /empty/],
    ["a byte order mark of UTF-16", utf16("\ufeff\r\n"), /empty/],
    ["xlsx", Buffer.from("PK\x03\x04\x14\0\x06\0", "latin1"), /spreadsheet \(xlsx.*Save the table as CSV/],
    ["xls", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]), /old spreadsheet/],
    ["PNG", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), /PNG/],
    ["PDF", "%PDF-1.7", /PDF/],
    ["HTML", "\ufeff<!DOCTYPE html>\n<p>ada@example.com</p>", /web page.*Save the table as CSV/],
    ["a saved table of HTML", "\n<table border=1><tr><td>ada@example.com", /web page/],
    ["XML", '<?xml version="1.0"?><a>ada@example.com</a>', /XML/],
    ["a JSON array", '[\n  {"email":"ada@example.com"}]', /JSON/],
    ["JSON by lines", '{"email":"ada@example.com"}\n{"email":"bob@example.com"}\n', /JSON/],
    ["UTF-32", Buffer.from("fffe00006500000040000000", "hex"), /UTF-32/],
    ["UTF-32 of the other order", Buffer.from("0000feff0000006500000040", "hex"), /UTF-32/],
    [
      "random bytes",
      Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 7919 + (at >> 3)) % 256)),
      /not text/,
    ],
    ["NULs", Buffer.alloc(100_000), /not text|empty/],
    [
      "UTF-16 of an odd length",
      Buffer.concat([utf16("\ufeffemail\na@b"), Buffer.from("x")]),
      /starts like UTF-16LE/,
    ],
  ])("%s", async (_name, content, sentence) => {
    expect(await refusal(content)).toMatch(sentence);
  });

  it("but UTF-16 with one invalid character is read, and its row is known", async () => {
    const file = await csvOf(utf16(`\ufeffname\n${"Zoë\n".repeat(100)}Ann\ud800\nBob\n`));
    expect([file.encoding, file.warnings]).toEqual(["utf-16le", [expect.stringContaining("refused")]]);
    const broken = (await Array.fromAsync(file.rows())).filter(({ cells }) =>
      cells.some((cell) => file.isBroken(cell)),
    );
    expect(broken.map(({ line }) => line)).toEqual([102]);
  });

  it.each(["\ufeff\ufeff", "\ufeffï»¿", "ï»¿"])(
    "nor do the marks %j become part of the header",
    async (marks) => {
      expect(await cellsOf(`${marks}"Email",Name\na@x.example,Ann\n`)).toEqual([
        ["Email", "Name"],
        ["a@x.example", "Ann"],
      ]);
    },
  );

  it("but brackets at the start of a table are cells", async () => {
    const rows = [["[Email]"], ["{ada}@example.com"], ["<bob@example.com>"], ["<table@example.com>"]];
    for (const row of rows) expect(await cellsOf(row.join())).toEqual([row]);
  });

  it("a quotation mark that is never closed, by its line", async () => {
    expect(await refusal('a,b\n1,2\n"3,4\n5,6\n')).toMatch(/line 3 does not end/);
    expect(await refusal(`a,b\n1,2\n"3,4\n${"5,6\n".repeat(300_000)}`)).toMatch(
      /line 3 has more than 1,000,000/,
    );
    expect(await refusal(`a,b\n${"x".repeat(1_200_000)}\n`)).toMatch(
      /line 2 has more than 1,000,000 characters/,
    );
  });
});

describe("a file is refused by the line of", () => {
  it("text after a closing quotation mark", async () => {
    expect(await refusal('a,b,c\nr1,"foo,A\nr2,x,B\nr3,"y",C\n')).toMatch(
      /line 2 has text after a closing quotation mark/,
    );
  });

  it("a row of more than 1,000 cells", async () => {
    expect(await refusal(`Email${",c".repeat(200_000)}\n`)).toMatch(/line 1 has more than 1,000 cells/);
    expect(await refusal(`a,b\n1,2\n"3"${",".repeat(1_000)}\n`)).toMatch(/line 3 has more than 1,000 cells/);
    expect((await cellsOf(`${"a,".repeat(999)}a\n`))[0]).toHaveLength(1_000);
  });
});

describe("delimiters", () => {
  it.each([
    [",", "Email,First,Last\na@b.example,A,B\n"],
    [";", "Email;First;Last\na@b.example;A;B\n"],
    ["\t", "Email\tFirst\tLast\na@b.example\tA\tB\n"],
    ["|", "Email|First|Last\na@b.example|A|B\n"],
    [";", "Email;Price, net;City\na@b.example;1,50;Rome, Italy\n"],
    [";", 'Email;"a,b,c,d";City\n'],
    [",", 'Email,"Notes; long; text"\na@b.example,"x;y"\n'],
    [",", "Email\na@b.example\n"],
    [",", "Email,Name\na@b.example\n"],
    ["\t", "Email\tNotes\na@b.example\tone, two, three\n"],
    [";", "sep=;\nEmail;Name,x\n"],
    ["|", '"sep=|"\r\nEmail|a,b,c,d\r\n1|2\r\n'],
    ["\t", "sep=\\t\nEmail\tName,x;y;z\n"],
    [";", "sep=;;;\nEmail,a;Name;\n"],
    [";", "sep=;\rEmail;Name\ra@b.example;A,B\r"],
    [";", "Contacts of ACME\nEmail;First;Last\na@b.example;A;B\nc@d.example;C;D\n"],
    [";", "Contacts\n2018-10-11\nEmail;First\na@b.example;A, B\nc@d.example;C, D\n"],
    [",", "Email\na@b.example\nc@d.example;x\n"],
  ])("%j is found in %j", async (delimiter, content) => {
    expect((await csvOf(content)).delimiter).toBe(delimiter);
  });

  it("Excel's line sep= is not a row", async () => {
    expect(await cellsOf("sep=;\r\nEmail;Name\r\na@b.example;A\r\n")).toEqual([
      ["Email", "Name"],
      ["a@b.example", "A"],
    ]);
    expect(await linesOf("sep=;\nEmail;Name\na@b.example;A\n")).toEqual([2, 3]);
  });
});

describe("rows", () => {
  it("end with any line end, also mixed ones, and with the file", async () => {
    const rows = [
      ["a", "b"],
      ["1", "2"],
      ["3", "4"],
    ];
    for (const content of [
      "a,b\n1,2\n3,4",
      "a,b\r\n1,2\r\n3,4\r\n",
      "a,b\r1,2\r3,4\r",
      "a,b\r\n1,2\n3,4\r",
    ]) {
      expect(await cellsOf(content)).toEqual(rows);
    }
  });

  it("may be of any length", async () => {
    expect(await cellsOf("a,b,c\n1\n1,2,3,4,5\n,,\n")).toEqual([
      ["a", "b", "c"],
      ["1"],
      ["1", "2", "3", "4", "5"],
      ["", "", ""],
    ]);
  });

  it("may contain quotes that are not doubled", async () => {
    expect(await cellsOf('a,b\nBob "The" Smith,"x ""y"" z"\n')).toEqual([
      ["a", "b"],
      ['Bob "The" Smith', 'x "y" z'],
    ]);
  });

  it("know their line: blank lines and line breaks in cells count", async () => {
    expect(await linesOf('a,b\n\n1,2\n"x\ny\r\nz",2\r\n\r\n3,4\n')).toEqual([1, 3, 4, 8]);
  });

  it("leave no file open if the reader stops", async () => {
    const file = await csvOf("abc,def\n".repeat(200_000));
    for await (const { line } of file.rows()) if (line === 3) break;
    await expect.poll(openFiles).toEqual([]);
  });
});

async function openFiles(): Promise<string[]> {
  const numbers = await readdir("/proc/self/fd").catch(() => []);
  const paths = await Promise.all(
    numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => "")),
  );
  return paths.filter((path) => path.startsWith(folder));
}

test("every written table is read back, whatever its delimiter, line end and encoding", async () => {
  const cell = fc.oneof(
    fc.string({
      unit: fc.constantFrom("a", "é", "1", " ", ",", ";", "\t", "|", '"', "\n", "\r", "\r\n", "'"),
    }),
    fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\0", "")),
  );
  const table = fc
    .integer({ min: 2, max: 5 })
    .chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 20 }),
    );
  const write = (rows: string[][], delimiter: string, end: string) =>
    rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter) + end).join("");
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.constantFrom(",", ";", "\t", "|"),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.boolean(),
      async (rows, delimiter, end, isWide) => {
        const header = (rows[0] ?? []).map((_, at) => `column ${at}`);
        const text = header.join(delimiter) + end + write(rows, delimiter, end);
        const content = isWide ? utf16(`\ufeff${text}`) : Buffer.from(`\ufeff${text}`);
        expect(await cellsOf(content)).toEqual([header, ...rows]);
      },
    ),
    { numRuns: 300 },
  );
});

const corpora = process.env.POSTHASTE_CORPORA ?? join(import.meta.dirname, "../../../../shared/corpora");
const spectrum = join(corpora, "csv-spectrum");
describe.skipIf(!existsSync(spectrum))("csv-spectrum", async () => {
  // The expected telephone number of location_coordinates is another than that of its row.
  const names = existsSync(spectrum)
    ? (await readdir(join(spectrum, "csvs"))).filter((name) => name !== "location_coordinates.csv")
    : [];
  it.each(names)("%s is read correctly", async (name) => {
    const [header = [], ...rows] = await cellsOf(readFileSync(join(spectrum, "csvs", name)));
    const expected: unknown = JSON.parse(
      readFileSync(join(spectrum, "json", name.replace(/csv$/, "json")), "utf8"),
    );
    expect(rows.map((cells) => Object.fromEntries(header.map((column, at) => [column, cells[at]])))).toEqual(
      expected,
    );
  });
});
