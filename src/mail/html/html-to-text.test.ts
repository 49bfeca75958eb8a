import fc from "fast-check";
import { Parser } from "htmlparser2";
import { describe, expect, test } from "vitest";
import { plainText } from "./html-to-text.ts";

const textOf = (html: string) => plainText(html, ({ alt }) => alt ?? "");

describe("white space", () => {
  test.each([
    ["  a \n\t b\r\n c  ", "a b c"],
    ["<b> a </b> <i> b</i>c", "a bc"],
    ["<p> a </p>  <p>\nb</p>", "a\n\nb"],
    ["a&nbsp;&nbsp;b &nbsp; c", "a  b   c"],
    ["<p>a&nbsp;</p><p>&nbsp; b</p>", "a\n\n  b"],
    ["a\0b\x07c\x1b[0m &#8;d", "abc[0m d"],
    ["a<!-- x -->b<wbr>c", "abc"],
    ["&zwnj;&nbsp;&#847;&shy; &#8199;&zwnj;<p>Hello</p>", "Hello"],
    ["می&zwnj;خواهم", "می\u200cخواهم"],
  ])("of %j makes %j", (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe("blocks", () => {
  test.each([
    ["<div>a</div><div>b</div>c", "a\nb\nc"],
    ["<p>a</p><p></p><p>b</p>", "a\n\nb"],
    ["a<h1>b</h1>c<h2>d</h2><h3>e</h3>", "a\n\nb\n\nc\n\nd\n\ne"],
    ["a<br>b<br/>c", "a\nb\nc"],
    ["a<br><br><br>b", "a\n\nb"],
    ["<p>a<br></p>b", "a\n\nb"],
    ["<div>a<br></div><div>b</div>", "a\nb"],
    ["<div>a</div><br><div>b</div>", "a\n\nb"],
    ["<div>a</div><div><br></div><div>b</div>", "a\n\nb"],
    ["<div>a</div><div>&nbsp;</div><div>b</div>", "a\n\nb"],
    ["a<hr>b", `a\n\n${"-".repeat(40)}\n\nb`],
    ["<dl><dt>a<dd>b</dl>", "a\nb"],
    ["<HEAD><Title>x</TITLE></HEAD><P>a</P><DIV>b</DIV>", "a\n\nb"],
    ["<pre>\n  a\n\n\n\tb  \n</pre>c", "  a\n\n\n\tb\n\nc"],
    ["<pre>\r\na &lt;b&gt;\r\n<b>c</b></pre>", "a <b>\nc"],
  ])("%j are %j", (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe("lists", () => {
  test.each([
    ["<ul><li>a</li><li>b</li></ul>", "- a\n- b"],
    ["<ol><li>a<li>b</ol>c", "1. a\n2. b\n\nc"],
    ['<ol start="9"><li>a<li>b<br>c</ol>', "9. a\n10. b\n    c"],
    ['<ol start="x"><li>a</ol>', "1. a"],
    ["a<ul><li>b<ul><li>c</li></ul></li><li>d</li></ul>e", "a\n\n- b\n  - c\n- d\n\ne"],
    ["<ol><li>a<ul><li>b</ul>c</ol>", "1. a\n   - b\n   c"],
    ["<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>", "- a\n\n  b\n\n- c"],
    ["<ul><li></li><li>a</li></ul>b", "- a\n\nb"],
    ["<li>a</li></ul><li>b", "- a\n\n- b"],
  ])("%j are %j", (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe("quotations", () => {
  test.each([
    ["a<blockquote>b<br>c</blockquote>d", "a\n\n> b\n> c\n\nd"],
    ["<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"],
    ["<blockquote>a<blockquote>b</blockquote>c</blockquote>", "> a\n>\n> > b\n>\n> c"],
    ["<blockquote><ul><li>a<li>b</ul></blockquote>", "> - a\n> - b"],
    ["<blockquote><pre>a\n\nb</pre></blockquote>", "> a\n>\n> b"],
    ["</blockquote>a", "a"],
  ])("%j are %j", (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe("tables", () => {
  test.each([
    ["<table><tr><th>Item<th>Price<tr><td>Tea<td>€3</table>", "Item Price\nTea €3"],
    ["a<table><tr><td>b</td></tr></table>c", "a\n\nb\n\nc"],
    ["<table><tr>\n<td>a</td>\n<td>b</td>\n</tr>\n</table>", "a b"],
    ["<table><tr><td><p>Total</p></td><td><p>€3</p></td></tr><tr><td>x</td></tr></table>", "Total €3\n\nx"],
    [
      "<table><tr><td>&nbsp;</td><td>a</td></tr><tr><td>&nbsp;</td></tr><tr><td>b</td></tr></table>",
      "a\n\nb",
    ],
    ["<table><tr><td><div>a</div><div>b</div></td><td><div>c</div></td></tr></table>", "a\nb\nc"],
    ["<table><tr><td>a</td><td><ul><li>b</li></ul></td></tr></table>", "a\n\n- b"],
    [
      "<table><tr><td><table><tr><td>a</td></tr></table></td><td><table><tr><td>b</td></tr></table></td></tr></table>",
      "a\n\nb",
    ],
    [
      `<table><tr><td><p>${"a ".repeat(40)}</p></td><td><p>b</p></td></tr></table>`,
      `${"a ".repeat(40).trim()}\n\nb`,
    ],
  ])("%j are %j", (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe("links and pictures", () => {
  test.each([
    ['<a href="https://x.org/?a=1&amp;b=2">a</a>.', "a <https://x.org/?a=1&b=2>."],
    ["<A HREF='https://x.org/' CLASS=button>Go</A>", "Go <https://x.org/>"],
    ["<a href=https://x.org/>Go</a>", "Go <https://x.org/>"],
    ['<a href="https://x.org/"><table><tr><td>Go</td></tr></table></a>b', "Go <https://x.org/>\n\nb"],
    ['see<a href="https://x.org/"> here </a>now', "see here <https://x.org/> now"],
    ['<a href="https://x.org">https://x.org/</a>b', "https://x.org/ b"],
    ['<li><a href="https://x.org/">Visit https://x.org</a>', "- Visit https://x.org"],
    ['<a href="mailto:a@x.org">a@x.org</a>', "a@x.org"],
    ['<a href="MAILTO:a@x.org?subject=Hi">Write</a>', "Write <a@x.org>"],
    ['<a href="mailto:?body=x">Share</a>', "Share"],
    ['<a href="tel:+49123">Call</a>', "Call <tel:+49123>"],
    ['<a href=" https://x.org/\n">a</a>', "a <https://x.org/>"],
    ['<a href="https://x.org/\r\nBcc:\0x">a</a>', "a <https://x.org/Bcc:x>"],
    ['<a href="#top">a</a> <a href="">b</a> <a name="c">c</a>', "a b c"],
    ['<a href="JavaScript:x()">a</a> <a href="data:text/html,x">b</a>', "a b"],
    ['<a href="https://x.org/1">a<a href="https://x.org/2">b', "a <https://x.org/1> b <https://x.org/2>"],
    ['<a href="https://x.org/"><img src="a.png" alt=""></a>', "https://x.org/"],
    ['<a href="https://x.org/"></a>b', "b"],
    ['<img alt="A &amp; B"><img alt="C\n D">e', "A & B C D e"],
    ['<img alt="" src="https://x.org/a.gif"><img src="https://x.org/b.gif">', ""],
  ])("%j are %j", (html, text) => {
    expect(textOf(html)).toBe(text);
  });
});

describe("hidden elements", () => {
  test.each([
    ["<style>a > b { }</style><script>'<p>x</p>'</script><title>t</title>a", "a"],
    ["<style></styles>x</STYLE >a", "a"],
    ["<template><p>x<template>y</template>z</p></template>a", "a"],
    ["<title/>a", "a"],
    ["<!doctype html><?xml version='1.0'?><!-- > --><!--->a<!-- x", "a"],
    ["<![if !mso]>a<![endif]>", "a"],
    ["<!--[if mso]><p>x</p><![endif]-->a<!--[if !mso]><!-->b<!--<![endif]-->", "ab"],
    ['<div style="display:none">x<div>y</div>z</div>a', "a"],
    ["<span style='color:red;DISPLAY : None !important'>x</span>a", "a"],
    ["<p hidden>x</p><span hidden=''>y</span><img hidden alt=z>a", "a"],
    ["<br style=display:none>a<p hidden>x<p>b", "a\n\nb"],
    ["<td><p style=display:none>x</td><td>a", "a"],
    ["<div class=hidden title='display:none' data-hidden>a</div>", "a"],
    ['<img alt="a>b" title=\'">\'>c', "a>b c"],
    ["a<p title='no end><b>x", "a"],
    ["a<b", "a"],
  ])("%j leaves %j", (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  test("are shown if they have no end", () => {
    expect(textOf("<div hidden>a<p>b</p>")).toBe("a\n\nb");
    expect(textOf("<template>a")).toBe("a");
  });
});

test("a `<` that begins no tag is text", () => {
  expect(textOf("1 < 2 <3 <- << <= a<")).toBe("1 < 2 <3 <- << <= a<");
  expect(textOf("I </3 <b>you</b>")).toBe("I </3 you");
});

test("merge tags are unchanged", () => {
  const tag = '{{ first_name | default: "you" }}';
  expect(textOf(`<p>Hi ${tag}<b>{% if a < b %}</b></p>`)).toBe(`Hi ${tag}{% if a < b %}`);
  expect(textOf("<a href='{{ unsubscribe_url }}'>x</a>{{name}}")).toBe("x <{{ unsubscribe_url }}> {{name}}");
});

/** HTML of nested elements, and the words that it shows in order. */
interface Sample {
  readonly html: string;
  readonly words: readonly string[];
}

const word = fc.nat(99_999).map((number): Sample => ({ html: ` w${number}e `, words: [`w${number}e`] }));
const noise = fc.constantFrom(
  "<br>",
  "<hr/>",
  " \n ",
  "&nbsp;",
  "<!-- <p>w0e -->",
  "<img src=x>",
  "a < b",
  "<wbr>",
);
const element = fc.constantFrom(
  ..."p div span b h1 ul ol li table tr td th blockquote pre a section center font x-y dl dd".split(" "),
);
const attributes = fc.constantFrom(
  "",
  ' class="a > b"',
  " data-x='\"'",
  ' href="https://x.org/"',
  " style=color:red",
);
const unseen = fc.constantFrom(
  ["<div style='display: none'>", "</div>"],
  ["<template>", "</template>"],
  ["<b hidden>", "</b>"],
  ["<style>", "</style>"],
);

const { sample } = fc.letrec<{ sample: Sample; inside: Sample; shown: Sample; hidden: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: "small" },
    word,
    noise.map((html) => ({ html, words: [] })),
    tie("shown"),
    tie("hidden"),
  ),
  inside: fc.array(tie("sample"), { maxLength: 4 }).map((samples) => ({
    html: samples.map(({ html }) => html).join(""),
    words: samples.flatMap(({ words }) => words),
  })),
  shown: fc.tuple(element, attributes, tie("inside")).map(([name, given, { html, words }]) => ({
    html: `<${name}${given}>${html}</${name}>`,
    words,
  })),
  // Text only: an element of the same name would have to be closed inside.
  hidden: fc
    .tuple(unseen, word)
    .map(([[start, end], { html }]) => ({ html: `${start}${html}${end}`, words: [] })),
}));

test("well-formed HTML shows all its words in order, and no tags", () => {
  fc.assert(
    fc.property(sample, ({ html, words }) => {
      const text = textOf(html);
      expect(text.match(/w\d+e/g) ?? []).toEqual(words);
      expect(text).not.toMatch(/<\/?[a-z-]+[ >]|w0e -->/);
    }),
    { numRuns: 1000 },
  );
});

/** The visible words as another parser, which follows the HTML Standard closely, finds them. */
function wordsByParser(html: string): string[] {
  const unseen = ["style", "script", "title"];
  const words: string[] = [];
  let depth = 0;
  const parser = new Parser({
    onopentagname: (name) => {
      if (unseen.includes(name)) depth++;
    },
    onclosetag: (name) => {
      if (unseen.includes(name)) depth--;
    },
    ontext: (text) => {
      if (depth === 0) words.push(...(text.match(/w\d+e/g) ?? []));
    },
  });
  parser.end(html);
  return words;
}

test("broken HTML shows the words that a parser finds in it, in order", () => {
  const names = "p div b table tr td ul li pre a style script title x-y".split(" ");
  const piece = fc.oneof(
    fc.nat(99).map((number) => `w${number}e`),
    fc.constantFrom(...names.map((name) => `<${name}>`)),
    fc.constantFrom(...names.map((name) => `</${name}>`)),
    fc.constantFrom(
      "<b class='a>b'>",
      '<a b=">" c=\'"\'>',
      "<B a = b>",
      "</B >",
      "<i/>",
      "<x-y =z>",
      "<br/>",
    ),
    fc.constantFrom(
      "<",
      " < ",
      ">",
      "<!-- c -->",
      "<!-- ",
      "-->",
      "<!-->",
      "<!x>",
      "<?x>",
      "&amp;",
      "&",
      "<a b='",
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const html = pieces.join("");
      expect(textOf(html).match(/w\d+e/g) ?? []).toEqual(wordsByParser(html));
    }),
    { numRuns: 2000 },
  );
});

test("preformatted text keeps its white space", () => {
  const written = fc.string({
    unit: fc.constantFrom("a", "b", " ", "\n", "<", ">", "&", '"', "\t"),
    maxLength: 30,
  });
  fc.assert(
    fc.property(written, (text) => {
      const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
      const shown = text.replaceAll(/[ \t]+$/gm, "").replaceAll(/^\n+|\n+$/g, "");
      expect(textOf(`<pre>${escaped}</pre>`)).toBe(shown);
    }),
  );
});
