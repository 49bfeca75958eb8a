import { describe, expect, it, test } from "vitest";
import { readEntryValue, splitEntries } from "./entry-value.ts";

const normalized = (text: string) => readEntryValue(text)?.normalized;

describe("an address is one entry however it is written", () => {
  it.each([
    "user@example.com",
    "User@EXAMPLE.com",
    " user@example.com\t",
    "\u00a0user@example.com\u200a",
    '"user@example.com"',
    "'user@example.com'",
    "“user@example.com”",
    "user@example.com.",
    "Ada Lovelace <user@Example.com>",
    "<user@example.com>",
  ])("%j", (text) => {
    expect(readEntryValue(text)).toMatchObject({ normalized: "user@example.com", type: "email" });
  });

  it("in any Unicode form and script of the domain", () => {
    expect(normalized("zoe\u0308@münchen.example")).toBe("zo\u00eb@xn--mnchen-3ya.example");
    expect(normalized("ZO\u00cb@MU\u0308NCHEN.example")).toBe("zo\u00eb@xn--mnchen-3ya.example");
    expect(normalized("zo\u00eb@xn--mnchen-3ya.example")).toBe("zo\u00eb@xn--mnchen-3ya.example");
  });

  it("but tags and dots tell people apart", () => {
    expect(normalized("ada+shop@example.com")).toBe("ada+shop@example.com");
    expect(normalized("a.da@example.com")).toBe("a.da@example.com");
  });
});

test.each(["example.com", "@example.com", " @Example.COM. ", '"example.com"'])("%j is a domain", (text) => {
  expect(readEntryValue(text)).toMatchObject({ normalized: "example.com", type: "domain" });
});

test("a value is kept as it was given, without what stood round it", () => {
  expect(readEntryValue(' "Ada@Example.com." ')?.value).toBe("Ada@Example.com.");
});

test.each([
  "",
  "@",
  "ada",
  "ada@",
  "a b@example.com",
  "ada@localhost",
  "http://example.com",
  "127.0.0.1",
  "*@example.com",
  "*.example.com",
])("%j is neither", (text) => expect(readEntryValue(text)).toBeUndefined());

test("a text is parted by line ends of every kind, commas and semicolons, and blanks are none", () => {
  expect(splitEntries("a\r\nb\nc\rd,e;f,,; \r\n\t\n\"\"\n'g'")).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
});
