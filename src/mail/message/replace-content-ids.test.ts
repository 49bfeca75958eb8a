import { expect, test } from "vitest";
import { replaceContentIds } from "./replace-content-ids.ts";

const shown = (html: string) => replaceContentIds(html, (id) => (id === "none" ? undefined : `<${id}>`));

test.each([
  ['<img src="cid:logo">', '<img src="<logo>">'],
  ["<img src='CID:a@b.test' alt=''>", "<img src='<a@b.test>' alt=''>"],
  ["<img src=cid:logo>", "<img src=<logo>>"],
  ['<td background=" cid:a%2Fb%25">', '<td background=" <a/b%>">'],
  [
    "<p style=\"background: url('cid:one'), url(cid:two)\">",
    "<p style=\"background: url('<one>'), url(<two>)\">",
  ],
  ['<img srcset="cid:one 1x, cid:two 2x">', '<img srcset="<one> 1x, <two> 2x">'],
  ['<img src="cid:50%">', '<img src="<50%>">'],
  ['<img src="cid:none">', '<img src="cid:none">'],
  ["<p>Write cid:logo into the source</p>", "<p>Write cid:logo into the source</p>"],
])("%s", (html, expected) => {
  expect(shown(html)).toBe(expected);
});
