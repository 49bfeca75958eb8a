import { beforeEach, describe, expect, it } from "vitest";
import { suppressionService } from "#test/support/suppression.ts";

const { create, add, valuesOf, upload, countOf } = await suppressionService();

describe("an import", () => {
  let id: string;
  beforeEach(async () => {
    ({ id } = await create());
  });

  it.each([
    ["one a line", "ada@example.com\nbob@example.com\n@example.org\n"],
    [
      "a named column",
      "Name;E-Mail Address;Note\nAda;ada@example.com;x\nBob;bob@example.com;\nO;example.org;\n",
    ],
    [
      "a column named in another language",
      "Nom;Adresse e-mail\nAda;ada@example.com\nBob;bob@example.com\nO;example.org\n",
    ],
    [
      "entry_value, as it is exported",
      "id,entry_value\n1,ada@example.com\n2,bob@example.com\n3,example.org\n",
    ],
    ["the first column of a file without a header", "ada@example.com,1\nbob@example.com,2\nexample.org,3\n"],
    [
      "email before any address",
      "Address,Email\nRome,ada@example.com\nParis,bob@example.com\nOslo,example.org\n",
    ],
  ])("reads %s", async (_name, content) => {
    const { status, body } = await upload(id, content);
    expect([status, body.data]).toEqual([200, { added: 3, duplicates: 0, invalid: 0, message: "3 added" }]);
    expect((await valuesOf(id)).sort()).toEqual(["ada@example.com", "bob@example.com", "example.org"]);
  });

  it("removes the apostrophe that an export of subscribers puts before a formula", async () => {
    await upload(
      id,
      "Email\n'-x@example.com\n'+y@example.com\n'=z@example.com\n''o@example.com\n'p@example.com\n",
    );
    expect((await valuesOf(id)).sort()).toEqual([
      "'o@example.com",
      "+y@example.com",
      "-x@example.com",
      "=z@example.com",
      "p@example.com",
    ]);
  });

  it("counts existing, repeated and invalid values, and ignores blank ones", async () => {
    await add(id, "ada@example.com");
    const { body } = await upload(
      id,
      "email,n\nADA@example.com,1\nbob@example.com,2\n,3\nbob@example.com,4\nnobody,5\n",
    );
    expect(body.data).toMatchObject({ added: 1, duplicates: 2, invalid: 1 });
    expect(await countOf(id)).toBe(2);
  });

  it("finds duplicates far apart, and reads UTF-16", async () => {
    const rows = Array.from({ length: 12_000 }, (_, at) => `a${at % 6_000}@example.com`);
    const { body } = await upload(
      id,
      new Uint8Array(Buffer.from(`\ufeffemail\r\n${rows.join("\r\n")}`, "utf16le")),
    );
    expect(body.data).toMatchObject({ added: 6_000, duplicates: 6_000, invalid: 0 });
    expect(await countOf(id)).toBe(6_000);
  });

  it("adds all valid rows in spite of an invalid byte in another column", async () => {
    const rows =
      "email,name\nj\xc3\xbcrgen@example.com,J\xc3\xbcrgen\nada@example.com,M\xfcller\nodd\xfc@example.com,x\n";
    const content = new Uint8Array(Buffer.from(rows, "latin1"));
    const { body } = await upload(id, content);
    expect(body.data).toMatchObject({
      added: 2,
      invalid: 1,
      warnings: [expect.stringContaining("2 lines contain invalid bytes")],
    });
    expect((await valuesOf(id)).sort()).toEqual(["ada@example.com", "jürgen@example.com"]);
  });

  it.each([
    ["empty", ""],
    ["without an entry", "email\nnobody\n"],
    ["a header alone", "email\n"],
    ["no text", new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0, 0])],
    [
      "broken off in the middle",
      `email\n${"a@example.com\n".repeat(6_000)}"b@example.com\n${"c\n".repeat(600_000)}`,
    ],
  ])("of a file that is %s adds nothing", async (_name, content) => {
    const { status, body } = await upload(id, content);
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(await countOf(id)).toBe(0);
  });
});
