import { expect, test } from "vitest";
import { parseAddress } from "./address.ts";

test.each([
  "xn--a.com",
  "xn--zzzzzz.com",
  "xn--abc-.com",
  "shop.com©",
  "shop©.com",
  "☃.com",
  "a.xn--b",
  "→.de",
])("%s is not a domain that a registry can assign", (domain) => {
  expect(parseAddress(`user@${domain}`).ok).toBe(false);
});

test.each([
  "münchen.de",
  "xn--mnchen-3ya.de",
  "例え.jp",
  "почта.рф",
  "l·l.cat",
  "बिहार.भारत",
  "i❤.ws",
  "ab--cd.com",
])("%s is a domain", (domain) => {
  expect(parseAddress(`user@${domain}`)).toMatchObject({ ok: true });
});
