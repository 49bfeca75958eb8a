import { describe, expect, test } from "vitest";
import { expectConstantCost } from "#test/support/cost.ts";
import { readHeaderSection, unfold } from "./header-section.ts";

const read = (...lines: string[]) => readHeaderSection(Buffer.from(lines.join("\r\n")));

test("fields keep their order, their folds and their offsets in the message", () => {
  const message = Buffer.from(
    "A:1\r\nSubject: Gr\u00fc\r\n \u00dfe\r\n\tx\r\nA: 2\r\n\r\nBody: no field\r\n",
  );
  const section = readHeaderSection(message);
  expect(section).toMatchObject({
    ok: true,
    fields: [
      { name: "A", value: "1" },
      { name: "Subject", value: " Gr\u00fc\r\n \u00dfe\r\n\tx" },
      { name: "A", value: " 2" },
    ],
  });
  if (!section.ok) throw new Error(section.fault);
  const octets = section.fields.map(({ start, end }) => message.subarray(start, end));
  expect(Buffer.concat(octets).toString()).toBe(message.toString().split("\r\n\r\n")[0]?.concat("\r\n"));
  expect(message.subarray(section.bodyStart).toString()).toBe("Body: no field\r\n");
});

test("a message may be all header, or all body", () => {
  expect(read("A: 1", "")).toMatchObject({ ok: true, fields: [{ name: "A" }], bodyStart: 6 });
  expect(read("", "A: 1", "", "")).toMatchObject({ ok: true, fields: [], bodyStart: 2 });
});

describe("an untrusted header", () => {
  const limits = { octets: 60, fields: 3 };
  const large = { ok: false, fault: "The header is larger than 60 octets or 3 fields.", isTooLarge: true };
  const readLimited = (message: string) => readHeaderSection(Buffer.from(message), limits);

  test("may reach its limits, whatever the size of the body", () => {
    const filled = `A: ${"x".repeat(55)}\r\n`;
    expect(filled).toHaveLength(60);
    expect(readLimited(`${filled}\r\n${"b".repeat(100)}`)).toMatchObject({ ok: true, bodyStart: 62 });
    expect(readLimited("A: 1\r\nB: 2\r\nC: 3\r\n\r\nD: 4\r\n")).toMatchObject({ ok: true });
    expect(readLimited(`A: x${filled.slice(3)}\r\n`)).toEqual(large);
    expect(readLimited("A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n\r\n")).toEqual(large);
    expect(readLimited("A: 1\r\n".repeat(11))).toEqual(large);
  });

  test("of millions of fields costs no more than its limits", () => {
    expectConstantCost(
      1_000_000,
      (fields) => Buffer.from("a:\r\n".repeat(fields)),
      (message) =>
        expect(readHeaderSection(message, { octets: 102_400, fields: 1_000 })).toMatchObject({
          isTooLarge: true,
        }),
    );
  });
});

describe("is a fault:", () => {
  test.each([
    ["a blank before the colon", ["From : a", "", ""], "Line 1 of the header is not a field."],
    ["a line without a colon", ["A: 1", "nonsense", "", "a: b"], "Line 2 of the header is not a field."],
    ["a continuation of nothing", [" A: 1", "", ""], "Line 1 of the header is not a field."],
    ["a name with 8-bit characters", ["\u00c4: 1", "", ""], "Line 1 of the header is not a field."],
    ["a line of blanks", ["A: 1", " \t", "B: 2", "", ""], "Line 2 of the header contains only blanks."],
    ["a line without an end", ["A: 1", "B: 2"], "The header ends in the middle of a line."],
  ])("%s", (_what, lines, fault) => {
    expect(read(...lines)).toEqual({ ok: false, fault, isTooLarge: false });
  });

  test("octets that are not UTF-8", () => {
    expect(readHeaderSection(Buffer.from("A: \xff\r\n\r\n", "latin1"))).toMatchObject({ ok: false });
  });
});

test("unfolding returns one line", () => {
  expect(unfold(" a\r\n\tb \r\n c ")).toBe("a b  c");
});
