import { describe, expect, test } from "vitest";
import { readHtmlTemplate } from "#test/support/html-template.ts";
import { compileTemplate } from "./compile.ts";
import { bodyEnd, captureFaults, placeInsertions } from "./html-template.ts";
import { readTemplate, type Template } from "./read-template.ts";
import { withInsertions } from "./template-pieces.ts";

function read(source: string): Template {
  const reading = readTemplate(source);
  if (!reading.ok) throw new Error(reading.faults[0]?.message);
  return reading.template;
}

function written(source: string, value: string): string {
  const made = withInsertions(source, placeInsertions(readHtmlTemplate(source)));
  const links = { pixel: null, tracked: (_index: number, target: string) => target };
  const rendered = compileTemplate(made, "html", "UTC")({ variables: { v: value }, more: {}, links });
  return rendered.ok ? rendered.text : rendered.message;
}

describe("a value is escaped for its position:", () => {
  const value = `a b&<'"=/`;
  const html = "a b&amp;&lt;&#39;&#34;=/";
  const part = "a%20b%26%3C%27%22%3D%2F";
  const unquoted = "a&#32;b&#38;&#60;&#39;&#34;&#61;&#47;";
  test.each([
    ["text", "<p>{{ v }}</p>", `<p>${html}</p>`],
    ["a comment", "<!-- {{ v }} -->", `<!-- ${html} -->`],
    ["a title", "<title>{{ v }}</title>", `<title>${html}</title>`],
    ["an attribute", '<p title="{{ v }}">', `<p title="${html}">`],
    ["an attribute without quotes", "<p title={{ v }}>", `<p title=${unquoted}>`],
    ["a tag", "<p {{ v }}>", `<p ${unquoted}>`],
    ["the name of an element", "<{{ v }}>", `<${unquoted}>`],
    [
      "the query of a URL",
      '<a href="https://x.test/?a={{ v }}&amp;b={{ v }}">',
      `<a href="https://x.test/?a=${part}&amp;b=${part}">`,
    ],
    ["the path of a URL", '<img src="https://x.test/{{ v }}.png">', `<img src="https://x.test/${part}.png">`],
    ["an unquoted URL", "<a href=https://x.test/{{ v }}>", `<a href=https://x.test/${part}>`],
    [
      "a URL in a conditional comment",
      '<!--[if mso]><v:x href="https://x.test/{{ v }}"><![endif]-->',
      `<!--[if mso]><v:x href="https://x.test/${part}"><![endif]-->`,
    ],
    ["a URL that contains a tag", '<a href="{% if v %}/{% endif %}{{ v }}">', `<a href="/${part}">`],
    [
      "a URL that its author encodes",
      '<a href="/?a={{ v | url_encode }}">',
      `<a href="/?a=a+b%26%3C&#39;%22%3D%2F">`,
    ],
    [
      "an attribute after a tag",
      '<p {% if v %}class="{{ v }}"{% endif %} title={{ v }}>',
      `<p class="${html}" title=${unquoted}>`,
    ],
    ["a URL after a tag", '<a {% if v %}href="/{{ v }}"{% endif %}>', `<a href="/${part}">`],
  ])("%s", (_place, source, expected) => {
    expect(written(source, value)).toBe(expected);
  });

  test.each([
    ['<a href="{{ v }}">', "javascript:alert(1)", '<a href="#">'],
    ['<a href="{% if v %}{{ v }}{% endif %}">', "javascript:alert(1)", '<a href="#">'],
    ['<a href="{{ v }}">', "https://x.test/?a=b&c", '<a href="https://x.test/?a=b&amp;c">'],
    [
      '<a href="mailto:{{ v }}?subject={{ v }}">',
      "a@x.test",
      '<a href="mailto:a@x.test?subject=a%40x.test">',
    ],
    ['<a href="tel:{{ v }}">', "+49 30", '<a href="tel:+49%2030">'],
    ["{{ v | escape }}", "a&b", "a&amp;b"],
    ['<p title="{{ v | escape }}">', "a&b", '<p title="a&amp;b">'],
    ["{{ v | escape | upcase }}", "a&", "A&amp;"],
    ['{{ "Tom & Jerry" | xml_escape | append: "!" }}', "", "Tom &amp; Jerry!"],
    ["{% assign n = v | escape %}{{ n }}", "a&b", "a&amp;b"],
    ["{% capture n %}{{ v | escape }}{% endcapture %}{{ n }}", "a&b", "a&amp;b"],
    ['<a href="/?n={{ v | escape }}">', "Tom & Al", '<a href="/?n=Tom%20%26%20Al">'],
    ['<a href="{{ v | escape }}">', "/?a&b", '<a href="/?a&amp;b">'],
    ["<p title={{ v | escape }}>", "a&b", "<p title=a&#38;b>"],
    ["{{ v | escape | newline_to_br }}", "a&\nb", "a&amp;<br />\nb"],
    ["{{ v | newline_to_br | escape }}", "a&\nb", "a&amp;<br />\nb"],
    ["{{ v | newline_to_br | escape_once }}", "<\n&lt;", "&lt;&lt;br /&gt;\n&lt;"],
    ["{{ v | escape_once | newline_to_br }}", "&lt;i>\n", "&lt;i&gt;<br />\n"],
    ["{{ v | escape_once }}", "&lt;&eacute;&amp;lt; & &copy", "&lt;é&amp;lt; &amp; &amp;copy"],
    ['<a href="/?n={{ v | escape_once }}">', "Tom &amp; Al", '<a href="/?n=Tom%20%26%20Al">'],
    ["<a href=/?n={{ v | url_encode | url_decode }}>", "a onclick=b", "<a href=/?n=a&#32;onclick&#61;b>"],
    ["{{ v | newline_to_br }}", "a&\nb", "a&amp;<br />\nb"],
    ["{{ v | newline_to_br | upcase }}", "a\nb", "A&lt;BR /&gt;\nB"],
    ["{% capture c %}{{ v }}!{% endcapture %}{{ c }}<a href='/{{ c }}'>", "a&", "a&amp;!<a href='/a%26%21'>"],
    ["{% comment %}<a href='{% endcomment %}{{ v }}", "<", "&lt;"],
    ["{{ v | }}<a href='/{{ v | }}'>", "&", "&amp;<a href='/%26'>"],
  ])("%s with %j", (source, value, expected) => {
    expect(written(source, value)).toBe(expected);
  });

  test("markup in a capture is a fault, because a capture is a value", () => {
    const { pieces, source } = read(
      "{% capture a %}Fish & chips{% endcapture %}{% capture b %}<b>x</b>{% endcapture %}",
    );
    expect(
      captureFaults({ pieces, source, variables: [] }).map(({ at }) => source.slice(at, at + 3)),
    ).toEqual(["<b>"]);
  });
});

describe("the end of the body", () => {
  test.each([
    ["a</body></html>", "</body></html>"],
    ["{% if v %}a</body>{% endif %}", ""],
    ["{% raw %}</body>{% endraw %}", ""],
    ["{% if v %}a{% endif %}</body>", "</body>"],
  ])("of %j is outside of all blocks: before %j", (source, rest) => {
    expect(source.slice(bodyEnd(readHtmlTemplate(source)))).toBe(rest);
  });
});
