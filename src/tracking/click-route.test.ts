import { expect, test } from "vitest";
import { linkTarget } from "./click-route.ts";

test.each([
  "https://shop.example/?a=1&b=%20x#part",
  "http://shop.example",
  "HTTPS://Shop.example/Path;v=1,2?q[]=1&u=http://x.example/",
  "https://shop.example/%E2%9C%93?x=%0d%0aSet-Cookie:a",
])("%s is unchanged in the Location header", (address) => {
  expect(linkTarget(address)).toBe(address);
});

test.each([
  "javascript:alert(1)",
  "JavaScript:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "file:///etc/passwd",
  "mailto:a@b.example",
  "//evil.example/",
  "/path",
  "evil.example",
  "https://",
  "",
  "ftp://x.example/",
])("%s is not a link target", (address) => {
  expect(linkTarget(address)).toBeNull();
});

test("characters that a header cannot contain are encoded, line breaks are removed", () => {
  expect(linkTarget("https://shop.example/ü ber?q=✓")).toBe("https://shop.example/%C3%BC%20ber?q=%E2%9C%93");
  expect(linkTarget("https://shop.example/a\r\nSet-Cookie: b=1")).toBe(
    "https://shop.example/aSet-Cookie:%20b=1",
  );
  expect(linkTarget("https://bücher.example/")).toBe("https://xn--bcher-kva.example/");
  expect(linkTarget("https:\\\\shop.example\\x")).toBe("https://shop.example/x");
  expect(linkTarget("https:shop.example")).toBe("https://shop.example/");
});
