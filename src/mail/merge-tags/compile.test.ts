import fc from "fast-check";
import { Liquid } from "liquidjs";
import { describe, expect, test } from "vitest";
import { headerTextFault } from "#mail/address.ts";
import { workedMs } from "#test/support/cpu-time.ts";
import { readHtmlTemplate } from "#test/support/html-template.ts";
import { compileTemplate } from "./compile.ts";
import { textOf, unescapeHtml } from "./escape.ts";
import { compileFast } from "./fast-render.ts";
import { bodyEnd, placeInsertions } from "./html-template.ts";
import { type MergeValues, renderingEngine, renderWithLiquid } from "./liquid-engine.ts";
import { withInsertions } from "./template-pieces.ts";
import { trackLinks } from "./tracked-links.ts";

const links = {
  pixel: "https://t.test/o.gif?a&b",
  tracked: (index: number, to: string) => `https://t.test/${index}/${to}`,
};
const valuesOf = (custom_fields: Record<string, unknown>): MergeValues => ({
  variables: { name: custom_fields.name, custom_fields },
  more: custom_fields,
  links,
});

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "",
    "Ada",
    "<b>&amp;'\"",
    "a,b;c",
    "2026-01-31",
    "2026-01-31T23:30:00Z",
    "12",
    "é日本🙂",
    "\r\n",
    "a b  c",
    "\ud800",
  ),
);
const value = fc.oneof(
  text,
  fc.constantFrom(null, undefined, true, false, 0, -1.5, 123456),
  fc.array(text, { maxLength: 3 }),
);
const anyValues = fc.record({
  name: value,
  city: value,
  empty: fc.constant(""),
  list: fc.array(text, { maxLength: 3 }),
});

const name = fc.constantFrom(
  "name",
  "city",
  "custom_fields.city",
  "custom_fields['city']",
  "empty",
  "list",
  "nobody",
  "name.size",
  "list.first",
  "list[0]",
  "constructor",
  "custom_fields.toString",
  "'x<'",
  "3",
);
const argument = fc.constantFrom("'<i>'", '"a, b"', "2", "-1", "city", "custom_fields.name", "true", "''");
const filter = fc.oneof(
  fc.constantFrom(
    ..."abs,capitalize,ceil,compact,downcase,escape,escape_once,first,floor,last,lstrip,newline_to_br,normalize_whitespace,reverse,round,rstrip,size,sort,split,squish,strip,strip_html,strip_newlines,times,truncate,uniq,upcase,url_encode,url_decode,base64_encode,base64_decode,sha256,slugify,join,to_integer,array_to_sentence_string,number_of_words".split(
      ",",
    ),
  ),
  fc
    .tuple(
      fc.constantFrom(
        ..."append,at_least,at_most,concat,default,divided_by,join,minus,modulo,plus,prepend,remove,remove_first,replace,slice,split,strip,times,truncate,truncatewords".split(
          ",",
        ),
      ),
      fc.array(argument, { minLength: 1, maxLength: 2 }),
    )
    .map(([filterName, args]) => `${filterName}: ${args.join(", ")}`),
  fc.constantFrom(
    "default: 'x', allow_false: true",
    'date: "%Y-%m-%d %H:%M"',
    "hmac_sha256: 'key'",
    "default:",
  ),
);
const output = fc
  .tuple(
    fc.constantFrom("{{ ", "{{- "),
    name,
    fc.array(filter, { maxLength: 3 }),
    fc.constantFrom(" }}", " -}}", " | }}"),
  )
  .map(([open, of, filters, close]) => open + [of, ...filters].join(" | ") + close);
const words = fc.constantFrom("<p>", " \n ", "Hello ", "{ x }", "}} ", "é", "</p>", "%}");
const quiet = fc.constantFrom(
  "{% # note %}",
  "{% comment %} {{ name }} {% endcomment %}",
  "{%- raw -%} {{ name }} {% if %} {% endraw -%}",
);
const simple = fc.array(fc.oneof(words, output, quiet), { maxLength: 8 }).map((parts) => parts.join(""));
const deciding = fc
  .array(
    fc.oneof(
      simple,
      simple.map(
        (inner) =>
          `{% if name == city or list contains "a" %}${inner}{% elsif city %}b{% else %}${inner}{% endif %}`,
      ),
      simple.map((inner) => `{% unless name %}${inner}{% endunless %}`),
      simple.map((inner) => `{% case name %}{% when "Ada", "12" %}${inner}{% else %}d{% endcase %}`),
      simple.map(
        (inner) => `{% for city in list limit: 2 %}${inner}{{ forloop.index }}{% else %}none{% endfor %}`,
      ),
      simple.map(
        (inner) =>
          `{% assign city = name | append: "<" %}${inner}{% capture it %}${inner}{% endcapture %}{{ it }}`,
      ),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(""));

describe("rendering equals LiquidJS's rendering with the same escaping, character for character,", () => {
  const plain = new Liquid({ outputEscape: "escape", timezoneOffset: "UTC", locale: "en-US" });
  // LiquidJS escapes every output; filters of the template that escape are no-ops.
  for (const filterName of ["escape", "xml_escape"]) plain.registerFilter(filterName, textOf);
  plain.registerFilter("escape_once", unescapeHtml);
  const compare = (source: string, values: Record<string, unknown>) => {
    const { variables, more } = valuesOf(values);
    let expected: string | null = null;
    try {
      const written: string = plain.parseAndRenderSync(source, variables, { globals: more });
      // HTML cannot have U+0000, which filters can decode from text: it is removed on purpose.
      expected = written.replaceAll("\0", "");
    } catch {}
    const rendered = compileTemplate(source, "html", "UTC")(valuesOf(values));
    expect(rendered.ok ? rendered.text : null).toBe(expected);
  };

  test("for templates of texts and outputs", () => {
    fc.assert(fc.property(simple, anyValues, compare), { numRuns: 3000 });
  });

  test("for templates with conditions and loops", () => {
    fc.assert(fc.property(deciding, anyValues, compare), { numRuns: 1000 });
  });

  test("but for U+0000 that a filter decodes", () => {
    compare("{{ city | base64_decode }}{{ name | url_decode }}", { city: "/wA", name: "a%00b" });
  });
});

describe("the fast renderer", () => {
  const place = fc.oneof(
    words,
    output,
    output.map((tag) => `<a href="https://x.test/?a=1&amp;b=${tag}&amp;c=${tag}">`),
    output.map((tag) => `<a href='${tag}' title="${tag}" class=${tag}>`),
    output.map((tag) => `<a href="mailto:${tag}"><!-- ${tag} -->`),
    fc.constant('<a href="https://x.test/?a=1&amp;b=2">x</a></body>'),
  );
  const mail = fc.array(place, { maxLength: 8 }).map((parts) => parts.join(""));

  test("writes what LiquidJS writes, including links, positions and pixel", () => {
    const engine = renderingEngine("html", "UTC");
    const outcome = (render: () => string) => {
      try {
        return render();
      } catch {
        return null;
      }
    };
    fc.assert(
      fc.property(mail, anyValues, (source, given) => {
        const template = readHtmlTemplate(source);
        const pixel = { at: bodyEnd(template), text: "{% open_pixel %}" };
        const insertions = [...placeInsertions(template), ...trackLinks(template).insertions, pixel];
        const made = withInsertions(source, insertions);
        const write = compileFast(engine, made);
        if (write === null) return;
        const values = valuesOf(given);
        expect(outcome(() => String(write(values)))).toBe(
          outcome(() => renderWithLiquid(engine, engine.parse(made), values)),
        );
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    "Hello {{ name | default: 'x' }}",
    "{{ city | date: '%Y' }}{% raw %}{{{% endraw %}",
    "{% open_pixel %}",
  ])("renders %j", (source) => {
    expect(compileFast(renderingEngine("html", "UTC"), source)).not.toBeNull();
  });

  test.each([
    "{% if name %}x{% endif %}",
    "{{ name.size }}",
    "{{ list | sort }}",
    "{{ a == b }}",
    "{{ (1..2) }}",
  ])("leaves %j to LiquidJS", (source) => {
    expect(compileFast(renderingEngine("html", "UTC"), source)).toBeNull();
  });
});

describe("a template that costs too much", () => {
  const thousand = "(1..1000)";
  const forever = (inner: string) => `{% for i in ${thousand} %}${inner}{% endfor %}`;
  const doubled = (text: string, times: number) =>
    `{% assign a = "${text}" %}${"{% assign a = a | append: a %}".repeat(times)}{% assign r = a | split: "," %}`;
  const values = doubled("z,y,x,w,v,", 11);
  const long = doubled("xxxxxxxxxxxxxxxxxxxx", 13);
  test.each([
    ["nested loops", `{% for a in ${thousand} %}{% for b in ${thousand} %}{% endfor %}{% endfor %}`],
    ["a loop over millions", "{% for a in (1..100000000) %}{% endfor %}"],
    ["a text that doubles", `{% assign a = "xxxxxxxx" %}${"{% assign a = a | append: a %}".repeat(30)}`],
    [
      "a capture that doubles",
      `{% capture a %}x{% endcapture %}${"{% capture a %}{{ a }}{{ a }}{% endcapture %}".repeat(40)}{{ a }}`,
    ],
    [
      "replacements of replacements",
      `{{ "${"a".repeat(200)}"${`| replace: "a", "${"a".repeat(200)}"`.repeat(4)} }}`,
    ],
    [
      "a long text written many times",
      `{% assign a = "${"x".repeat(9000)}" %}{% for i in ${thousand} %}{{ a }}{% endfor %}`,
    ],
    ["a value searched among many", values + forever('{% if r contains "n" %}{% endif %}')],
    ["a word searched in a long text", long + forever('{% if a contains "xxxxxxxxxxxxxy" %}{% endif %}')],
    [
      "many values compared",
      `${values}{% assign s = a | split: "," %}${forever("{% if r == s %}{% endif %}")}`,
    ],
    ["many values sorted by a comparison", `${values}${forever("{% if r < a %}{% endif %}")}`],
    ["a long text read as a number", `${doubled("9999999999", 14)}${forever("{% if a < i %}{% endif %}")}`],
    ["cases of many values", values + forever("{% case r %}{% when s, r %}{% endcase %}")],
    ["many values as a name", values + forever("{{ custom_fields[r] }}")],
    ["many values reversed", values + forever("{% for j in r reversed %}{% break %}{% endfor %}")],
    ["many values sorted", `${doubled("z,y,x,w,v,", 16)}{% assign s = r | sort_natural %}`],
    ["values sorted again and again", doubled("z,y,x,w,v,", 8) + forever("{% assign s = r | sort %}")],
    ["a text searched from its end", long + forever("{% assign s = a | remove_last: a %}")],
    ["many dates", forever('{{ "2026-01-31T23:30:00Z" | date: "%B %c" }}')],
    ["dates of many parts", `${doubled("%B%B%B%B%B%B", 8)}{{ "2026-01-31" | date: a }}`],
    ["text removed from a range", `{% for i in (99999999..1) %}{% endfor %}${doubled("xxxxxxxxxx", 20)}`],
    ["a long tag many times", forever(`{% if ${"a or ".repeat(350)}a %}{% endif %}`)],
    ["many cases many times", forever(`{% case i %}{% when ${"0,".repeat(900)}0 %}{% endcase %}`)],
    ["a long URL many times", forever(`{% tracked_link 0 %}${"x".repeat(9_000)}{% endtracked_link %}`)],
  ])("is refused with a sentence instead of %s, before it runs for long", (_what, source) => {
    const render = compileTemplate(source, "html", "America/New_York");
    const from = workedMs();
    const rendered = render(valuesOf({}));
    expect(rendered).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^This could not be rendered: it /),
    });
    // Ten times the limit of the budget.
    expect(workedMs() - from).toBeLessThan(2_500);
  });

  test.each([
    [
      "a table of a hundred rows",
      `{% for i in (1..100) %}<tr>${'<td>{{ i | append: " x" }}</td>'.repeat(20)}</tr>{% endfor %}`,
    ],
    ["a hundred dates", '{% for i in (1..100) %}{{ "2026-01-31T23:30:00Z" | date: "%-d %B" }}{% endfor %}'],
    [
      "a choice of fifty in a hundred rows",
      `{% assign r = "${"tea,".repeat(50)}" | split: "," | sort %}{% for i in (1..100) %}{% if r contains "x" %}x{% endif %}{% endfor %}`,
    ],
    ["a thousand rows", "{% for i in (1..1000) %}{% if i == 3 and i != 4 %}x{% endif %}{{ i }}{% endfor %}"],
    ["two megabytes around a tag", `${"x".repeat(1_990_000)}{% if name %}{{ name }}{% endif %}`],
  ])("does not include ordinary mails: %s", (_what, source) => {
    expect(compileTemplate(source, "html", "America/New_York")(valuesOf({ name: "Ada" }))).toMatchObject({
      ok: true,
    });
  });

  test("is counted for each rendering separately", () => {
    const render = compileTemplate('{{ "x" | append: name }}', "text", "UTC");
    const values = valuesOf({ name: "y".repeat(100_000) });
    for (let mail = 0; mail < 200; mail++) expect(render(values).ok).toBe(true);
  });
});

describe("values", () => {
  test("in a header never end the line, whatever the template does with them", () => {
    fc.assert(
      fc.property(deciding, anyValues, (source, values) => {
        const rendered = compileTemplate(source.replaceAll(/[\r\n]/g, " "), "line", "UTC")(valuesOf(values));
        if (rendered.ok) expect(headerTextFault(rendered.text)).toBeNull();
      }),
    );
  });

  test("show only their own properties", () => {
    const render = compileTemplate(
      "{{ constructor }}{{ name.__proto__ }}{{ custom_fields.constructor.name }}",
      "text",
      "UTC",
    );
    expect(render(valuesOf({ name: "x" }))).toEqual({ ok: true, text: "" });
  });

  test.each([
    ["a day, the same in every zone", "2026-01-31", "%-d %b %H:%M", "31 Jan 00:00"],
    ["an instant, in the workspace's zone", "2026-01-31T23:30:00.000Z", "%-d %b %H:%M", "31 Jan 18:30"],
  ])("are dates: %s", (_what, date, format, shown) => {
    const render = compileTemplate(`{{ name | date: "${format}" }}`, "text", "America/New_York");
    expect(render(valuesOf({ name: date }))).toEqual({ ok: true, text: shown });
  });

  test("that a filter cannot handle give an error sentence", () => {
    expect(compileTemplate("{{ name | base64_decode }}", "text", "UTC")(valuesOf({ name: "§" }))).toEqual({
      ok: false,
      message: "This could not be rendered: invalid base64 provided to base64_decode.",
    });
  });
});
