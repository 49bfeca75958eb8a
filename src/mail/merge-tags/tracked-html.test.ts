import { describe, expect, test } from "vitest";
import { trackHtml } from "./tracked-links.ts";

/** The HTML with links to `t/INDEX`, and the destination of each. */
function tracked(html: string) {
  const targets: string[] = [];
  const made = trackHtml(html, {
    pixel: "https://t.test/o.gif",
    tracked(index, target, isPersonal) {
      expect(isPersonal).toBe(true);
      targets.push(target);
      return target.includes("too-long") ? target : `https://t.test/${index}`;
    },
  });
  const pixel = /<img src="https:\/\/t\.test\/o\.gif"[^>]*>/;
  expect(made.match(new RegExp(pixel, "g"))).toHaveLength(1);
  return { html: made.replace(pixel, "|"), targets };
}

describe("finished HTML", () => {
  test.each([
    [
      "with character references",
      '<a href="https://x.test/?a=1&amp;b=2">a</a>',
      '<a href="https://t.test/0">a</a>|',
      ["https://x.test/?a=1&b=2"],
    ],
    [
      "without quotes",
      "<a href=https://x.test/?a=b class=y>a</a>",
      "<a href=https://t.test/0 class=y>a</a>|",
      ["https://x.test/?a=b"],
    ],
    [
      "with braces, which are no merge tags here",
      '<a href="https://x.test/{{ id }}">{{ name }}</a><a href="https://{{ host }}/">b</a>',
      '<a href="https://t.test/0">{{ name }}</a><a href="https://{{ host }}/">b</a>|',
      ["https://x.test/{{ id }}"],
    ],
    [
      "with URLs that are not tracked",
      '<a href="mailto:a@x.test">a</a><a href="tel:+4930">b</a><a href="#c">c</a><a href="cid:d">d</a><a href="/e">e</a><a data-no-track href="https://x.test/f">f</a><link href="https://x.test/g">',
      '<a href="mailto:a@x.test">a</a><a href="tel:+4930">b</a><a href="#c">c</a><a href="cid:d">d</a><a href="/e">e</a><a data-no-track href="https://x.test/f">f</a><link href="https://x.test/g">|',
      [],
    ],
    [
      "with an invalid URL, which stays unchanged and keeps its index",
      '<a href="https://x.test/too-long?a&amp;b">a</a><a href="https://x.test/b">b</a>',
      '<a href="https://x.test/too-long?a&amp;b">a</a><a href="https://t.test/1">b</a>|',
      ["https://x.test/too-long?a&b", "https://x.test/b"],
    ],
    [
      "with a body, and a link after it",
      '<html><body>\r\n<a href="https://x.test/a">a</a></body>\r\n<a href="https://x.test/b">b</a></html>',
      '<html><body>\r\n<a href="https://t.test/0">a</a>|</body>\r\n<a href="https://t.test/1">b</a></html>',
      ["https://x.test/a", "https://x.test/b"],
    ],
    ["without a link", "<p>Hello</p>", "<p>Hello</p>|", []],
  ])("%s", (_name, html, expected, targets) => {
    expect(tracked(html)).toEqual({ html: expected, targets });
  });
});

test("HTML with too much markup is unchanged", () => {
  const html = '<a href="https://x.test/">a</a>'.repeat(20_000);
  expect(trackHtml(html, { pixel: "https://t.test/o.gif", tracked: () => "https://t.test/" })).toBe(html);
});
