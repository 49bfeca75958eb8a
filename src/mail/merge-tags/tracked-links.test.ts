import fc from "fast-check";
import { Parser } from "htmlparser2";
import { describe, expect, test } from "vitest";
import { readHtmlTemplate } from "#test/support/html-template.ts";
import { compileTemplate } from "./compile.ts";
import { placeInsertions } from "./html-template.ts";
import { withInsertions } from "./template-pieces.ts";
import { trackLinks } from "./tracked-links.ts";

/** The result for a recipient whose links lead to `t/INDEX>TARGET`. */
function tracked(source: string, fields: Record<string, unknown> = {}) {
  const template = readHtmlTemplate(source);
  const { links, insertions } = trackLinks(template);
  const made = withInsertions(source, [...placeInsertions(template), ...insertions]);
  const targets: string[] = [];
  const personal: string[] = [];
  const rendered = compileTemplate(
    made,
    "html",
    "UTC",
  )({
    variables: { ...fields, custom_fields: fields },
    more: fields,
    links: {
      pixel: null,
      tracked(index, target, isPersonal) {
        targets.push(target);
        if (isPersonal) personal.push(target);
        return `https://t.test/${index}`;
      },
    },
  });
  if (!rendered.ok) throw new Error(rendered.message);
  return { html: rendered.text, links, targets, personal };
}

describe("a tracked URL", () => {
  test.each([
    [
      "with character references",
      '<a href="https://x.test/?a=1&amp;b=2">',
      '<a href="https://t.test/0">',
      "https://x.test/?a=1&b=2",
    ],
    ["without quotes", "<a href=https://x.test/?a=b>", "<a href=https://t.test/0>", "https://x.test/?a=b"],
    [
      "in single quotes",
      "<A HREF = 'https://x.test/' >",
      "<A HREF = 'https://t.test/0' >",
      "https://x.test/",
    ],
    [
      "in Unicode",
      '<a href="https://ü.test/日本?q=é">',
      '<a href="https://t.test/0">',
      "https://ü.test/日本?q=é",
    ],
    [
      "with braces that are no merge tags",
      '<a href="https://x.test/{id}?{{ n }}={0}">',
      '<a href="https://t.test/0">',
      "https://x.test/{id}?1={0}",
    ],
    [
      "in braces that are kept",
      '<a href="https://x.test/{% raw %}{{ n }}{% endraw %}">',
      '<a href="https://t.test/0">',
      "https://x.test/{{ n }}",
    ],
    [
      "with white space",
      '<a href=" https://x.test/\n a ">',
      '<a href="https://t.test/0">',
      "https://x.test/ a",
    ],
    [
      "with a base",
      '<base href="https://b.test/"><a href="https://x.test/">',
      '<base href="https://b.test/"><a href="https://t.test/0">',
      "https://x.test/",
    ],
    [
      "of an area",
      '<area coords="1,2" href="https://x.test/#a" alt="">',
      '<area coords="1,2" href="https://t.test/0" alt="">',
      "https://x.test/#a",
    ],
    [
      "around a picture with srcset",
      '<a href="https://x.test/"><img srcset="https://x.test/1 1x, https://x.test/2 2x"></a>',
      '<a href="https://t.test/0"><img srcset="https://x.test/1 1x, https://x.test/2 2x"></a>',
      "https://x.test/",
    ],
    [
      "that a tag completes",
      '<a href="https://x.test/{% if n %}a{% else %}b{% endif %}">',
      '<a href="https://t.test/0">',
      "https://x.test/a",
    ],
    [
      "after a tag in its element",
      '<a {% if n %}class="a"{% endif %} href="https://x.test/">',
      '<a class="a" href="https://t.test/0">',
      "https://x.test/",
    ],
    [
      "with a quote in a merge tag",
      `<a href="https://x.test/?a={{ no | default: "b" }}" title='{{ no | default: '"' }}'>`,
      `<a href="https://t.test/0" title='&#34;'>`,
      "https://x.test/?a=b",
    ],
  ])("%s keeps its destination, and nothing else changes", (_what, html, expected, target) => {
    const { html: written, targets } = tracked(html, { n: 1 });
    expect([written, targets]).toEqual([expected, [target]]);
  });

  test("has an index by its position, and says whether it is the same for all recipients", () => {
    const { html, links, targets } = tracked(
      '<a href="https://x.test/1">1</a><a href="/2">2</a><a href="https://x.test/?c={{ city }}&amp;e={{ e | url_encode }}">3</a><a href="https://x.test/1">4</a>',
      { city: "Fish & Chips/", e: "a@b" },
    );
    expect(links).toEqual([
      { url: "https://x.test/1", personal: false },
      { url: "https://x.test/?c={{ city }}&e={{ e | url_encode }}", personal: true },
      { url: "https://x.test/1", personal: false },
    ]);
    expect(html.match(/t\.test\/\d/g)).toEqual(["t.test/0", "t.test/1", "t.test/2"]);
    expect(targets[1]).toBe("https://x.test/?c=Fish%20%26%20Chips%2F&e=a%40b");
  });

  test("has its own destination in every turn of a loop", () => {
    const { targets } = tracked('{% for n in list %}<a href="https://x.test/{{ n }}">{% endfor %}', {
      list: ["a", "b"],
    });
    expect(targets).toEqual(["https://x.test/a", "https://x.test/b"]);
  });

  test.each([
    ["in a loop", "{% for n in list %}LINK{% endfor %}", ["https://x.test/a", "https://x.test/b"]],
    ["in a condition", "{% if list %}{% assign n = 1 %}LINK{% endif %}", ["https://x.test/1"]],
    ["of a name that the template assigns", '{% assign n = "c" %}LINK', ["https://x.test/c"]],
    ["that is always the same", "{% for n in list %}SAME{% endfor %}", []],
    ["of a value", "{% assign m = 1 %}LINK", ["https://x.test/v"]],
    ["of a value in a template that only writes values", "LINK", ["https://x.test/v"]],
  ])("%s says whether it depends on the recipient", (_what, source, expected) => {
    const made = source
      .replace("LINK", '<a href="https://x.test/{{ n }}">')
      .replace("SAME", '<a href="https://x.test/">');
    expect(tracked(made, { list: ["a", "b"], n: "v" }).personal).toEqual(expected);
  });
});

describe("a URL is not tracked", () => {
  test.each([
    ["with the scheme mailto", '<a href="mailto:a@x.test">'],
    ["with the scheme tel", '<a href="tel:+4930">'],
    ["with the scheme cid", '<a href="cid:logo">'],
    ["that is a fragment", '<a href="#top">'],
    ["without a host", '<a href="/a">'],
    ["without a scheme", '<a href="//x.test/">'],
    ["that is not a URL", '<a href="https://">'],
    ["that browsers do not parse", '<a href="https://x.test:port/">'],
    ["with a backslash in its host", '<a href="https://x.test\\@evil.test/">'],
    ["with the scheme javascript", '<a href="javascript:go()">'],
    ["marked with data-no-track", '<a data-no-track href="https://x.test/">'],
    ["in a conditional comment", '<!--[if mso]><a href="https://x.test/">x</a><![endif]-->'],
    ["in a comment", '<!-- <a href="https://x.test/"> -->'],
    [
      "of another element",
      '<link href="https://x.test/"><img src="https://x.test/"><form action="https://x.test/">',
    ],
  ])("%s", (_what, html) => {
    expect(tracked(html)).toEqual({ html, links: [], targets: [], personal: [] });
  });

  test.each([
    ["whose host a value decides", '<a href="https://{{ n }}.test/">', '<a href="https://1.test/">'],
    ["whose host a value could lengthen", '<a href="https://x.test{{ n }}">', '<a href="https://x.test1">'],
    ["that is a value", '<a href="{{ n }}">', '<a href="1">'],
    ["that a tag begins", '<a href="{% if n %}https://x.test/{% endif %}">', '<a href="https://x.test/">'],
    [
      "that shares a block with others",
      '{% if n %}<a href="https://x.test/{% else %}<a href="https://y.test/{% endif %}z">',
      '<a href="https://x.test/z">',
    ],
    [
      "that continues without quotes",
      "<a href=https://x.test/{% if n %}a{% endif %}>",
      "<a href=https://x.test/a>",
    ],
    ["in raw", '{% raw %}<a href="https://x.test/">{% endraw %}', '<a href="https://x.test/">'],
  ])("%s", (_what, html, written) => {
    expect(tracked(html, { n: 1 })).toEqual({ html: written, links: [], targets: [], personal: [] });
  });
});

test("in any HTML only the URLs of links change, and they keep their destinations", () => {
  const piece = fc.constantFrom(
    '<a href="',
    "<a href='",
    "<a href=",
    '"',
    "'",
    ">",
    " ",
    "https://x.test/",
    "?a=1&amp;b=&lt;",
    "HTTP://y.test",
    "</a>",
    "<!--",
    "-->",
    "<!--[if mso]>",
    "<![endif]-->",
    "<style>",
    "</style>",
    ' title="',
    "é",
    "&",
    "<",
    "mailto:a@b",
    "</body>",
    "\n",
  );
  const eventsOf = (html: string) => {
    const events: unknown[] = [];
    const hrefs: string[] = [];
    const parser = new Parser({
      onopentag: (name, { href, ...attributes }) => {
        events.push([name, attributes]);
        if (href !== undefined) hrefs.push(href.replaceAll(/[\t\n]/g, "").trim());
      },
      onclosetag: (name) => events.push(`/${name}`),
      ontext: (text) => events.push(text),
      oncomment: (text) => events.push(`!${text}`),
    });
    parser.end(html);
    return { events, hrefs };
  };
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
      const html = pieces.join("");
      const { html: written, targets, links } = tracked(html);
      const before = eventsOf(html);
      const after = eventsOf(written);
      expect(after.events).toEqual(before.events);
      const led = after.hrefs.map((href) => {
        const [, index] = /^https:\/\/t\.test\/(\d+)$/.exec(href) ?? [];
        return index === undefined ? href : targets[Number(index)];
      });
      expect(led).toEqual(before.hrefs);
      expect(links.map(({ url }) => url)).toEqual(targets);
    }),
    { numRuns: 3000 },
  );
});
