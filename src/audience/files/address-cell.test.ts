import fc from "fast-check";
import { expect, test } from "vitest";
import { normalizeAddress, parseAddress } from "#mail/address.ts";
import { guardFormula } from "#platform/csv/formulas.ts";
import { addressInCell, cellOfAddress, readAddress } from "./address-cell.ts";

test("the fast check reads an address as the grammar does", () => {
  const piece = fc.string({
    unit: fc.constantFrom("a", "Z", "7", "-", "_", "+", ".", "é", "\u212a", "İ", " ", '"'),
    maxLength: 6,
  });
  const address = fc.oneof(
    fc.tuple(piece, piece, piece).map(([local, domain, top]) => `${local}@${domain}.${top}`),
    fc.emailAddress(),
    fc
      .tuple(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 1, max: 70 }))
      .map(([local, label]) => `${"l".repeat(local)}@${"d".repeat(label)}.com`),
  );
  fc.assert(
    fc.property(address, (text) => {
      const parsed = parseAddress(text);
      const expected = parsed.ok
        ? { ok: true, email: normalizeAddress(text) }
        : { ok: false, message: parsed.message };
      expect(readAddress(text)).toEqual(expected);
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  ["'p@x.example", "p@x.example"],
  ["'p@x.example'", "p@x.example"],
  [" 'p@x.example ", "p@x.example"],
  ["'=p@x.example", "=p@x.example"],
  ["o'neill@x.example", "o'neill@x.example"],
  ["'", "'"],
])("the apostrophe of a spreadsheet is no part of the address: %s", (cell, address) => {
  expect(addressInCell(cell)).toBe(address);
});

test.each(["p@x.example", "'p@x.example", "''p@x.example", "=p@x.example", "'=p@x.example", "-p@x.example"])(
  "%s comes back from an export as it was",
  (address) => {
    expect(addressInCell(guardFormula(cellOfAddress(address)))).toBe(address);
  },
);
