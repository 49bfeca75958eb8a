import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeEntities, readCharacterReference } from "./entities.ts";

describe("a text with character references", () => {
  test.each([
    ["Fish &amp; chips", "Fish & chips"],
    ["&lt;b&gt; &quot;x&quot; &apos;y&apos;", `<b> "x" 'y'`],
    ["&copy;&nbsp;2024&reg;", "©\u00a02024®"],
    ["&Agrave;&yuml;&divide;&times;", "Àÿ÷×"],
    ["&Alpha;&Rho;&Sigma;&Omega;&alpha;&rho;&sigmaf;&sigma;&omega;", "ΑΡΣΩαρςσω"],
    ["&ndash;&mdash;&hellip;&euro;&trade;&rarr;&check;", "–—…€™→✓"],
    ["&zwnj;&ensp;&Tab;", "\u200c\u2002\t"],
    ["&#65;&#x42;&#X43;&#128512;&#x1F600;", "ABC😀😀"],
    ["don&#8217t &#x2019s", "don’t ’s"],
    ["&#150;&#146;&#x80;", "–’€"],
    ["&#0;&#xD800;&#1114112;&#99999999999999999999;", "\ufffd\ufffd\ufffd\ufffd"],
    ["&amp;lt;", "&lt;"],
    ["&amp &copy, &lt", "& ©, <"],
  ])("%j is %j", (written, text) => {
    expect(decodeEntities(written)).toBe(text);
  });

  test.each([
    "",
    "no reference",
    "&",
    "&&;",
    "&;",
    "&#;",
    "&#x;",
    "&#xg;",
    "AT&T",
    "a & b",
    "&nothing;",
    "&-;",
    "&hellip and &mdash",
    "?a=1&copy=2&lt=3",
    "&ampere &copyright",
  ])("%j is unchanged", (text) => {
    expect(decodeEntities(text)).toBe(text);
  });

  test("keeps everything that is not a reference", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (pieces) => {
        const plain = pieces.map((piece) => piece.replaceAll("&", ""));
        expect(decodeEntities(plain.join("&eacute;"))).toBe(plain.join("é"));
      }),
    );
  });

  test("decodes every character by its number", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }), (grapheme) => {
        const code = grapheme.codePointAt(0) ?? 0;
        const decimal = `&#${code};`;
        expect(readCharacterReference(decimal, 0)).toEqual({
          characters: String.fromCodePoint(code),
          end: decimal.length,
        });
        expect(decodeEntities(`&#x${code.toString(16)};`)).toBe(String.fromCodePoint(code));
      }),
    );
  });
});
