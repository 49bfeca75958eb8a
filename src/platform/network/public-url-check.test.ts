import { expect, test } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import { publicUrlFault } from "./public-url-check.ts";

const faultOf = (environment: Record<string, string>) =>
  publicUrlFault(readConfig({ MAIL_MODE: "direct", ...environment }));

test.each([
  [{}, "is not set"],
  [{ PUBLIC_URL: "https://localhost:8080" }, "PUBLIC_URL is a private address"],
  [{ PUBLIC_URL: "https://127.0.0.1" }, "PUBLIC_URL is a private address"],
  [{ PUBLIC_URL: "https://[::1]" }, "PUBLIC_URL is a private address"],
  [{ PUBLIC_URL: "https://192.168.1.4" }, "PUBLIC_URL is a private address"],
  [{ PUBLIC_URL: "http://mail.example.net" }, "is not https"],
  [{ MAIL_MODE: "relay", RELAY_URL: "smtp://127.0.0.1:25" }, "is not set"],
])("of %j the operator is told that it %s", (environment, fault) => {
  expect(faultOf(environment)).toContain(fault);
});

test.each([{ PUBLIC_URL: "https://mail.example.net" }, { MAIL_MODE: "capture" }])(
  "of %j nothing is wrong",
  (environment) => {
    expect(faultOf(environment)).toBeNull();
  },
);
