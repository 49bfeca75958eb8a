import fc from "fast-check";
import { Parser } from "htmlparser2";
import { describe, expect, test } from "vitest";
import { linkAttributes, mapHtml, mostLinks, mostMarkup } from "./tag-positions.ts";

const mapOf = (html: string) => mapHtml(html) ?? expect.fail("the HTML was not mapped");
const hrefsOf = (html: string) => linkAttributes(mapOf(html)).map(({ start, end }) => html.slice(start, end));

describe("links", () => {
  test.each([
    ['<a href="https://x.test/?a=1&amp;b=2">', ["https://x.test/?a=1&amp;b=2"]],
    ["<a href='https://x.test/'>", ["https://x.test/"]],
    ["<A CLASS=x HREF = https://x.test/?a=b>", ["https://x.test/?a=b"]],
    ['<area shape="rect" href="https://x.test/">', ["https://x.test/"]],
    ['<a href="https://x.test/1" href="https://x.test/2">', ["https://x.test/1"]],
    ['<a\nhref="https://x.test/\n?a">', ["https://x.test/\n?a"]],
    ['<a href="https://ü.test/ß?q=日本">', ["https://ü.test/ß?q=日本"]],
    ['<a title="> href=no" href="https://x.test/">', ["https://x.test/"]],
    ['<!--[if !mso]><!--><a href="https://x.test/"><!--<![endif]-->', ["https://x.test/"]],
    ['<a href="">', [""]],
  ])("are found in %j", (html, hrefs) => {
    expect(hrefsOf(html)).toEqual(hrefs);
  });

  test.each([
    ["another element", '<base href="https://x.test/"><link href="https://x.test/">'],
    ["a comment", '<!-- <a href="https://x.test/"> -->'],
    ["a conditional comment", '<!--[if mso]><a href="https://x.test/">x</a><![endif]-->'],
    ["the text of a script", '<script>"<a href=https://x.test/>"</script>'],
    ["an attribute", '<img alt="<a href=https://x.test/>">'],
    ["an anchor without a destination", '<a name="top">'],
    ["an anchor of SVG", '<svg><a xlink:href="https://x.test/"></a></svg>'],
    ["a link marked with data-no-track", '<a href="https://x.test/" data-no-track>'],
    ["a tag that does not end", '<a href="https://x.test/"'],
  ])("are not found in %s", (_what, html) => {
    expect(hrefsOf(html)).toEqual([]);
  });
});

describe("the end of the body", () => {
  test.each([
    ["<body>a</body></html>", "</body></html>"],
    ["a</BODY >\n", "</BODY >\n"],
    ["<html>a</html>", "</html>"],
    ["a</body>b</body>", "</body>"],
    ["a<!-- </body> -->b", ""],
    ["a<!--[if mso]></body><![endif]-->", ""],
    ["<p>a</p>", ""],
  ])("of %j is before %j", (html, rest) => {
    expect(html.slice(mapOf(html).bodyEnd)).toBe(rest);
  });
});

test("the values of attributes are those that an HTML parser reads", () => {
  const piece = fc.constantFrom(
    ..."<a |<area|<!--|-->|<!--[if mso]>|<![endif]-->| href=|\"|'|>|/>|https://x.test/| data-x|=|&amp;| |</a>|<style>|</style>|x".split(
      "|",
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const html = pieces.join("");
      const read: [string, string][] = [];
      let open: [string, string][] = [];
      const parser = new Parser(
        {
          onopentagname: () => {
            open = [];
          },
          onattribute: (name, value) => open.push([name, value]),
          onopentag: () => read.push(...open),
        },
        { decodeEntities: false },
      );
      parser.end(html);
      const mapped = mapOf(html)
        .tags.filter((tag) => !tag.isInComment)
        .flatMap((tag) => tag.attributes.map(({ name, start, end }) => [name, html.slice(start, end)]));
      expect(mapped).toEqual(read);
    }),
    { numRuns: 3000 },
  );
});

describe("HTML with too much markup", () => {
  test.each([
    ["start tags", "<b>"],
    ["end tags", "</b>"],
    ["comments", "<!---->"],
  ])("has no positions: %s", (_what, tag) => {
    expect(mapHtml(tag.repeat(mostMarkup))).not.toBeNull();
    expect(mapHtml(tag.repeat(mostMarkup + 1))).toBeNull();
  });

  test("counts attributes, too", () => {
    expect(mapHtml(`<a ${"b ".repeat(mostMarkup)}>`)).toBeNull();
  });

  test("has more links than can be counted", () => {
    expect(linkAttributes(mapOf("<a href=x>".repeat(mostLinks)))).toHaveLength(mostLinks);
    expect(mapHtml("<a href=x>".repeat(mostLinks + 1))).toBeNull();
  });

  test("does not occur with many newsletters in one", () => {
    expect(mapHtml('<td width="1" style="x"><a href="y">z</a></td>'.repeat(5_000))).not.toBeNull();
  });
});
