import fc from "fast-check";
import { expect, test } from "vitest";
import { LastRows } from "./duplicate-rows.ts";

test("the previous row with the same address is found, whatever lies between", () => {
  const address = fc.oneof(
    fc.integer({ min: 0, max: 50 }).map((n) => `p${n}@example.com`),
    fc.emailAddress(),
  );
  fc.assert(
    fc.property(fc.array(address, { maxLength: 500 }), (addresses) => {
      const oracle = new Map<string, number>();
      const rows = new LastRows(addresses.length % 3 === 0 ? 100_000 : 0);
      for (const [row, email] of addresses.entries()) {
        expect(rows.note(email, row)).toBe(oracle.get(email));
        oracle.set(email, row);
      }
    }),
  );
});

test("a hundred thousand addresses that differ in one digit are distinguished", () => {
  const rows = new LastRows();
  const addresses = Array.from({ length: 100_000 }, (_, at) => `person${at}@example.com`);
  expect(addresses.filter((email, row) => rows.note(email, row) !== undefined)).toEqual([]);
  expect(addresses.filter((email, row) => rows.note(email, row + 100_000) !== row)).toEqual([]);
});
