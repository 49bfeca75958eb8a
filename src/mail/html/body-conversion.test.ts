import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { htmlFromText, looksLikeHtml, textFromHtml } from "./body-conversion.ts";

describe("a body", () => {
  test.each([
    "<p>Hello</p>",
    "Hello <b>you</b>",
    "one<br>two",
    "one<BR />two",
    "a<hr/>b",
    '<img src="https://example.com/x.png">',
    "<!doctype html>Hello",
    "<!DOCTYPE html><p>Hello",
    "<html><p>Hello",
    '<html lang="en"><p>Hello',
    "text </b > text",
    "<x:note>XML</x:note>",
    '<meta charset="utf-8">x',
    "1 < 2 <br> 3 > 2",
  ])("that holds %j is HTML", (body) => {
    expect(looksLikeHtml(body)).toBe(true);
  });

  test.each([
    "",
    "  \n ",
    "Hello",
    "I <3 you",
    "Jane <jane@example.com>",
    "see <https://example.com/>",
    "a < b and c > d",
    "if (a<b) return c>d;",
    "press <enter>",
    "click <link> or <source>",
    "<p>no end",
    "</3",
    "<!-- note",
    "x = y / <z",
    "<br",
    "<brand>",
    "<image src=x>",
    "&lt;b&gt;escaped&lt;/b&gt;",
  ])("that holds %j is text", (body) => {
    expect(looksLikeHtml(body)).toBe(false);
  });
});

describe("the text of HTML", () => {
  test.each([
    ["<p>Hello<p>World", "Hello\n\nWorld"],
    ["one<br>two&nbsp;&amp;&lt;3", "one\ntwo &<3"],
    ["<h1>Dear {{name}}</h1>", "Dear {{name}}"],
    ["<ul><li>a<li>b</ul>", "- a\n- b"],
    ['<a href="https://example.com/a">here</a>', "here <https://example.com/a>"],
    ['<a href="https://example.com/">https://example.com/</a>', "https://example.com/"],
    ['<a href="{{unsubscribe_url}}">Unsubscribe</a>', "Unsubscribe <{{unsubscribe_url}}>"],
    ['<a href="https://example.com/"><img src="x" alt="Logo"></a>', "Logo <https://example.com/>"],
    ['<a href="#top">up</a> <a href="mailto:a@example.com">write</a>', "up write <a@example.com>"],
    ['<img src="https://t.example.com/o.gif">Hello', "Hello"],
    ["<title>T</title><style>p{}</style><script>x()</script><p>Hello</p>", "Hello"],
    [
      '<a href="https://x.test/1"><img></a><a href="https://x.test/2"><img></a>–<a href="https://x.test/3">https://x.test/3</a>',
      "https://x.test/1 https://x.test/2 – https://x.test/3",
    ],
    ['word<a href="https://x.test/1"><img></a>/word', "word https://x.test/1 /word"],
    ['word<a href="https://x.test/">https://x.test</a>word', "word https://x.test word"],
    [
      '(<a href="https://x.test/1"><img></a>), <a href="https://x.test/"><img></a>.',
      "(https://x.test/1), https://x.test/.",
    ],
    ["before<body>inside</body>after", "beforeinsideafter"],
    ["<table><tr><td>Total</td><td>$10</td></tr><tr><td>Tax</td></tr></table>", "Total $10\nTax"],
    ["<!--[if mso]>Outlook<![endif]-->All<!-->more", "Allmore"],
    ["<!--[if !mso]><!-->shown<!--<![endif]-->", "shown"],
    ["<button>Go</button><svg><text>svg</text></svg>", "Gosvg"],
    ["<p> \u00a0 </p>", ""],
    ["", ""],
  ])("%j is %j", (html, text) => {
    expect(textFromHtml(html)).toBe(text);
  });

  test("keeps merge tags whole and the case of words", () => {
    const tag = '{{first_name | default: "there"}}';
    expect(textFromHtml(`<h1>${tag}</h1><p>${"word ".repeat(50)}${tag}</p>`)).toBe(
      `${tag}\n\n${"word ".repeat(50)}${tag}`,
    );
  });

  test("is not empty if the HTML shows only pictures", () => {
    expect(textFromHtml('<p><img src="https://example.com/a.png"></p>')).toBe("[https://example.com/a.png]");
    expect(textFromHtml(`<img src="data:image/png;base64,${"A".repeat(2_000_000)}">`)).toBe("[embedded]");
  });

  test("does not show a picture of one pixel", () => {
    const pixel = '<img src="https://t.test/o.gif" width="1" height="1" alt="">';
    expect(textFromHtml(pixel)).toBe("");
    expect(textFromHtml(`<img src="https://x.test/line.png" width="600" height="1">${pixel}`)).toBe(
      "[https://x.test/line.png]",
    );
  });

  test("is not empty if the HTML shows a word", () => {
    const tags = [
      "div",
      "p",
      "table",
      "td",
      "span",
      "b",
      "li",
      "ul",
      "a",
      "pre",
      "blockquote",
      "h1",
      "center",
      "section",
    ];
    const opening = fc.array(
      fc.constantFrom(...tags.map((tag) => `<${tag}>`), "</p>", "</div>", "<br>", "<!-- x -->", "<"),
    );
    fc.assert(
      fc.property(opening, fc.stringMatching(/^\w{3,8}$/), (before, word) => {
        expect(textFromHtml(`${before.join(" ")} ${word} ${before.toReversed().join(" ")}`)).toContain(word);
      }),
      { numRuns: 500 },
    );
  });

  test("is made for HTML with endless nesting or without end tags", () => {
    for (const tag of ["<div>", "<ul><li>", "<table><tr><td>", "<blockquote>", "<b>", "<li>a<p>"]) {
      expect(textFromHtml(`${tag.repeat(5000)}Hello`)).toContain("Hello");
    }
    const long = textFromHtml("<p>Hello world</p>".repeat(100_000));
    expect(long.length).toBeLessThan(600_000);
    expect(long.startsWith("Hello world\n\nHello world\n\n")).toBe(true);
    expect(long.endsWith("\n\n[…]")).toBe(true);
    expect(textFromHtml(`<img src="data:image/png;base64,${"A".repeat(5_000_000)}"><p>Hello</p>`)).toBe(
      "Hello",
    );
  });
});

describe("any HTML", () => {
  const markup = fc.constantFrom(
    ..."p div span b h1 ul ol li table tr td blockquote pre a hr br img style title template".split(" "),
  );
  const soup = fc
    .array(
      fc.oneof(
        markup.map((name) => `<${name}>`),
        markup.map((name) => `</${name}>`),
        fc.constantFrom(
          "<a href='https://x.org/'>",
          '<img alt="a  b" src=x>',
          "<p hidden>",
          "<i style='display:none'>",
        ),
        fc.constantFrom(
          "<",
          ">",
          "'",
          '"',
          "&",
          "&nbsp;",
          "&#8;",
          "<!--",
          "-->",
          "</",
          "<!",
          "=",
          "/",
          " ",
          "\n",
          "\r",
          "\0",
        ),
        fc.string({ unit: "binary", maxLength: 5 }),
      ),
      { maxLength: 40 },
    )
    .map((pieces) => pieces.join(""));

  test("makes a text without control characters, blanks at line ends, or empty lines at its ends", () => {
    fc.assert(
      fc.property(soup, (html) => {
        const text = textFromHtml(html);
        expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u);
        expect(text).not.toMatch(/[ \t]$/m);
        expect(text).not.toMatch(/^\n|\n$/);
      }),
      { numRuns: 2000 },
    );
  });

  test("makes the same text regardless of earlier calls", () => {
    fc.assert(
      fc.property(soup, soup, (html, other) => {
        const text = textFromHtml(html);
        textFromHtml(`${other}<b title="`.repeat(20));
        expect(textFromHtml(html)).toBe(text);
      }),
    );
  });

  test.each([
    ..."<|<a|<a |</|</a|<!|<!--|<?|<a href=\"|<a href='|<a b=\"'>|<a =|<a /|<x y=z |<p style='display :".split(
      "|",
    ),
    ..."&|&#|&#x|&a|&amp|&lt;|=|\0|\u200c |😀|<br>|<hr>|&nbsp;|&nbsp;x|<img alt=' a  b'>|<img src=\"data:x\">".split(
      "|",
    ),
    ..."<style>|<title/>|<script></scrip>|</style>|<template>|<div hidden>|<p hidden>x|<div hidden></div>".split(
      "|",
    ),
    ..."<ul>|<ol><li>x|</ul>|<blockquote>x|<pre>\n\nx|<table><tr><td>x|<td><p>x|<a href=x>y|<a href=x></a>".split(
      "|",
    ),
  ])("takes linear time: many %j", (piece) => {
    const html = `<p>${piece.repeat(400_000 / piece.length)}`;
    for (const hostile of [
      html,
      `<div hidden>${html}`,
      `<pre><blockquote>${html}x`,
      `<a href="https://x.org/">${html}`,
    ]) {
      expect(textFromHtml(hostile).length).toBeLessThan(600_000);
      looksLikeHtml(hostile);
    }
  });
});

describe("the HTML of a text", () => {
  test.each([
    ["Hello", "<p>Hello</p>\n"],
    ["a\nb\r\n\r\n \t\r\nc", "<p>a<br>\nb</p>\n<p>c</p>\n"],
    ["\n\n a \n", "<p> a </p>\n"],
    ["1 < 2 & <b>", "<p>1 &lt; 2 &amp; &lt;b&gt;</p>\n"],
    ['{{first_name | default: "you"}}', '<p>{{first_name | default: "you"}}</p>\n'],
    ["  in\n\tdent", "<p>&nbsp; in<br>\n&nbsp; &nbsp; dent</p>\n"],
    ["a   b \tc", "<p>a&nbsp; &nbsp;b&nbsp; &nbsp; &nbsp;c</p>\n"],
    ["", ""],
    [" \n \n", ""],
  ])("%j is %j, with paragraphs that have a direction", (text, html) => {
    expect(htmlFromText(text)).toBe(html.replaceAll("<p>", '<p dir="auto">'));
  });

  test("gives each paragraph the direction of its script", () => {
    expect(htmlFromText("שלום עולם\nעוד שורה\n\nمرحبا\n\nHello")).toBe(
      '<p dir="auto">שלום עולם<br>\nעוד שורה</p>\n<p dir="auto">مرحبا</p>\n<p dir="auto">Hello</p>\n',
    );
  });

  test.each([
    ["https://example.com/a?b=1&c=2.", "https://example.com/a?b=1&amp;c=2", "."],
    ["https://example.com/a_(b))", "https://example.com/a_(b)", ")"],
    ["HTTP://example.com/;", "HTTP://example.com/", ";"],
    ['https://example.com/"onclick="x', "https://example.com/", '"onclick="x'],
    ["https://example.com/<script>", "https://example.com/", "&lt;script&gt;"],
  ])("links %j up to the punctuation after it", (text, address, rest) => {
    expect(htmlFromText(`see ${text}`)).toBe(
      `<p dir="auto">see <a href="${address}">${address}</a>${rest}</p>\n`,
    );
  });

  test("links only http and https", () => {
    expect(
      htmlFromText("javascript://x data:text/html,x ftp://x xhttps://x https:// http://. :// //"),
    ).not.toContain("<a");
  });

  test("contains no markup of the author, and converts back to the same words", () => {
    const text = fc.array(
      fc.constantFrom("<", ">", "&", '"', "'", "\n", "\n\n", " ", "https://x.org/", ")", "word", "&lt;"),
    );
    fc.assert(
      fc.property(text, (pieces) => {
        const html = htmlFromText(pieces.join(""));
        expect(
          html.replaceAll(/<p dir="auto">|<\/p>|<br>|<a href="https:\/\/x\.org\/[^"<>]*">|<\/a>/g, ""),
        ).not.toMatch(/[<>]/);
        const words = (value: string) => value.replaceAll(/\s+/g, "");
        expect(words(textFromHtml(html))).toBe(words(pieces.join("")));
      }),
    );
  });

  test.each(["<", "&", "a\tb", "x  ", "a<b & c  d\n", "http://a.....\n", "://", "\n"])(
    "takes CPU time in proportion to the characters of %j",
    (piece) => {
      expectLinearCost(250_000, (size) => piece.repeat(Math.ceil(size / piece.length)), htmlFromText);
    },
  );

  test("is made quickly of a million repetitions", () => {
    for (const piece of [")", "\n", " ", "https://", "://", "http://.", "&", "(", "x\n\n", "  x"]) {
      const text = `https://example.com/${piece.repeat(500_000)}x`;
      expect(htmlFromText(text).endsWith("</p>\n")).toBe(true);
    }
  });
});
