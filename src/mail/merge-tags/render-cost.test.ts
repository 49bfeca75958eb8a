import { Liquid } from "liquidjs";
import { expect, test } from "vitest";
import { costOf } from "#test/support/cost.ts";
import { compileTemplate } from "./compile.ts";

/**
 * Searches a word of 32,769 characters from the end of a text of 65,536; it matches everywhere up to its last
 * character.
 */
const bomb = [
  '{% assign text = "aaaaaaaaaaaaaaaa" %}',
  "{% for i in (1..12) %}{% assign text = text | append: text %}{% endfor %}",
  '{% assign word = text | slice: 0, 32768 | append: "b" %}',
  "{{ text | remove_last: word | size }}",
].join("");

test("a template that LiquidJS's own limits do not stop is refused before it runs", () => {
  // Its renderLimit is wall time, so a busy machine needs a generous one; a filter is not interrupted at any limit.
  const limited = new Liquid({ parseLimit: 10_000, renderLimit: 5_000, memoryLimit: 2_000_000 });
  const itsCost = costOf(() => expect(limited.parseAndRenderSync(bomb)).toBe("65536"));

  const render = compileTemplate(bomb, "text", "UTC");
  const values = { variables: {}, more: {}, links: { pixel: null, tracked: (_: number, to: string) => to } };
  const refused = { ok: false, message: "This could not be rendered: it handles too much text." };
  expect(costOf(() => expect(render(values)).toEqual(refused))).toBeLessThan(itsCost / 4);
});
