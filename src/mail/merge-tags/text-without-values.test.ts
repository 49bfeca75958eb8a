import { expect, test } from "vitest";
import { textWithoutValues } from "./text-without-values.ts";

test.each([
  ["Hello", "Hello"],
  ["Hello {{ first_name }}!", "Hello …!"],
  ['Hello {{ first_name | default: "you" }}!', "Hello you!"],
  ["{{ a | upcase | default: 'you', allow_false: true }}", "you"],
  ["{{ a | default: 'you' | upcase }}", "…"],
  ["{{ a | default: first_name }}", "…"],
  ["{{ a }}{{ b }} {{ c }}", "… …"],
  ["{% if a %}One {{ b }}{% else %}Two{% endif %}, news", "…, news"],
  ["{% for a in b %}{% if c %}x{% endif %}{% endfor %}", "…"],
  ["{% assign a = 'x' %}{% comment %}secret{% endcomment %}{% capture b %}c{% endcapture %}Tea", "Tea"],
  ["{% raw %}{{ a }}{% endraw %} stays", "{{ a }} stays"],
  ["https://shop.test/?u={{ email | url_encode }}&v=1", "https://shop.test/?u=…&v=1"],
  ["{{ a", "…"],
  ["{% if a %}", "…"],
  ["", ""],
])("%j is shown to others as %j", (source, shown) => {
  expect(textWithoutValues(source)).toBe(shown);
});
