import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ApiError } from "#platform/errors.ts";
import { parsedJson, parseJsonBody } from "./json-body.ts";
import { scanJson } from "./json-scan.ts";

function refusalOf(text: string): ApiError {
  try {
    parseJsonBody(text);
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
    throw thrown;
  }
  throw new Error("was not refused");
}

describe("a JSON body", () => {
  it("is parsed like JSON.parse, for all values that can be stored", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, stringUnit: "binary" }), (value) => {
        const text = JSON.stringify(value, (_key, part: unknown) =>
          typeof part === "number" && Math.abs(part) > Number.MAX_SAFE_INTEGER ? 0 : part,
        );
        // A NUL or half a pair can only stand as an escape; "-0" does not survive JSON.
        fc.pre(
          !/\\u(0000|d[89a-f])/.test(text) && !text.includes("__proto__") && !text.includes("constructor"),
        );
        expect(parseJsonBody(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":{"c":[{"d":1,\n"d"\t:2}]}}',
    '{"a":"x","\\u0061":"y"}',
    '{"a":"quoted \\" and \\\\","a":"\\":"}',
  ])("with a field that stands twice in one object is refused: %s", (text) => {
    expect(() => JSON.parse(text)).not.toThrow();
    const { code, message } = refusalOf(text);
    expect(code).toBe("VALIDATION_ERROR");
    expect(message).toBe("An object in the body has the same field twice");
  });

  it("may have a field once in each object, and anything inside of strings and arrays", () => {
    for (const text of [
      '{"a":{"a":[{"a":1},{"a":2}]},"A":"\\"a\\":1","":":"}',
      '["a","a:",":","\\\\"]',
      '{"a" \r\n: "b:\\\\", "b":"\\\\\\":"}',
      '{"constructor":{"a":{"b":1}},"prototype":{"c":1},"d":1}',
      '"a"',
    ]) {
      expect(() => parseJsonBody(text)).not.toThrow();
    }
  });

  it("is undefined if it is empty", () => {
    expect(parseJsonBody("")).toBeUndefined();
    expect(parseJsonBody(" \r\n ")).toBeUndefined();
  });

  it("may begin with a byte order mark", () => {
    expect(parseJsonBody('\uFEFF{"a":1}')).toEqual({ a: 1 });
  });

  it.each(["{", '{"a":1}}', "{'a':1}", '{"a":1,}', "nul", "[1 2]", '"a', "{\u0000}", "NaN"])(
    "that is no JSON is refused, and it says where: %j",
    (text) => {
      const { code, message } = refusalOf(text);
      expect(code).toBe("VALIDATION_ERROR");
      expect(message).toMatch(/^The body is not valid JSON: ./);
      expect(message.length).toBeLessThan(300);
    },
  );

  it.each([
    ['{"a":"x\\u0000y"}', "a"],
    ['{"a":{"b":["ok","\\u0000"]}}', "a.b[1]"],
    ['{"a":{"k\\u0000":1}}', "a"],
    ['"\\u0000"', "body"],
    ['[{"subject":"\\ud800"}]', "[0].subject"],
    ['{"a":"\\uDC00 alone"}', "a"],
  ])("with what PostgreSQL cannot store is refused by field: %s", (text, field) => {
    expect(refusalOf(text).details).toEqual([
      { field, message: `${field} must not contain NUL characters or lone surrogates` },
    ]);
  });

  it.each([
    ['{"a":9007199254740993}', "a"],
    ['{"a":{"b":[1,-9007199254740992]}}', "a.b[1]"],
    ['[{"a":1e400}]', "[0].a"],
    ["-1e400", "body"],
  ])("with a number that could not be kept to the last digit is refused by field: %s", (text, field) => {
    expect(refusalOf(text).details).toMatchObject([{ field, message: expect.stringContaining("as text") }]);
  });

  it("may hold every whole number that is kept to the last digit, and larger ones as text", () => {
    for (const value of [2 ** 53 - 1, 1 - 2 ** 53, 0.1, "9007199254740993", "1e400"]) {
      expect(parseJsonBody(JSON.stringify({ value }))).toEqual({ value });
    }
  });

  it("may contain a surrogate pair and an escaped backslash", () => {
    expect(parseJsonBody('{"a":"\\ud83d\\ude00","b":"\\\\u0000"}')).toEqual({ a: "😀", b: "\\u0000" });
  });

  it.each([
    ['{"__proto__":{"polluted":1}}', "__proto__"],
    ['{"a":[{"\\u005f_proto__":null}]}', "a[0].__proto__"],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['{"a":{"constructor":{"prototype":{"polluted":1}}},"b":1}', "a.constructor.prototype"],
  ])("with a field that could change a prototype is refused by field: %s", (text, field) => {
    expect(refusalOf(text).details).toEqual([
      { field, message: `${field} is not allowed: use another name for the field` },
    ]);
  });

  it("may nest 63 levels deep, not 65, and 100,000 levels cost no stack", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(() => parseJsonBody(nested(64))).not.toThrow();
    expect(refusalOf(nested(65)).message).toBe("The body is nested deeper than 64 levels");
    expect(refusalOf(nested(100_000)).code).toBe("VALIDATION_ERROR");
    expect(refusalOf(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`).code).toBe("VALIDATION_ERROR");
  });

  it.each([
    ["a name", `{"${"n".repeat(1_001)}":1}`, "field name"],
    ["a name of 25 MB", `{"a":{"${"n".repeat(25_000_000)}" : 1}}`, "field name"],
    ["a name of escapes", `[{"a":1,"${"\\u0041".repeat(167)}":1}]`, "field name"],
    ["a number", `{"a":${"9".repeat(1_001)}}`, "value without quotes"],
    ["a number of 25 MB", `[-${"9".repeat(25_000_000)}]`, "value without quotes"],
    ["a fraction", `[0.${"1".repeat(1_000)}]`, "value without quotes"],
    ["what is no JSON", "x".repeat(30_000), "value without quotes"],
  ])("with %s that is too long is refused before it is parsed", (_what, text, what) => {
    const parse = vi.spyOn(JSON, "parse");
    const { code, message } = refusalOf(text);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
    expect(code).toBe("VALIDATION_ERROR");
    expect(message).toBe(`The body has a ${what} of more than 1,000 characters`);
  });

  it("may hold names and numbers of 1,000 characters, and texts of any length", () => {
    const name = "n".repeat(1_000);
    expect(parseJsonBody(`{"${name}":0.${"1".repeat(998)},"a":"${"x".repeat(5_000)}"}`)).toEqual({
      [name]: 1 / 9,
      a: "x".repeat(5_000),
    });
  });

  it("may have 2,000 fields in one object, and not more", () => {
    const withFields = (count: number) =>
      JSON.stringify({ a: [Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]))] });
    expect(() => parseJsonBody(withFields(2_000))).not.toThrow();
    const message = "a[0] must have at most 2,000 fields, and has 45,000";
    expect(refusalOf(withFields(45_000)).details).toEqual([{ field: "a[0]", message }]);
    expect(() => parsedJson("custom_fields", `{${'"k":1,'.repeat(2_500)}"l":1}`)).toThrow(/twice/);
  });

  it("is limited in values and field names before it is parsed", () => {
    const count = (value: unknown): number => {
      if (Array.isArray(value)) return 1 + value.reduce((sum: number, item) => sum + count(item), 0);
      if (typeof value !== "object" || value === null) return 1;
      return 1 + Object.values(value).reduce((sum: number, item) => sum + 1 + count(item), 0);
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, stringUnit: "binary" }), fc.nat(2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(scanJson(text, Infinity, Infinity, { name: Infinity, word: Infinity }).elements).toBe(
          count(value),
        );
      }),
    );
  });

  it.each([
    ["objects", "{},", "{}"],
    ["arrays", "[[],[]],", "[]"],
    ["texts", '"",', '""'],
    ["numbers", "1,", "1"],
    ["words", "null,", "null"],
    ["fields", '{"a":1},', "{}"],
  ])("of more than 100,000 %s is refused, and the refusal names the limit", (_what, element, last) => {
    const text = `[${element.repeat(100_000)}${last}]`;
    expect(refusalOf(text).message).toBe("The body has more than 100,000 values and field names together");
  });

  it("in a text field is limited to a tenth of that, and refused with the name of the field", () => {
    const refusal = (given: string) => {
      try {
        return parsedJson("rules", given);
      } catch (fault) {
        return (fault as ApiError).details;
      }
    };
    const message = "rules has more than 10,000 values and field names together";
    expect(refusal(`[${"1,".repeat(9_998)}1]`)).toHaveLength(9_999);
    expect(refusal(`[${"1,".repeat(10_000)}1]`)).toEqual([{ field: "rules", message }]);
    expect(refusal("[")).toEqual([{ field: "rules", message: "rules is not valid JSON" }]);
  });

  it("of ten million characters is read at once", () => {
    const long = "x".repeat(10_000_000);
    expect(parseJsonBody(JSON.stringify({ long }))).toEqual({ long });
  });
});
