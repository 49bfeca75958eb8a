/** Hidden elements are left out of the text of a mail; visible ones stay in it. */
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { textFromHtml } from "./body-conversion.ts";

const styleOf = (css: string) => `<html><head><style type="text/css">${css}</style></head><body>`;

describe("a hidden preheader is not in the text", () => {
  test.each([
    "display:none",
    "display: none !important;",
    "visibility:hidden",
    "opacity:0",
    "opacity: 0.0",
    "max-height:0",
    "max-height:0px;overflow:hidden",
    "height:0;overflow:hidden",
    "font-size:0",
    "font-size: 1px",
    "FONT-SIZE:0PX;LINE-HEIGHT:0",
    "font-size:1px;line-height:1px;color:#ffffff",
    "display:block;font-size:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;mso-hide:all",
    "color:#fff;display:none",
  ])("by the style %s", (style) => {
    for (const name of ["div", "span", "td"]) {
      expect(textFromHtml(`<${name} style="${style}">Secret <b>words</b></${name}><p>Hello</p>`)).toBe(
        "Hello",
      );
    }
  });

  test.each([
    [".preheader { display: none; }", 'class="preheader"'],
    [".preheader{display:none!important}", 'class="small preheader"'],
    ["p{margin:0} .a, .preheader , .b{max-height:0;overflow:hidden}", "class=preheader"],
    ["span.preheader { visibility:hidden; opacity:0 }", 'class="preheader"'],
    ["#preview { font-size:1px; line-height:1px }", 'id="preview"'],
    ["/* the {preview} */ .preheader /* x */ { opacity: 0 }", 'class="preheader"'],
    ["@import url(x.css); @media screen { .preheader { opacity: 0 } }", 'class="preheader"'],
    ["@media (max-width:600px) { .x { width:100% } } .preheader { display:none }", 'class="preheader"'],
    ["body .preheader { display:none }", 'class="preheader"'],
    ["<!-- .preheader { display:none } -->", 'class="preheader"'],
    [".preheader { color: #fff; mso-hide: all }", 'class="preheader"'],
  ])("by the style sheet %s", (css, attribute) => {
    expect(textFromHtml(`${styleOf(css)}<span ${attribute}>Secret</span><p>Hello</p>`)).toBe("Hello");
  });
});

describe("visible elements stay in the text", () => {
  test.each([
    "opacity:0.8",
    "opacity:1",
    "max-height:100px",
    "height:0",
    "line-height:0",
    "line-height:1px",
    "font-size:14px",
    "font-size:1em",
    "font-size:100%",
    "font-size:10px",
    "font-size:0.9rem",
    "visibility:visible",
    "overflow:hidden;height:40px",
    "display:none;display:block",
    "mso-hide:all",
    "border-radius:0;min-height:0;min-width:0",
  ])("with the style %s", (style) => {
    expect(textFromHtml(`<div style="${style}">Words</div>`)).toBe("Words");
  });

  test.each([
    ["@media (max-width:600px) { .preheader { display:none } }", ""],
    ["@media only screen and (max-width:480px) { .x { a:b } .preheader { display:none } }", ""],
    [".other { display:none }", ""],
    [".preheader:hover, .preheader .x, table.preheader { display:none }", ""],
    [".preheader { display:none }", "display:block"],
    [".preheader { display:none } .preheader { display:block }", ""],
    ["/* .preheader { display:none } */", ""],
  ])("with the style sheet %s", (css, style) => {
    expect(textFromHtml(`${styleOf(css)}<p class="preheader" style="${style}">Words</p>`)).toBe("Words");
  });

  test("if the style sheet is in a comment for Outlook", () => {
    const html =
      "<!--[if mso]><style>.preheader{display:none}</style><![endif]--><p class=preheader>Words</p>";
    expect(textFromHtml(html)).toBe("Words");
  });

  test("if font size zero only removes gaps between cells and pictures", () => {
    const cell = (inside: string) => `<td style="font-size:0px;padding:10px"><div>${inside}</div></td>`;
    expect(textFromHtml(cell('<div style="font-size:13px">Words</div>'))).toBe("Words");
    expect(textFromHtml(cell('<img src="https://x.test/a.png" alt="A cat">'))).toBe("A cat");
    expect(textFromHtml(`${styleOf(".text{font-size:16px}")}${cell('<p class="text">Words</p>')}`)).toBe(
      "Words",
    );
    expect(textFromHtml(cell('<p style="font:16px Arial">Words</p>'))).toBe("Words");
  });

  test.each([
    ["p{font-size:16px}", "<p>Seen</p>"],
    ["td, p { FONT-SIZE : 16px }", "<p>Seen</p>"],
    ["table td.x > p{font-size:1rem}", "<p>Seen</p>"],
    [".box .text{font-size:16px}", '<p class="wide text">Seen</p>'],
    ["p.text:first-child{font-size:16px}", '<p class="text">Seen</p>'],
    [".box #text{font-size:16px}", '<p id="text">Seen</p>'],
    [".box > *{font:16px Arial}", "<p>Seen</p>"],
    ['[title="a b"]{font-size:16px}', '<p title="a b">Seen</p>'],
    ['p[title="a b"]{font-size:16px}', '<p title="a b">Seen</p>'],
    [":not(.a, .b){font-size:16px}", "<p>Seen</p>"],
    ["@media (min-width:1px){a{b:c} p{font-size:16px}}", "<p>Seen</p>"],
    [".box{a:b; p{font-size:16px}}", "<p>Seen</p>"],
    [":not(:is(.a), .b){font-size:16px}", "<p>Seen</p>"],
    ["", '<font size="3">Seen</font>'],
    ["", "<FONT color=red SIZE=2>Seen</FONT>"],
    ["", "<button>Seen</button>"],
  ])("if %j gives a visible size to an element inside font size zero: %s", (css, inside) => {
    expect(textFromHtml(`${styleOf(css)}<div style="font-size:0">${inside}</div>`)).toBe("Seen");
  });

  test("if the style sheet is too long to be read whole", () => {
    for (const many of [".a{width:1px}".repeat(300), "a,".repeat(300), `.a{${"b:c;".repeat(30_000)}}`]) {
      const html = `${styleOf(`${many}p{font-size:16px}`)}<div style="font-size:0"><p>Seen</p></div>`;
      expect(textFromHtml(html)).toBe("Seen");
    }
  });

  test("except if the style sheet gives a size to other elements, or the same size", () => {
    const css =
      "body{font-size:16px} h1,.text p,td{font-size:20px} *{font-size:100%} p,#outlook a{font-size:inherit} .x{font-size:2em}";
    const preheader = '<div style="font-size:0"><p>Secret <a href="#">words</a></p></div>';
    expect(textFromHtml(`${styleOf(css.replace(".text p,", ""))}${preheader}<p>Hello</p>`)).toBe("Hello");
    expect(textFromHtml(`${styleOf(css)}${preheader}`)).toContain("Secret words");
  });

  test("if a style attribute is too long", () => {
    const style = `opacity:0;${"a:b;".repeat(2_000)}opacity:1`;
    expect(textFromHtml(`<p style="${style}">Words</p>`)).toBe("Words");
  });

  test("of the page itself", () => {
    expect(textFromHtml('<body style="opacity:0;font-size:0">Words</body>')).toBe("Words");
  });
});

test.each([
  "<style>",
  "<style",
  "<style>.a{",
  "<style>a{}/*",
  "<!--",
  '<b style="font-size:0">',
  '<i style="opacity:000000000000000">x</i>',
  "<style>.a{display:none}</style><p class=a>",
])("takes CPU time in proportion to the characters of %j", (piece) => {
  expectLinearCost(60_000, (size) => piece.repeat(Math.ceil(size / piece.length)), textFromHtml);
});

test.each<[string, (times: number) => string]>([
  [
    "classes that are repeated",
    (times) => `${Array(12).fill(".a").join(",")}{width:1px;${"a:b;".repeat(100 * times)}}`,
  ],
  ["a long value", (times) => `.a{width:${"1".repeat(400 * times)}}`],
  ["a property that is repeated", (times) => `.a{${"width:1px;".repeat(40 * times)}}`],
  [
    "rules that are repeated",
    (times) => ".a,.b{width:1px;height:1px;opacity:1;overflow:hidden}".repeat(8 * times),
  ],
])("the cost of elements does not depend on the style sheet: %s", (_, cssOf) => {
  // Four times the elements with four times the style sheet.
  const htmlOf = (times: number) =>
    styleOf(cssOf(times)) + `<p class="${"a b ".repeat(10)}">x</p>`.repeat(times);
  expectLinearCost(100, htmlOf, (html) => expect(textFromHtml(html)).toMatch(/^x\n/));
});
