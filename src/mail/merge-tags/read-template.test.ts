import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { readTemplate } from "./read-template.ts";

function faultsOf(source: string) {
  const reading = readTemplate(source);
  return reading.ok ? [] : reading.faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

function variablesOf(source: string) {
  const reading = readTemplate(source);
  return reading.ok
    ? reading.template.variables.map(({ path, at }) => [path, source.slice(at, at + 4)])
    : null;
}

describe("a template that cannot be rendered is refused with position and sentence:", () => {
  test.each([
    ["Hello {{ first_name", "1:7 This merge tag is not closed with }}."],
    ["a\n  {{ x | shout }}", "2:3 There is no filter shout."],
    ["{{ x | raw }}", "1:1 There is no filter raw: values are always escaped."],
    ["{{ x | as_is }}", "1:1 There is no filter as_is."],
    ["a {% if x %}b", "1:3 {% if %} has no {% endif %}."],
    ["a {%- for x in y -%}b", "1:3 {% for %} has no {% endfor %}."],
    ["a {% else %}", "1:3 {% else %} is outside of its block."],
    ["a {% endif %}", "1:3 {% endif %} is outside of its block."],
    ["a {% foo %}", "1:3 There is no tag {% foo %}."],
    ["{% include 'x' %}", "1:1 There is no tag {% include %}."],
    ["{% tracked_link 0 %}x{% endtracked_link %}", "1:1 There is no tag {% tracked_link %}."],
    ["{% if x", "1:1 This tag is not closed with %}."],
    ["{{ }}", "1:4 A name is missing here."],
    ["a\n\nb{{#if x}}c{{/if}}", '3:4 This is not the name of a value: "#if x".'],
    ["{% for x of y %}{% endfor %}", "1:1 Write this as {% for name in values %}."],
    ["{% raw %}x", "1:10 {% raw %} has no {% endraw %}."],
    ["{{ (1..2 }}", "1:10 This cannot be read as a merge tag: invalid range syntax."],
  ])("%j", (source, fault) => {
    expect(faultsOf(source)[0]).toBe(fault);
  });

  test("all faults at once, in order", () => {
    expect(faultsOf("{{ a | b }}\n{% if x %}\n {{ c | d }}\n{% endif %}\n{{ }}{% e %}")).toEqual([
      "1:1 There is no filter b.",
      "3:2 There is no filter d.",
      "5:4 A name is missing here.",
      "5:6 There is no tag {% e %}.",
    ]);
  });

  test.each([
    ["{% if a %}{{ b | c }}", ["1:1 {% if %} has no {% endif %}.", "1:11 There is no filter c."]],
    [
      "{% for a in b %}{% if c %}",
      ["1:1 {% for %} has no {% endfor %}.", "1:17 {% if %} has no {% endif %}."],
    ],
    [
      "{% if a %}{% case b %}{% endif %}",
      ["1:11 {% case %} has no {% endcase %}.", "1:23 {% endif %} is outside"],
    ],
    ["{% if a %}{% e %}{% endif %}{% unless a %}", ["1:11 ", "1:29 {% unless %} has no {% endunless %}."]],
    ["{% if a %}{% endfor %}", ["1:1 {% if %} has no {% endif %}.", "1:11 {% endfor %} is outside"]],
    ["{{ a | b }}{% raw %}{% if %}", ["1:21 {% raw %} has no {% endraw %}."]],
    ["{{ a | b }}{% comment %}{% if %}", ["1:1 ", "1:12 {% comment %} has no {% endcomment %}."]],
  ])("an unclosed block, whatever else is wrong: %s", (source, faults) => {
    expect(faultsOf(source)).toEqual(faults.map((fault) => expect.stringContaining(fault)));
  });

  test.each([
    ["a very long tag", `a {{ b ${"| upcase ".repeat(250)}}}`, "1:3 Shorten this tag to 2000 characters."],
    [
      "deeply nested blocks",
      "{% if a %}".repeat(102) + "{% endif %}".repeat(102),
      "1:1011 This is nested too deeply.",
    ],
    [
      "nested brackets",
      `{{ ${"a[".repeat(990)}a }}`,
      "1:1985 This cannot be read as a merge tag: [ not closed.",
    ],
  ])("%s", (_what, source, fault) => {
    expect(faultsOf(source)[0]).toBe(fault);
  });

  test("more than two million characters", () => {
    expect(faultsOf("x".repeat(2_000_001))).toEqual(["1:1 Shorten this to 2000000 characters."]);
  });

  test.each<[string, (size: number) => string]>([
    ["alone", (size) => "{{ a | b }}".repeat(size)],
    ["in a comment", (size) => `{% comment %}${"{{a}}".repeat(4 * size)}{% endcomment %}`],
  ])("too many merge tags, in linear time: %s", (_where, sourceOf) => {
    expectLinearCost(24_000, sourceOf, (source) =>
      expect(faultsOf(source)).toEqual(["1:1 Shorten the merge tags to 20000 characters in all."]),
    );
  });

  test("many merge tags after a long text, in linear time", () => {
    const sourceOf = (tags: number) => `${"x".repeat(1_000 * tags)}${"{{ a | b }}".repeat(tags)}`;
    expectLinearCost(400, sourceOf, (source) => expect(faultsOf(source)).toHaveLength(20));
  });
});

describe("the variables of a template", () => {
  test.each([
    ["nothing", "Hello {% comment %}{{ a }}{% endcomment %}{% raw %}{{ b }}{% endraw %}", []],
    [
      "outputs",
      "{{ name }}\n{{ name.size }}",
      [
        [["name"], "name"],
        [["name", "size"], "name"],
      ],
    ],
    ["filters' arguments", "{{ 'x' | append: name }}", [[["name"], "name"]]],
    ["conditions", "{% if name == 'x' %}{% endif %}", [[["name"], "name"]]],
    [
      "a name that is only known when rendering",
      "{{ list[name] }}",
      [
        [["list", null], "list"],
        [["name"], "name"],
      ],
    ],
    [
      "not the names that it assigns itself",
      "{% assign own = name %}{{ own }}{% for one in list %}{{ one }}{{ forloop.index }}{% endfor %}",
      [
        [["name"], "name"],
        [["list"], "list"],
      ],
    ],
    ["a tag of several lines", "a\n{{\n  name\n}}", [[["name"], "name"]]],
  ])("are the names of %s", (_what, source, names) => {
    expect(variablesOf(source)).toEqual(names);
  });
});
