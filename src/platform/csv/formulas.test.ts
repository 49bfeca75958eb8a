import fc from "fast-check";
import { expect, test } from "vitest";
import { guardFormula, unguardFormula } from "./formulas.ts";

const text = fc.string({
  unit: fc.constantFrom("'", "=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "a", " "),
  maxLength: 6,
});

test("no guarded text is a formula, and each is restored unchanged", () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(guardFormula(given)).not.toMatch(/^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/);
      expect(unguardFormula(guardFormula(given))).toBe(given);
    }),
    { numRuns: 2_000 },
  );
});

test("a text that is not a formula is unchanged", () => {
  for (const plain of ["", "a", "'", "'a", "O'Neill", "1-2", " =1"]) {
    expect(guardFormula(plain)).toBe(plain);
    expect(unguardFormula(plain)).toBe(plain);
  }
});
