import { describe, expect, it } from "vitest";
import { markLinks } from "./mark-links.ts";

const marked = (html: string, ...urls: string[]) =>
  markLinks(
    html,
    urls.map((url) => ({ url })),
    ({ url }) => `[${url}]`,
  );

describe("markLinks", () => {
  it.each([
    ["a plain address", '<a href="https://shop.co/x">X</a>', "https://shop.co/x"],
    [
      "an escaped address",
      "<a class=b href='https://shop.co/?a=1&amp;b=2&#38;c&#x3D;3'>X</a>",
      "https://shop.co/?a=1&b=2&c=3",
    ],
    ["a merge tag", '<a href="https://shop.co/{{ city }}">X</a>', "https://shop.co/{{ city }}"],
    ["an impossible character", '<a href="https://shop.co/&#9999999;">X</a>', "https://shop.co/&#9999999;"],
  ])("finds a link with %s", (_, html, url) => {
    expect(marked(html, url)).toBe(html.replace("</a>", `[${url}]</a>`));
  });

  it("leaves links that are not tracked, and those in comments", () => {
    const html =
      '<!-- <a href="https://a.co">A</a> --><a href="https://b.co">B</a><a href="https://a.co">A</a>';
    expect(marked(html, "https://a.co")).toBe(html.replace(/<\/a>$/, "[https://a.co]</a>"));
  });
});
