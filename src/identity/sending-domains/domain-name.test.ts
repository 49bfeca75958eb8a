import { expect, test } from "vitest";
import { readSendingDomain } from "./domain-name.ts";

test.each([
  ["example.com", "example.com"],
  ["  EXAMPLE.Com. ", "example.com"],
  ["news.example.co.uk", "news.example.co.uk"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["BÜCHER.example", "xn--bcher-kva.example"],
  ["shop.github.io", "shop.github.io"],
])("%j is read as %s", (text, domain) => {
  expect(readSendingDomain(text)).toBe(domain);
});

test.each([
  "",
  "com",
  "co.uk",
  "github.io",
  "localhost",
  "gmail.com",
  "GoogleMail.com",
  "mail.yahoo.co.uk",
  "https://example.com",
  "example.com/path",
  "example.com:25",
  "user@example.com",
  "192.0.2.1",
  "[2001:db8::1]",
  "*.example.com",
  "_dmarc.example.com",
  "example..com",
  "-a.example.com",
  "example.com\r\nx.example",
  "example.com\0",
  `${"a".repeat(64)}.com`,
  `${"a.".repeat(130)}com`,
])("%j is refused with the field's name", (text) => {
  expect(() => readSendingDomain(text)).toThrow(
    expect.objectContaining({
      code: "VALIDATION_ERROR",
      details: [{ field: "domain", message: expect.stringMatching(/^domain: /) }],
    }),
  );
});
