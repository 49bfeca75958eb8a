import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { namesHost, readStsPolicy, readStsRecord } from "./mta-sts.ts";

describe("the record", () => {
  test.each([
    [["v=STSv1; id=20160831085700Z;"], "20160831085700Z"],
    [["v=STSv1;id=1"], "1"],
    [["google-site-verification=x", "v=STSv1; id=a1"], "a1"],
    [["v=STSv1; unknown=yes; id = a1 ;"], "a1"],
    [[], null],
    [["v=STSv1; id="], null],
    [["v=STSv1; id=has-dash"], null],
    [["v=STSv2; id=1"], null],
    [["v=STSv1x; id=1"], null],
    [["id=1; v=STSv1"], null],
    [["v=STSv1; id=1", "v=STSv1; id=2"], null],
  ])("%j has the id %s", (records, id) => {
    expect(readStsRecord(records)).toBe(id);
  });
});

describe("the policy", () => {
  test("is parsed as in RFC 8461 section 3.2", () => {
    const text =
      "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.Example.NET.\r\nmx: backupmx.example.com\r\nmax_age: 604800\r\n";
    expect(readStsPolicy(text)).toEqual({
      policy: {
        mode: "enforce",
        mx: ["mail.example.com", "*.example.net", "backupmx.example.com"],
        maxAgeSeconds: 604_800,
      },
    });
  });

  test.each([" ", "\t", ":", " :", "a", "a:"])("of a line of many %j is parsed in linear time", (piece) => {
    expectLinearCost(
      16_384,
      (size) => `version: a${piece.repeat(size / piece.length)}b`,
      (text) => expect(readStsPolicy(text)).toHaveProperty("fault"),
    );
  });

  test("mode none needs no hosts, and max_age is limited to a year", () => {
    expect(readStsPolicy("version: STSv1\nmode: none\nmax_age: 9999999999\n")).toEqual({
      policy: { mode: "none", mx: [], maxAgeSeconds: 31_557_600 },
    });
  });

  test.each([
    ["mode: enforce\nmx: a.example\nmax_age: 1", "version"],
    ["version: STSv2\nmode: enforce\nmx: a.example\nmax_age: 1", "version"],
    ["version: STSv1\nmode: strict\nmx: a.example\nmax_age: 1", "mode"],
    ["version: STSv1\nmode: enforce\nmx: a.example", "max_age"],
    ["version: STSv1\nmode: enforce\nmx: a.example\nmax_age: -1", "max_age"],
    ["version: STSv1\nmode: enforce\nmax_age: 1", "no mx"],
    ["version: STSv1\nmode: enforce\nmx: a b\nmax_age: 1", "host name"],
    ["version: STSv1\nmode: enforce\nmx: a.*.example\nmax_age: 1", "host name"],
    ["<html>not found</html>", "version"],
    [`version: STSv1\nmode: enforce\n${"mx: a.example\n".repeat(101)}max_age: 1`, "more than"],
  ])("%j is refused", (text, why) => {
    expect(readStsPolicy(text)).toEqual({ fault: expect.stringContaining(why) });
  });

  test("never throws", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void readStsPolicy(text)));
  });
});

test.each([
  ["mail.example.com", "mail.example.com", true],
  ["mail.example.com", "MAIL.example.com.", true],
  ["*.example.com", "mail.example.com", true],
  ["*.example.com", "a.mail.example.com", false],
  ["*.example.com", "example.com", false],
  ["example.com", "mail.example.com", false],
  ["*.com", "com", false],
])("%s names %s: %s", (pattern, host, isNamed) => {
  expect(namesHost({ mode: "enforce", mx: [pattern], maxAgeSeconds: 1 }, host)).toBe(isNamed);
});
