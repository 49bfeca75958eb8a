import fc from "fast-check";
import preset from "mjml-preset-core";
import { describe, expect, test } from "vitest";
import { readTemplate } from "#mail/merge-tags/read-template.ts";
import { compileMjml } from "./compile-mjml.ts";
import { joinMjml, withPreview } from "./join-mjml.ts";
import { MarkedSource } from "./marked-source.ts";
import { elementsWithHtml, mjmlElements } from "./mjml-elements.ts";

const column = (content: string) => `<mj-section><mj-column>${content}</mj-column></mj-section>`;
const document = (body: string, head = "") =>
  `<mjml>${head && `<mj-head>${head}</mj-head>`}<mj-body>${body}</mj-body></mjml>`;
async function html(source: string): Promise<string> {
  const compiled = await compileMjml(source);
  return compiled.ok ? compiled.html : expect.fail(compiled.faults.map(({ message }) => message).join());
}
const faults = async (source: string) => {
  const compiled = await compileMjml(source);
  return compiled.ok ? [] : compiled.faults;
};

/** Merge tags with characters that HTML, XML or CSS would read. */
const tags = fc.constantFrom(
  "{{ a }}",
  "{{ a | default: \"<b> & 'c'\" }}",
  "{{a|append:'}'}}",
  "{%- if a < b and c > d -%}{%- endif -%}",
  "{% raw %}{{ not }} <mj-text>{% endraw %}",
  "{% comment %} <mj-section> {% endcomment %}",
  '{% assign mtag0z = "mtag1z" %}',
);

describe("merge tags", () => {
  test("come out as they were written, in texts, attributes, styles and between elements", async () => {
    await fc.assert(
      fc.asyncProperty(tags, tags, tags, tags, async (text, url, between, style) => {
        const isOutput = style.startsWith("{{");
        const source = document(
          `${between}${column(`<mj-text>A ${text} B</mj-text>${between}<mj-button href="https://x.test/${url}?a=1">C</mj-button>`)}`,
          isOutput ? `<mj-style>p { color: ${style} }</mj-style>` : "",
        );
        expect(readTemplate(source).ok).toBe(true);
        const compiled = await html(source);
        // Comments of the template lose their content, which no reader is to see.
        const kept = (tag: string) => tag.replace(" <mj-section> ", "");
        expect(compiled).toContain(`A ${kept(text)} B`);
        expect(compiled).toContain(`href="https://x.test/${kept(url)}?a=1"`);
        expect(compiled.split(kept(between)).length).toBeGreaterThan(2);
        if (isOutput) expect(compiled).toContain(`color: ${style}`);
      }),
      { numRuns: 60 },
    );
  });

  test("may be colours and class names, and no sizes, which MJML computes with", async () => {
    const source = document(column('<mj-text color="{{ c }}" css-class="x-{{ c }}">x</mj-text>'));
    expect(await html(source)).toMatch(/class="x-\{\{ c \}\}".*color:\{\{ c \}\}/s);
    const [fault] = await faults(document(column('<mj-text font-size="{{ c }}">x</mj-text>')));
    expect(fault?.message).toContain("Attribute font-size has invalid value: {{ c }}");
  });

  test("and faults behind them are found at their places in the source", async () => {
    const source = document(`{{ a_long_name | default: "x" }}\n\n${column("<mj-nothing />")}`);
    const [fault] = await faults(source);
    expect(source.slice(fault?.at)).toMatch(/^<mj-nothing/);
  });
});

test("no file is read, and no font is loaded from another host", async () => {
  for (const type of ["", ' type="css"', ' type="html"']) {
    const [fault] = await faults(document(column(`<mj-include path="/etc/hostname"${type} />`)));
    expect(fault?.message).toContain("mj-include reads files");
  }
  const compiled = await html(document(column('<mj-text font-family="Roboto, Ubuntu">x</mj-text>')));
  expect(compiled).not.toMatch(/fonts\.googleapis|@import/);
});

test("elements that are nested too deeply, or are too many, are refused before they are compiled", async () => {
  const [deep] = await faults("<mj-wrapper>".repeat(50_000));
  expect(deep?.message).toBe("This is nested too deeply.");
  const many = await faults(document(column("<mj-spacer />".repeat(4_000))));
  expect(many.map(({ message }) => message)).toContain("Shorten this to 3000 elements.");
});

test("a fault is at its element, also where many are in one line", async () => {
  const source = document(
    `${column('<mj-text>a</mj-text><mj-text\n foo="1">b</mj-text><mj-image width="a" />')}<mj-text>c</mj-text>`,
  );
  const found = await faults(source);
  expect(
    found.map(({ at, message }) => [source.slice(at, at + 10), message.split(" ", 3).join(" ")]),
  ).toEqual([
    ["<mj-text>c", "mj-text cannot be"],
    ["<mj-text\n ", "Attribute foo is"],
    ["<mj-image ", "Attribute width has"],
  ]);
});

test("names of JavaScript's own properties are no elements, and change nothing for other documents", async () => {
  await faults(
    document(
      column('<mj-text mj-class="__proto__ constructor">x</mj-text><constructor /><hasOwnProperty />'),
      '<mj-attributes><mj-class name="__proto__" color="red" /></mj-attributes>',
    ),
  );
  expect(await html(document(column("<mj-text>x</mj-text>")))).not.toContain("red");
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test("a preheader is in the head, whatever the head is", async () => {
  const body = `<mj-body>${column("<mj-text>x</mj-text>")}</mj-body>`;
  for (const head of [
    "",
    "<mj-head></mj-head>",
    "<mj-head />",
    "<mj-head><mj-title>T</mj-title></mj-head>",
  ]) {
    const source = withPreview(`<mjml lang="de">${head}${body}</mjml>`, "5 < 6 {{ a }}") ?? "";
    expect(await html(source), head).toContain(">5 &lt; 6 {{ a }}</div>");
  }
  expect(withPreview(document("", "<mj-preview>x</mj-preview>"), "y")).toBeNull();
});

test("a layout's place is replaced, with the element mj-raw around it and without", async () => {
  const content = document(column("<mj-text>{{ a }}</mj-text>"), "<mj-title>T</mj-title>");
  for (const place of ["{{ content }}", "{{content}}", "<mj-raw>\n{{ content }}\n</mj-raw>"]) {
    const compiled = await html(joinMjml(document(`${column("")}${place}`), content));
    expect(compiled).toMatch(/<title>T<.*\{\{ a \}\}/s);
    expect(compiled).not.toContain("content }}");
  }
});

test("words in place of merge tags are no words of the source", () => {
  const source = "mtag0z MTAGq {{ a }} mtagq0z";
  const marked = new MarkedSource(source);
  expect(marked.restore(marked.text)).toBe(source);
  expect(marked.missingIn("mtag0z mtagq0z")).toEqual([13]);
});

test("the known elements are those of MJML, and those with HTML too", () => {
  const namesOf = (components: typeof preset.components) => components.map((one) => one.getTagName()).sort();
  expect([...mjmlElements].sort()).toEqual(namesOf(preset.components));
  expect([...elementsWithHtml].sort()).toEqual(
    namesOf(preset.components.filter(({ endingTag }) => endingTag)),
  );
});
