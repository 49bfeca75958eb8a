import { describe, expect, it } from "vitest";
import { smsSizeOf } from "./sms-parts.ts";

describe("smsSizeOf", () => {
  it.each([
    ["", "GSM-7", 0, 1, 160],
    ["a".repeat(160), "GSM-7", 160, 1, 0],
    ["a".repeat(161), "GSM-7", 161, 2, 145],
    ["5 €", "GSM-7", 4, 1, 156],
    ["ж".repeat(70), "UCS-2", 70, 1, 0],
    ["ж".repeat(71), "UCS-2", 71, 2, 63],
    ["😀", "UCS-2", 2, 1, 68],
  ] as const)("%j", (text, alphabet, characters, parts, left) => {
    expect(smsSizeOf(text)).toMatchObject({ alphabet, characters, parts, left });
  });

  it("names the character that needs the larger alphabet", () => {
    expect(smsSizeOf("Hello “Ada”").foreign).toBe("“");
  });
});
