import fc from "fast-check";
import { expect, test } from "vitest";
import { guardFormula, unguardFormula } from "./formulas.ts";

const text = fc.string({
  unit: fc.constantFrom("'", "=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "a", " "),
  maxLength: 6,
});

test("no guarded text begins a formula, and each comes back as it was", () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(guardFormula(given)).not.toMatch(/^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/);
      expect(unguardFormula(guardFormula(given))).toBe(given);
    }),
    { numRuns: 2_000 },
  );
});

test("a text that is no formula stays as it is", () => {
  for (const plain of ["", "a", "'", "'a", "O'Neill", "1-2", " =1"]) {
    expect(guardFormula(plain)).toBe(plain);
    expect(unguardFormula(plain)).toBe(plain);
  }
});
