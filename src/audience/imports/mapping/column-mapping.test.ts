import { describe, expect, test } from "vitest";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { expectLinearCost } from "#test/support/cost.ts";
import { headerAmong, readColumns } from "./column-mapping.ts";

const field = (field_name: string, field_label = field_name) => ({ field_name, field_label }) as CustomField;

/** Which header each of our columns and fields has. */
function read(header: string, fields: readonly CustomField[] = []) {
  const {
    custom,
    width: _,
    headers: ___,
    unnamed: __,
    skipped,
    warnings: ____,
    optOuts: _____,
    ignored: ______,
    ...known
  } = readColumns(header.split(","), fields);
  const named = Object.entries(known).flatMap(([name, column]) => (column ? [[name, column.header]] : []));
  const own = custom.map((column) => [column.field.field_name, column.header]);
  const rest = skipped.map(({ header }) => header);
  return { ...Object.fromEntries([...named, ...own]), ...(rest.length > 0 && { skipped: rest }) };
}

test.each([
  [
    "a name before a label of another",
    "Email,city",
    [field("x", "City"), field("city", "Town")],
    { city: "city" },
  ],
  [
    "names as they are before names that only look alike",
    "Email,ab,a_b",
    [field("a_b"), field("ab")],
    { a_b: "a_b", ab: "ab" },
  ],
  [
    "a field's own name before what others call a column of ours",
    "Email,subscription_status",
    [field("subscription_status")],
    { subscription_status: "subscription_status" },
  ],
  ["Email before what others call it", "Mail,Email", [], { skipped: ["Mail"] }],
  [
    "what others call a column before a label",
    "Email,surname",
    [field("clan", "Surname")],
    { last_name: "surname" },
  ],
  ["our own names before fields' labels", "Email,Status", [field("state", "Status")], { status: "Status" }],
])("finds %s", (_what, header, fields, found) => {
  expect(read(header, fields)).toEqual({ email: "Email", ...found });
});

test("takes what others call the address where nothing is called Email", () => {
  expect(read("E-Mail Address,mail", [field("mail")])).toEqual({ email: "E-Mail Address", mail: "mail" });
});

test("a shortened header does not end in half a character", () => {
  const { skipped } = readColumns(["Email", `${"q".repeat(99)}😀?`], []);
  expect(skipped.map(({ header }) => header)).toEqual([`${"q".repeat(99)}�`]);
});

describe("a cell that looks like an address", () => {
  test.each([
    ["ann@corp.example", true],
    ["  ann@corp.example\t", true],
    ["a@b.c", true],
    ["a@b.c.", true],
    ["a@..c", true],
    ["@corp.example", false],
    ["ann@.c", false],
    ["ann@corp.", false],
    ["ann@corp", false],
    ["ann@corp@corp.example", false],
    ["ann lee@corp.example", false],
    ["ann@corp.example x", false],
  ])("%j: %s", (cell, isAddress) => {
    // No header is looked for below a row that holds an address.
    expect(headerAmong([{ cells: [cell] }, { cells: ["Email"] }])).toBe(isAddress ? 0 : 1);
  });

  test.each<[string, (size: number) => string]>([
    ["dots and a blank", (size) => `a@${".".repeat(size)} x`],
    ["dots and another @", (size) => `a@${"a.".repeat(size)}@`],
    ["blanks", (size) => `a${" ".repeat(size)}b`],
    ["@", (size) => "@".repeat(size)],
  ])("is looked at in linear time, however long: %s", (_, cellOf) => {
    expectLinearCost(250_000, cellOf, (cell) => headerAmong([{ cells: [cell] }, { cells: [cell] }]));
  });
});
