/** Which column of a suppression file is taken: addresses where there are some, never the domains beside them. */
import { describe, expect, test } from "vitest";
import { createRecordReader } from "#platform/csv/record-parser.ts";
import { readEntryValue } from "./entry-value.ts";
import { findEntryColumn } from "./find-entry-column.ts";

async function read(text: string) {
  const reader = createRecordReader(",", 1_000_000);
  const rows = [...reader.push(text), ...reader.end()];
  const found = await findEntryColumn({
    async *batches() {
      yield rows;
    },
  });
  const taken = rows
    .filter(({ line }) => line > found.headerLine)
    .map(({ cells }) => cells[found.place] ?? "");
  return { ...found, entries: taken.map((cell) => readEntryValue(cell)?.normalized ?? null) };
}

describe("a file is searched for addresses under any header and in any column", () => {
  test.each([
    ["no header, a domain first", "corp.example,a@corp.example\nshop.example,b@shop.example\n", 1],
    ["no header, one row", "corp.example,a@corp.example\n", 1],
    ["unknown names", "Company website,Contact mail\ncorp.example,a@corp.example\n", 1],
    ["a name first", "Bob,a@corp.example\nAl,b@corp.example\n", 1],
    ["names like domains", "first.last,a@corp.example\nmail.ru,b@corp.example\n", 1],
    ["a number first", "1,a@corp.example\n2,b@corp.example\n", 1],
    ["a date first", "2024-01-01,a@corp.example\n", 1],
    ["Value", "ID,Value\n1,a@corp.example\n", 1],
    ["recipient", "id,recipient\n1,a@corp.example\n", 1],
    ["a named domain beside", "Domain,Contact\ncorp.example,a@corp.example\n", 1],
    ["a named domain before a name in another language", "Domain,Courriel\ncorp.example,a@corp.example\n", 1],
    ["a named address that is a street", "Address,Mailbox\nRome,a@corp.example\n", 1],
    ["a named email that is a yes", "Email,Contact\nyes,a@corp.example\n", 1],
    ["addresses far below", `x,y\n${"corp.example,\n".repeat(5_000)}corp.example,a@corp.example\n`, 1],
    ["a title above", "Suppressed in 2024\n\nID,Value\n1,a@corp.example\n", 1],
    ["a title above a known name", "Suppressed in 2024\n\nReason,Email\nbounce,a@corp.example\n", 1],
    ["a name round it", "id,who\n1,Ann <a@corp.example>\n", 1],
    ["one address in a note", "e,n\na@corp.example,\nb@corp.example,x@y.example\nc@corp.example,\n", 0],
  ])("%s", async (_name, text, place) => {
    const found = await read(text);
    expect(found.place).toBe(place);
    expect(found.entries).toContain("a@corp.example");
    expect(found.entries).not.toContain("corp.example");
    expect(found.warnings).toHaveLength(place > 0 && !/email\n|courriel/i.test(text) ? 1 : 0);
  });
});

describe("domains are only imported if no column holds addresses", () => {
  test.each([
    ["one a line", "corp.example\nshop.example\n", ["corp.example", "shop.example"]],
    ["a named column", "id,domain\n1,corp.example\n", ["corp.example"]],
    ["an unknown name", "ID,Host\n1,corp.example\n", ["corp.example"]],
    ["no header", "1,corp.example\n2,shop.example\n", ["corp.example", "shop.example"]],
    ["an email column of domains", "Name,Email\nA,@corp.example\n", ["corp.example"]],
  ])("%s", async (_name, text, entries) => {
    expect((await read(text)).entries).toEqual(entries);
  });
});

test("the column of entries may hold addresses and domains", async () => {
  const text = "id,entry_value,created_by\n1,corp.example,me@x.example\n2,a@y.example,me@x.example\n";
  expect((await read(text)).entries).toEqual(["corp.example", "a@y.example"]);
  const onlyDomains = "id,entry_value,created_by\n1,corp.example,me@x.example\n";
  expect((await read(onlyDomains)).entries).toEqual(["corp.example"]);
});

test("a file with two unnamed columns of addresses is refused", async () => {
  await expect(read("a@corp.example,x@us.example\nb@corp.example,y@us.example\n")).rejects.toThrow(
    /columns 1 and 2 hold addresses.*name the one email/,
  );
});

test("an unknown header of a single column counts as an invalid entry", async () => {
  expect((await read("Recipient\na@x.example\n")).entries).toEqual([null, "a@x.example"]);
});
