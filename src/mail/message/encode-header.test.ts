import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeDate,
  encodeMailbox,
  encodeParameter,
  encodeText,
  encodeValue,
  renderHeaders,
  renderMessage,
} from "./encode-header.ts";

const unfold = (value: string) => value.replaceAll("\r\n", "");
/** A reader by RFC 2047 section 6.2: blanks between two encoded-words are not shown. */
const decodeWords = (value: string) =>
  unfold(value)
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?UTF-8\?B\?([A-Za-z0-9+/=]*)\?=/g, (_, base64: string) =>
      Buffer.from(base64, "base64").toString(),
    );
const lines = (value: string, column: number) => `${" ".repeat(column)}${value}`.split("\r\n");

describe("header text", () => {
  test("reads as given, is ASCII, and wraps at 76", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 300 }),
        fc.integer({ min: 4, max: 40 }),
        (text, column) => {
          const encoded = encodeText(text, column);
          expect(decodeWords(encoded)).toBe(text);
          expect(encoded).toMatch(/^[ -~]*(?:\r\n [!-~][ -~]*)*$/);
          for (const line of lines(encoded, column))
            if (line.includes("=?")) expect(line.length).toBeLessThanOrEqual(76);
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ["Hello world", "Hello world"],
    ["=?utf-8?q?hidden?=", "=?UTF-8?B?PT91dGYtOD9xP2hpZGRlbj89?="],
    [" edge ", "=?UTF-8?B?IGVkZ2Ug?="],
    ["two  blanks", "=?UTF-8?B?dHdvICBibGFua3M=?="],
    ["Grüße", "=?UTF-8?B?R3LDvMOfZQ==?="],
  ])("%j is written %s", (text, written) => {
    expect(encodeText(text, 9)).toBe(written);
  });

  test("of 10,000 characters without a blank stays under 998 octets a line", () => {
    for (const text of ["x".repeat(10_000), "word ".repeat(2000).trim(), "😀".repeat(5000)]) {
      const encoded = encodeText(text, 9);
      expect(decodeWords(encoded)).toBe(text);
      expect(Math.max(...lines(encoded, 9).map((line) => line.length))).toBeLessThanOrEqual(76);
    }
  });
});

describe("a header value", () => {
  test("keeps its syntax and is folded only between words", () => {
    const value = `<https://t.example.com/u/${"x".repeat(60)}>, <mailto:u@example.com?subject=unsubscribe>`;
    expect(encodeValue(value, 18)).toBe(value.replace(" ", "\r\n "));
    expect(encodeValue("=?utf-8?q?meant?=", 10)).toBe("=?utf-8?q?meant?=");
    expect(encodeValue(" a  b ", 10)).toBe("a  b");
  });

  test("that fits no line is encoded", () => {
    expect(decodeWords(encodeValue("x".repeat(2000), 10))).toBe("x".repeat(2000));
    expect(decodeWords(encodeValue("größe", 10))).toBe("größe");
  });
});

describe("a mailbox", () => {
  test.each([
    [null, "a@example.com"],
    [" ", "a@example.com"],
    ["Jane Doe", "Jane Doe <a@example.com>"],
    ["Doe, Jane", '"Doe, Jane" <a@example.com>'],
    ['The "Boss" \\', '"The \\"Boss\\" \\\\" <a@example.com>'],
    ["ceo@bank.example", '"ceo@bank.example" <a@example.com>'],
    ["Jörg", "=?UTF-8?B?SsO2cmc=?= <a@example.com>"],
    ["=?utf-8?q?x?=", "=?UTF-8?B?PT91dGYtOD9xP3g/PQ==?= <a@example.com>"],
  ])("named %j is written %s", (name, written) => {
    expect(encodeMailbox({ name, address: "a@example.com" }, 6)).toBe(written);
  });

  test("puts its address on a new line if the name leaves no space", () => {
    const address = `${"a".repeat(60)}@example.com`;
    expect(encodeMailbox({ name: "Jane Doe", address }, 6)).toBe(`Jane Doe\r\n <${address}>`);
  });
});

describe("a parameter", () => {
  test.each([
    ["report.pdf", "filename=report.pdf"],
    ["my report.pdf", 'filename="my report.pdf"'],
    ['a"b\\c;d.txt', 'filename="a\\"b\\\\c;d.txt"'],
    ["Übersicht.pdf", "filename*=UTF-8''%C3%9Cbersicht.pdf"],
    ["it's (1) 50%*.ü", "filename*=UTF-8''it%27s%20%281%29%2050%25%2A.%C3%BC"],
    ["", 'filename=""'],
  ])("for %j is written %s", (value, written) => {
    expect(encodeParameter("filename", value)).toBe(written);
  });

  test("that is long is split into numbered segments (RFC 2231 section 3), never inside a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 61, maxLength: 300 }), (value) => {
        const segments = encodeParameter("filename", value).split(";\r\n ");
        const decoded = segments.map((segment, index) => {
          const start =
            segments.length === 1
              ? "filename*=UTF-8''"
              : `filename*${index}*=${index === 0 ? "UTF-8''" : ""}`;
          expect(segment.startsWith(start)).toBe(true);
          expect(segment.length).toBeLessThanOrEqual(76);
          return decodeURIComponent(segment.slice(start.length));
        });
        expect(decoded.join("")).toBe(value);
      }),
    );
  });
});

test("a date is in UTC and in the form of RFC 5322", () => {
  expect(encodeDate(new Date("2026-11-01T03:04:05.678+02:00"))).toBe("Sun, 01 Nov 2026 01:04:05 +0000");
});

describe("a rendered message", () => {
  test("is header fields, an empty line and the body, with UTF-8 if a value has it", () => {
    const rendered = renderMessage(
      [
        ["To", "jörg@example.com"],
        ["Subject", "a\r\n b"],
      ],
      ["bo", Buffer.from("dy\r\n")],
    );
    expect(rendered.toString()).toBe("To: jörg@example.com\r\nSubject: a\r\n b\r\n\r\nbody\r\n");
  });

  test.each([
    ["Subject", "a\r\nBcc: b@example.com"],
    ["Subject", "a\nBcc: b@example.com"],
    ["Subject", "a\rBcc: b@example.com"],
    ["Subject", "a\r\n\r\nbody"],
    ["Subject", "a\0"],
    ["Sub ject", "a"],
    ["Subject:", "a"],
    ["Übersicht", "a"],
    ["", "a"],
    ["X\r\nBcc", "a"],
  ])("never contains the field %j: %j", (name, value) => {
    expect(() => renderHeaders([[name, value]])).toThrow(/raw line break, NUL or an impossible name/);
  });
});
