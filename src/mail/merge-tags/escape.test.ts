import fc from "fast-check";
import { Parser } from "htmlparser2";
import { Liquid } from "liquidjs";
import { describe, expect, test } from "vitest";
import { headerTextFault } from "#mail/address.ts";
import {
  cleanLine,
  cleanText,
  escapeHtml,
  escapeMailbox,
  escapeUnquoted,
  escapeUrl,
  escapeUrlPart,
  textOf,
} from "./escape.ts";

/** Hostile names. */
const value = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom(
        "<",
        ">",
        "&",
        '"',
        "'",
        "`",
        "=",
        " ",
        "\r\n",
        "\t",
        "/",
        "\0",
        "\u2028",
        "\ud800",
        "é",
        "a",
      ),
    )
    .map((parts) => parts.join("")),
);

function attributesOf(html: string): Record<string, string> {
  const read: Record<string, string> = {};
  const parser = new Parser({ onattribute: (name, text) => (read[name] = text) });
  parser.end(html);
  return read;
}

describe("a value", () => {
  test.each([
    ["a", "a"],
    [null, ""],
    [undefined, ""],
    [12.5, "12.5"],
    [false, "false"],
    [["a", 1, null], "a1"],
    [{ a: 1 }, ""],
  ])("%j is the text %j", (given, text) => {
    expect(textOf(given)).toBe(text);
  });

  test("in HTML equals LiquidJS's filter escape, without U+0000", () => {
    const liquid = new Liquid();
    fc.assert(
      fc.property(value, (text) => {
        expect(escapeHtml(text)).toBe(
          liquid.parseAndRenderSync("{{ text | escape }}", { text }).replaceAll("\0", ""),
        );
      }),
    );
  });

  test("in an unquoted attribute ends nothing and adds nothing", () => {
    fc.assert(
      fc.property(value, (text) => {
        const attributes = attributesOf(`<td width=${escapeUnquoted(text)} id=x>`);
        expect(Object.keys(attributes)).toEqual(text === "" ? ["width"] : ["width", "id"]);
      }),
    );
    expect(attributesOf(`<td width=${escapeUnquoted("1 onclick=`x`>")}>`)).toEqual({
      width: "1 onclick=`x`>",
    });
  });

  test("in a part of a URL decodes to itself", () => {
    fc.assert(
      fc.property(value, (text) => {
        const url = new URL(`https://shop.test/a?name=${escapeUrlPart(text)}&b=1`);
        expect([url.searchParams.get("name"), url.searchParams.get("b")]).toEqual([text.toWellFormed(), "1"]);
        expect(escapeUrlPart(text)).toMatch(/^[\w.~%-]*$/);
      }),
    );
  });

  test.each([
    ["ada+news@example.com", "ada+news@example.com"],
    ["+49 30", "+49%2030"],
    ["a@b.test?bcc=eve@x.test", "a@b.test%3Fbcc%3Deve@x.test"],
  ])("%j in mailto: or tel: is %j", (text, written) => {
    expect(escapeMailbox(text)).toBe(written);
  });

  test.each([
    ["https://x.test/a?b=c&d", "https://x.test/a?b=c&amp;d"],
    [' https://x.test/"><script>', "https://x.test/%22%3E%3Cscript%3E"],
    ["https://ü.test/ö 'x'", "https://xn--tda.test/%C3%B6%20%27x%27"],
    ["HTTP://ü@Bücher.test:8080?ü", "HTTP://%C3%BC@xn--bcher-kva.test:8080?%C3%BC"],
    ["//bücher.test", "//xn--bcher-kva.test"],
    ["https://x.test/https://ü.test", "https://x.test/https://%C3%BC.test"],
    ["https://ü .test/", "https://%C3%BC%20.test/"],
    ["https://127.1/", "https://127.1/"],
    ["https://x.test/100%25", "https://x.test/100%25"],
    ["/offers", "/offers"],
    ["mailto:a@x.test", "mailto:a@x.test"],
    ["javascript:alert(1)", "#"],
    ["JAVA\tSCRIPT:alert(1)", "#"],
    ["\u0001 javascript:alert(1)", "#"],
    ["data:text/html,x", "#"],
    ["vbscript:x", "#"],
    ["java script:x", "#"],
  ])("%j as a whole URL is %j", (text, written) => {
    expect(escapeUrl(text)).toBe(written);
  });

  test("in a header is one valid line", () => {
    fc.assert(
      fc.property(value, (text) => {
        expect(headerTextFault(cleanLine(text))).toBeNull();
      }),
    );
    expect(cleanLine("Ada\r\nBcc: eve@x.test")).toBe("Ada Bcc: eve@x.test");
  });

  test("in a text keeps its lines and loses control characters", () => {
    expect(cleanText("a\r\nb\rc\td\0\x1b[0m\u0085\ud800")).toBe("a\nb\nc\td[0m\ufffd");
  });
});
