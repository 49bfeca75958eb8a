import { describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";

describe.each(["MAIL_HOSTNAME", "BOUNCE_DOMAIN"] as const)("%s", (name) => {
  test.each(["mail.example.com", "mail-1.EXAMPLE.com", "localhost", "xn--mller-kva.example"])(
    "takes %s",
    (value) => {
      expect(readConfig({ [name]: value })[name]).toBe(value);
    },
  );

  test.each([
    "my host",
    "mail_1.example.com",
    "-mail.example.com",
    "mail..example.com",
    "mail.example.com.",
    "192.0.2.1",
    "[192.0.2.1]",
    "bounce@example.com",
    "müller.example",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}example`,
  ])("refuses %s", (value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      `${name} must be a host name such as mail.example.com`,
    );
  });
});

test("without a name of its own the service has a host name nevertheless", () => {
  expect(readConfig({}).MAIL_HOSTNAME).toMatch(/^[a-z0-9.-]+$/i);
});
