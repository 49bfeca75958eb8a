import { expect, test } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import { startService } from "#test/support/service.ts";

const { call, url } = await startService();

test("without a gateway there is no top-up by call, and nobody listens to events", async () => {
  const { status, body } = await call("POST", "/billing/top-up", { amount: "25.00" });
  expect([status, body.code, body.error]).toEqual([
    400,
    "BAD_REQUEST",
    "No payment gateway is configured: ask the operator of this instance for a top-up",
  ]);
  expect((await fetch(`${url}/payments/stripe`, { method: "POST", body: "{}" })).status).toBe(404);
});

test("one of the two secrets alone is a configuration that nobody can have meant", () => {
  expect(() => readConfig({ STRIPE_SECRET_KEY: "sk_test_1" })).toThrow("STRIPE_WEBHOOK_SECRET");
});
