import { expect, test } from "vitest";
import { type HtmlMap, mapHtml } from "#mail/html/tag-positions.ts";
import { findUnsupported } from "./find-unsupported.ts";

const featuresIn = (html: string) => findUnsupported(html, mapHtml(html) as HtmlMap);
const slugs = (html: string) => featuresIn(html).map(({ slug }) => slug);

test.each([
  ['<p style="border-radius: 4px">x</p>', "css-border-radius"],
  ['<p style="color:red; DISPLAY: flex !important">x</p>', "css-display-flex"],
  ["<style>/* { */ @media (max-width: 600px) { .a { gap: 4px } }</style>", "css-gap"],
  ["<style>@font-face { font-family: X; src: url(x) }</style>", "css-at-font-face"],
  ["<style>a:hover{color:red}</style>", "css-pseudo-class-hover"],
  ['<p style="width:clamp(1px, 2px, 3px)">x</p>', "css-function-clamp"],
  ['<div style="background:linear-gradient(red, blue)">x</div>', "css-linear-gradient"],
  ["<video src=x></video>", "html-video"],
])("%s has the feature %s", (html, slug) => {
  expect(slugs(html)).toContain(slug);
});

test("a feature has the offset of its first use, its number of uses, and the programs that ignore it", () => {
  const html = '<p>x</p><p style="color:red; border-radius:4px">x</p><p style="border-radius:4px">x</p>';
  const found = featuresIn(html).find(({ slug }) => slug === "css-border-radius");
  expect(found).toMatchObject({ at: html.indexOf("border-radius"), times: 2 });
  expect(found?.ignoring).toContain("Outlook (Windows)");
  expect(found?.ignoring).not.toContain("Apple Mail (iOS)");
});

test("plain markup, conditional comments and text that looks like CSS have none", () => {
  expect(slugs("<p>border-radius: 4px; a:hover { gap: 1px }</p>")).toEqual([]);
  expect(slugs('<!--[if mso]><video style="border-radius:1px"></video><![endif]-->')).toEqual([]);
  expect(
    slugs("<style>/* p { border-radius: 4px } */</style>").filter((slug) => slug.startsWith("css")),
  ).toEqual([]);
});
