import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeBase64, encodeQuotedPrintable, encodeTextContent } from "./transfer-encoding.ts";

/** A decoder by the rules of RFC 2045 section 6.7, for latin1 strings. */
function decodeQuotedPrintable(encoded: Buffer): Buffer {
  const text = encoded
    .toString("latin1")
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(text, "latin1");
}

function decode({ encoding, content }: ReturnType<typeof encodeTextContent>): string {
  if (encoding === "base64") return Buffer.from(content.toString("latin1"), "base64").toString();
  return (typeof content === "string" ? content : decodeQuotedPrintable(content)).toString();
}

const longestLine = (octets: Buffer | string) =>
  Math.max(
    ...octets
      .toString("latin1")
      .split("\r\n")
      .map((line) => line.length),
  );

const octets = fc
  .array(
    fc.oneof(fc.constantFrom(" ", "\t", "\r\n", "\r", "\n", "=", ".", "From ", "a", "ü", "\0"), fc.string()),
    {
      maxLength: 200,
    },
  )
  .map((pieces) => Buffer.from(pieces.join("")));

describe("quoted-printable", () => {
  test("decodes to the same octets and keeps the rules of RFC 2045", () => {
    fc.assert(
      fc.property(octets, (content) => {
        const encoded = encodeQuotedPrintable(content);
        expect(decodeQuotedPrintable(encoded)).toEqual(content);
        expect(longestLine(encoded)).toBeLessThanOrEqual(76);
        expect(encoded.toString("latin1")).toMatch(/^(?:[\t -<>-~]|=[0-9A-F]{2}|=?\r\n)*$/);
        expect(encoded.toString("latin1")).not.toMatch(/[\t ](?:\r\n|$)/);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    [74, "", 1],
    [75, "", 1],
    [76, "", 2],
    [72, " ", 1],
    [73, " ", 2],
    [75, " ", 2],
    [72, "=", 1],
    [73, "=", 2],
  ])("puts %i characters and %j into %i line(s)", (count, end, lines) => {
    const encoded = encodeQuotedPrintable(Buffer.from(`${"x".repeat(count)}${end}`));
    expect(encoded.toString().split("\r\n")).toHaveLength(lines);
    expect(longestLine(encoded)).toBeLessThanOrEqual(76);
  });
});

describe("base64", () => {
  test("has lines of 76 characters and decodes to the same octets", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (content) => {
        const encoded = encodeBase64(Buffer.from(content));
        expect(Buffer.from(encoded.toString(), "base64")).toEqual(Buffer.from(content));
        expect(longestLine(encoded)).toBeLessThanOrEqual(76);
        expect(encoded.toString()).toMatch(/^(?:[A-Za-z0-9+/=]{76}\r\n)*[A-Za-z0-9+/=]{0,76}$/);
      }),
    );
  });
});

describe("a text", () => {
  test.each([
    ["ASCII in short lines", "7bit", "Hello\n.\n..\nFrom here\n"],
    ["ASCII in a line of 998", "7bit", `${"x".repeat(998)}\nx`],
    ["ASCII in a line of 999", "quoted-printable", `x\n${"x".repeat(999)}`],
    ["NUL", "quoted-printable", "a\0b"],
    ["mostly ASCII", "quoted-printable", "Grüße aus Köln, mit vielen anderen Worten"],
    ["mostly Cyrillic", "base64", "Привет, как дела"],
    ["mostly Chinese", "base64", "你好,世界。".repeat(500)],
    ["nothing", "7bit", ""],
  ])("of %s is sent as %s", (_, encoding, text) => {
    const encoded = encodeTextContent(text);
    expect(encoded.encoding).toBe(encoding);
    expect(decode(encoded)).toBe(text.replaceAll("\n", "\r\n"));
  });

  test("arrives with CRLF for every kind of line break, and without octets that a relay may change", () => {
    const text = fc.array(
      fc.oneof(
        fc.constantFrom("\r", "\n", "\r\n", " ", "x".repeat(400), "\0"),
        fc.string({ unit: "binary" }),
      ),
    );
    fc.assert(
      fc.property(text, (pieces) => {
        const given = pieces.join("");
        const encoded = encodeTextContent(given);
        expect(decode(encoded)).toBe(given.replaceAll(/\r\n?|\n/g, "\r\n"));
        expect(encoded.content.toString("latin1")).toMatch(/^(?:[^\r\n\0\u0080-\u00ff]|\r\n)*$/);
        expect(longestLine(encoded.content)).toBeLessThanOrEqual(encoded.encoding === "7bit" ? 998 : 76);
      }),
      { numRuns: 500 },
    );
  });
});
