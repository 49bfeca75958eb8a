import { describe, expect, it, test, vi } from "vitest";
import { readEntryValue, splitEntries } from "./entry-value.ts";

const normalized = (text: string) => readEntryValue(text)?.normalized;

describe("an address is the same entry in every spelling", () => {
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

  it("except for tags and dots", () => {
    expect(normalized("ada+shop@example.com")).toBe("ada+shop@example.com");
    expect(normalized("a.da@example.com")).toBe("a.da@example.com");
  });
});

test.each(["example.com", "@example.com", " @Example.COM. ", '"example.com"'])("%j is a domain", (text) => {
  expect(readEntryValue(text)).toMatchObject({ normalized: "example.com", type: "domain" });
});

test("a value is stored as given, without quotes and blanks around it", () => {
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

test("a text is split at line ends, commas and semicolons; blank items are ignored", () => {
  const text = "a\r\nb\nc\rd,e;f,,; \r\n\t\n\"\"\n'g'";
  expect(splitEntries(text, 10)).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
});

it.each([
  ["exactly as many", "a\n".repeat(10), 10],
  ["blank lines round them", `\n \n;,${" a ,\n\n".repeat(10)}\n ;`, 10],
  ["one more", "a\n".repeat(11), undefined],
  ["many more", "a\n".repeat(1_300_000), undefined],
  ["nothing but separators", ";\n ,".repeat(1_000_000), 0],
  ["one long piece", "a".repeat(4_000_000), 1],
  ["blanks alone", " ".repeat(4_000_000), 0],
])("a text is split into no more entries than are taken: %s", (_what, text, entries) => {
  const split = vi.spyOn(String.prototype, "trim");
  expect(splitEntries(text, 10)?.length).toBe(entries);
  // Each piece is trimmed.
  expect(split.mock.calls.length).toBeLessThan(20);
  split.mockRestore();
});
