import fc from "fast-check";
import { Parser } from "htmlparser2";
import { Liquid } from "liquidjs";
import { describe, expect, test } from "vitest";
import { readHtmlTemplate } from "#test/support/html-template.ts";
import { compileTemplate } from "./compile.ts";
import { placeInsertions } from "./html-template.ts";
import { withInsertions } from "./template-pieces.ts";

const links = { pixel: null, tracked: (_index: number, target: string) => target };

/** What a mail shows; null if the values do not fit the filters. */
function written(source: string, variables: Record<string, string>): string | null {
  const made = withInsertions(source, placeInsertions(readHtmlTemplate(source)));
  const rendered = compileTemplate(made, "html", "UTC")({ variables, more: {}, links });
  return rendered.ok ? rendered.text : null;
}

const output = (...filters: readonly string[]) => `{{ ${["name", ...filters].join(" | ")} }}`;

describe("values in HTML are escaped exactly once,", () => {
  const plain = new Liquid();
  const value = fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom("&", "<b>", "&amp;", "&lt;", "&#34;", "&#39;", "'", "Ada"))
      .map((parts) => parts.join("")),
  );

  test.each(["escape", "escape_once", "xml_escape"])("with %s as LiquidJS does it", (filter) => {
    fc.assert(
      fc.property(value, (name) => {
        expect(written(output(filter), { name })).toBe(plain.parseAndRenderSync(output(filter), { name }));
      }),
    );
  });

  test("at any position of the filter escape", () => {
    const filters = fc.array(
      fc.constantFrom("upcase", "strip_html", "append: '<'", "truncate: 9", "newline_to_br"),
    );
    fc.assert(
      fc.property(filters, filters, value, (before, behind, name) => {
        const source = output(...before, "escape", ...behind);
        expect(written(source, { name })).toBe(written(output(...before, ...behind), { name }));
      }),
    );
  });
});

test("no value, through any filters, adds an element or an attribute", () => {
  const hostile = fc.constantFrom(
    "<i onclick=x>",
    " onclick=x ",
    "' onclick='x",
    '" onclick="x',
    "&lt;i&gt;\n&amp;lt;i>",
    "%3Ci%20onclick=x%3E",
    "PGkgb25jbGljaz14Pg==",
    "><i>\n",
  );
  const filter = fc.constantFrom(
    "append: more",
    "base64_decode",
    "cgi_escape",
    "escape",
    "escape_once",
    "newline_to_br",
    "replace: 'x', more",
    "slice: 1, 9",
    "strip_html",
    "upcase",
    "uri_escape",
    "url_decode",
    "url_encode",
    "xml_escape",
  );
  const template = fc
    .array(filter, { maxLength: 4 })
    .map((used) => output(...used))
    .chain((tag) =>
      fc.constantFrom(
        `<p title="${tag}">${tag}</p>`,
        `<p title=${tag}>${tag}</p>`,
        `<a href="https://x.test/?a=${tag}">x</a>`,
        `<a href=https://x.test/?a=${tag}>x</a>`,
        `<a href=${tag}>x</a>`,
        `<a href='${tag}'>x</a>`,
        `{% capture c %}${tag}{% endcapture %}<p title='{{ c }}'>{{ c | newline_to_br }}</p>`,
      ),
    );
  fc.assert(
    fc.property(template, hostile, hostile, (source, name, more) => {
      const found = new Set<string>();
      const parser = new Parser({
        onopentag: (element, attributes) => {
          found.add(element);
          for (const attribute of Object.keys(attributes)) found.add(`${element} ${attribute}`);
        },
      });
      parser.end(written(source, { name, more }) ?? "");
      expect([...found].filter((one) => !["p", "p title", "a", "a href", "br"].includes(one))).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});
