import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textFromHtml } from "#mail/html/body-conversion.ts";
import { readHtmlTemplate } from "#test/support/html-template.ts";
import { compileTemplate } from "./compile.ts";
import { compileFast } from "./fast-render.ts";
import { placeInsertions } from "./html-template.ts";
import { renderingEngine } from "./liquid-engine.ts";
import { readTemplate, type Template } from "./read-template.ts";
import { withInsertions } from "./template-pieces.ts";
import { textTemplateOf, urlInsertions } from "./text-template.ts";

function read(source: string): Template {
  const reading = readTemplate(source);
  if (!reading.ok) throw new Error(reading.faults[0]?.message);
  return reading.template;
}

function render(source: string, kind: "html" | "text", fields: Record<string, unknown>): string {
  const insertions =
    kind === "html" ? placeInsertions(readHtmlTemplate(source)) : urlInsertions(read(source));
  const links = { pixel: null, tracked: (_index: number, target: string) => target };
  const made = withInsertions(source, insertions);
  const rendered = compileTemplate(made, kind, "UTC")({ variables: {}, more: fields, links });
  if (!rendered.ok) throw new Error(rendered.message);
  return rendered.text;
}

const textOf = (html: string) => textTemplateOf(readHtmlTemplate(html));

describe("values in a text", () => {
  test.each([
    ["are unchanged", "Hello {{ v }}!", "Hello a b&<!"],
    [
      "are encoded in a URL",
      "see https://x.test/?a={{ v }}&b={{ v }}.",
      "see https://x.test/?a=a%20b%26%3C&b=a%20b%26%3C.",
    ],
    ["are not encoded after a URL", "https://x.test/ {{ v }}", "https://x.test/ a b&<"],
    ["are not encoded in brackets after a URL", "<https://x.test/>{{ v }}", "<https://x.test/>a b&<"],
    ["are a safe URL in angle brackets", "<{{ v }}>", "<a%20b&%3C>"],
    ["are encoded once", "https://x.test/?a={{ v | url_encode }}", "https://x.test/?a=a+b%26%3C"],
    ["are not escaped for HTML", "{{ v | escape }}{{ '&lt;' | escape_once }}", "a b&<<"],
    [
      "are encoded in a URL that a tag completes",
      "https://x.test/{% if v %}a/{% endif %}{{ v }}",
      "https://x.test/a/a%20b%26%3C",
    ],
    [
      "are encoded where a capture is written",
      "{% capture c %}{{ v }}{% endcapture %}https://x.test/{{ c }}",
      "https://x.test/a%20b%26%3C",
    ],
  ])("%s", (_what, source, text) => {
    expect(render(source, "text", { v: "a b&<" })).toBe(text);
  });
});

describe("values after a value", () => {
  const base = "https://exämple.org/ü";
  const fields = { base, v: "Tom & Al", path: "/p/q", list: [{ url: base }, { url: "shop" }] };
  const address = `${base}?n=Tom%20%26%20Al`;
  test.each([
    ["are encoded in the URL that the first value is", "{{ base }}?n={{ v }}", address],
    ["and in brackets", "a <{{ base }}?n={{ v }}>, {{ v }}", `a <${address}>, Tom & Al`],
    ["all of them", "({{ base }}?n={{ v }}&m={{ v | }}): {{ v }}", `(${address}&m=Tom%20%26%20Al): Tom & Al`],
    ["once", "{{ base }}?n={{ v | url_encode }}", `${base}?n=Tom+%26+Al`],
    ["after a default", "{{ none | default: base }}?n={{ v }}", address],
    ["after two values", "{{ base }}{{ path }}?n={{ v }}", `${base}/p/q?n=Tom%20%26%20Al`],
    ["after words before it", "{{ v }}/{{ base }}?n={{ v }}", `Tom & Al/${address}`],
    [
      "in either branch of a condition",
      "{% if none %}{{ v }}{% else %}{{ base }}{% endif %}?n={{ v }}{% if v %}&m={{ v }}{% endif %}",
      `${address}&m=Tom%20%26%20Al`,
    ],
    [
      "are not encoded if it is not a URL",
      "{{ path }}/?n={{ v }} {{ v }}/{{ v }}",
      "/p/q/?n=Tom & Al Tom & Al/Tom & Al",
    ],
    [
      "are not encoded after its end",
      "{{ base }}/ {{ v }} {{ base }}\n/{{ v }}",
      `${base}/ Tom & Al ${base}\n/Tom & Al`,
    ],
    [
      "are not encoded without a URL separator between them",
      "{{ base }}{{ path }},{{ v }}",
      `${base}/p/q,Tom & Al`,
    ],
    [
      "depend on the value in each turn of a loop",
      "{% for i in list %}{{ i.url }}/?n={{ v }} {% endfor %}",
      `${base}/?n=Tom%20%26%20Al shop/?n=Tom & Al `,
    ],
    [
      "are not encoded if the value is missing",
      "{{ base }}/{{ v }} {% if none %}{{ base }}{% endif %}/{{ v }}",
      `${base}/Tom%20%26%20Al /Tom & Al`,
    ],
  ])("%s", (_what, source, text) => {
    expect(render(source, "text", fields)).toBe(text);
  });

  test("make the same URL in the text as in the HTML", () => {
    const html = '<a href="{{ base }}?n={{ v }}">b</a>';
    expect(render(textOf(html) ?? "", "text", fields)).toBe(`b <${address}>`);
    const href = "https://xn--exmple-cua.org/%C3%BC?n=Tom%20%26%20Al";
    expect(render(html, "html", fields)).toBe(`<a href="${href}">b</a>`);
    expect(new URL(address).href).toBe(href);
  });

  test("need no filter if no value follows, and allow the fast renderer if one does", () => {
    expect(urlInsertions(read("{{ base }}/x {{ v }}, {{ v }}{{ path }}"))).toEqual([]);
    const source = "{{ base }}?n={{ v }}";
    const made = withInsertions(source, urlInsertions(read(source)));
    expect(compileFast(renderingEngine("text", "UTC"), made)).not.toBeNull();
  });
});

test("a link whose URL is a value has the same destination in the text as in the HTML", () => {
  const html = '<a href="{{ v }}">site</a>, <a href="{{ v }}/x">page</a>';
  const shown = (v: string) => render(textOf(html) ?? "", "text", { v });
  expect(shown("https://x.test/a")).toBe("site <https://x.test/a>, page <https://x.test/a/x>");
  expect(shown("javascript:alert(1)")).toBe("site <#>, page <#/x>");
  expect(shown(" JavaScript\n:alert(1)")).toBe("site <#>, page <#/x>");
  expect(shown("ada@x.test")).toBe("site <ada@x.test>, page <ada@x.test/x>");
});

describe("a URL that is a value stays whole", () => {
  const link = (address: string) => `<a href="${address}"><img src="https://x.test/a.png"></a>`;
  test.each([
    ["after a link", link("https://x.test/") + link("{{ v }}"), "https://x.test/ https://t.test/u/1"],
    [
      "after several links",
      link("https://x.test/1") + link("https://x.test/2") + link("{{ v }}"),
      "https://x.test/1 https://x.test/2 https://t.test/u/1",
    ],
    ["after another", link("{{ v }}") + link("{{ v }}"), "https://t.test/u/1 https://t.test/u/1"],
    ["as words", `${link("https://x.test/")}{{ v }}`, "https://x.test/ https://t.test/u/1"],
    ["after punctuation", `${link("https://x.test/")},<b>{{ v }}</b>`, "https://x.test/, https://t.test/u/1"],
    [
      "after a link that shows its URL",
      `<a href="https://x.test/">https://x.test/</a>${link("{{ v }}")}`,
      "https://x.test/ https://t.test/u/1",
    ],
    [
      "after the end of a block",
      `<p>see {% if v %}${link("https://x.test/")}{% endif %}${link("{{ v }}")}</p>`,
      "see  https://x.test/  https://t.test/u/1",
    ],
  ])("%s", (_what, html, text) => {
    expect(render(textOf(html) ?? "", "text", { v: "https://t.test/u/1" })).toBe(text);
  });
});

describe("the text of an HTML template", () => {
  test.each([
    [
      "keeps merge tags",
      '<p>Hello {{ name | default: "you" }},</p><p>x</p>',
      'Hello {{ name | default: "you" }},\n\nx',
    ],
    [
      "keeps them in URLs",
      '<a href="https://x.test/?a={{ v }}&amp;b">go</a>',
      "go <https://x.test/?a={{ v }}&b>",
    ],
    [
      "leaves out those in hidden elements",
      '<p hidden>{{ a }}</p><p title="{{ b }}" {{ c }}>x</p><!-- {{ d }} -->',
      "x",
    ],
    [
      "drops filters that make HTML",
      "{{ a | upcase | escape | newline_to_br }}{{ b | escape | upcase }}{{ c | escape_once }}",
      "{{ a | upcase }}{{ b | escape | upcase }}{{ c | escape_once }}",
    ],
    ["keeps white space control", "<p>a {{- b | escape -}} c</p>", "a {{- b -}} c"],
    [
      "joins tags to the next line",
      "<p>a</p>{% if v %}<p>b</p>{% endif %}<p>c</p>",
      "a\n\n{% if v %}b\n\n{% endif %}c",
    ],
    ["leaves tags in a line", "<p>a {% if v %}b {% endif %}c</p>", "a {% if v %}b {% endif %}c"],
    [
      "keeps lists",
      "<ul>{% for i in v %}<li>{{ i }}</li>{% endfor %}</ul><p>b</p>",
      "{% for i in v %}- {{ i }}\n{% endfor %}\nb",
    ],
    [
      "does not number a list whose items a block repeats",
      "<ol>{% for i in v %}<li>{{ i }}</li>{% endfor %}</ol>",
      "{% for i in v %}- {{ i }}\n{% endfor %}",
    ],
    [
      "does not number a list whose items a block omits",
      "<ol><li>a</li>{% if v %}<li>b</li>{% endif %}<li>c</li></ol><ol><li>d</li></ol>",
      "- a\n{% if v %}- b\n{% endif %}- c\n\n1. d",
    ],
    [
      "numbers a list inside a block",
      "{% if v %}<ol><li>{{ v }}</li><li>b{% if v %}!{% endif %}</li></ol>{% endif %}",
      "{% if v %}1. {{ v }}\n2. b{% if v %}!{% endif %}\n\n{% endif %}",
    ],
    ["leaves comments out", "a{% comment %}{{ b }}{% endcomment %}c", "a{% comment %}{% endcomment %}c"],
    [
      "leaves out tags between attributes",
      '<a {% if v %}class="x"{% endif %} href="https://x.test/">a</a>',
      "a <https://x.test/>",
    ],
  ])("%s", (_what, html, text) => {
    expect(textOf(html)).toBe(text);
  });

  test.each([
    ["references", "<p>Write &#123;&#123; v &#125;&#125; here</p>", "Write {{ v }} here"],
    ["parts of a word", "<p>{<b>{ v }</b>}</p>", "{{ v }}"],
    ["a tag in two parts", "{<span></span>% assign x = 1 %}", "{% assign x = 1 %}"],
    ["a tag that is broken by its neighbours", "&#123;% end", "{% end"],
    ["raw text", "{% raw %}{{ &amp; }}{% endraw %}", "{{ & }}"],
    ["the end of raw text", "{% raw %}&#123;% endraw %}{{ v }}{% endraw %}{{ v }}", "{% endraw %}{{ v }}Tom"],
    ["text that touches a merge tag", "&#123;{{ v }}} &#123;{% if v %}x{% endif %}", "{Tom} {x"],
    ["many", "&#123;&#123;&#123;&#123;{<b></b>% raw", "{{{{{% raw"],
    [
      "an address",
      '<a href="https://x.test/&#123;&#123;v&#125;&#125;">a</a>',
      "a <https://x.test/%7B%7Bv}}>",
    ],
  ])("keeps braces that the HTML shows as text: %s", (_what, html, text) => {
    expect(render(textOf(html) ?? "", "text", { v: "Tom" })).toBe(text);
  });

  test("is not made with too many braces that are text", () => {
    expect(textOf("{<b></b>{ ".repeat(501))).toBeNull();
  });

  test("is not made if the source contains every private use character", () => {
    const taken = Array.from({ length: 0xf900 - 0xe000 }, (_, at) => String.fromCharCode(0xe000 + at)).join(
      "",
    );
    expect([textOf(taken.slice(2)), textOf(taken)]).toEqual([taken.slice(2), null]);
  });

  test("shows the words that the HTML shows, for every value", () => {
    const word = fc.constantFrom(
      "<p>one</p>",
      "two ",
      "<b>{{ a }}</b> ",
      "{{ b }} ",
      '<a href="https://x.test/{{ a }}">three</a> ',
      "<br>",
      "<td>{{ c }}</td>",
    );
    const words = fc.array(word, { maxLength: 5 }).map((parts) => parts.join(""));
    const block = fc.oneof(
      words,
      words.map((inner) => `{% if a %}<div>${inner}</div>{% else %}<p>none</p>{% endif %}`),
      words.map((inner) => `<ul>{% for c in list %}<li>${inner}</li>{% endfor %}</ul>`),
    );
    const value = fc.constantFrom("", "a&b", "<i>", "two words", '"', null);
    const values = fc.record({
      a: value,
      b: value,
      c: value,
      list: fc.array(fc.constantFrom("x", "y<"), { maxLength: 2 }),
    });
    const wordsOf = (text: string) => text.split(/[\s>]+/).filter((part) => !["", "-"].includes(part));
    fc.assert(
      fc.property(fc.array(block, { maxLength: 5 }), values, (blocks, fields) => {
        const html = blocks.join("\n");
        const text = render(textOf(html) ?? "", "text", fields);
        expect(wordsOf(text)).toEqual(wordsOf(textFromHtml(render(html, "html", fields))));
      }),
      { numRuns: 1000 },
    );
  });
});
