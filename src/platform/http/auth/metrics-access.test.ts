import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";

const TOKEN = "the-token-of-the-metrics";
const local = await startService();
const proxied = await startService({ env: { PUBLIC_URL: "https://post.example.com" } });
const guarded = await startService({ env: { METRICS_TOKEN: TOKEN, PUBLIC_URL: "https://post.example.com" } });

const statusOf = async (
  { api }: typeof local,
  headers: Record<string, string> = {},
  remoteAddress = "127.0.0.1",
) =>
  (
    await api.server.inject({
      url: "/metrics",
      remoteAddress,
      headers: { host: "127.0.0.1:8080", ...headers },
    })
  ).statusCode;

test("without a token, only callers on this machine see the metrics", async () => {
  expect(await statusOf(local)).toBe(200);
  expect(await statusOf(local, {}, "192.0.2.1")).toBe(401);
  expect(await statusOf(local, { "x-forwarded-for": "192.0.2.1" })).toBe(401);
  expect(await statusOf(local, { host: "rebound.example.test" })).toBe(401);
});

test("with PUBLIC_URL, calls from this machine are refused, because they may come through a proxy", async () => {
  expect(await statusOf(proxied)).toBe(401);
});

test("with a token, only callers that send it see the metrics", async () => {
  expect(await statusOf(guarded, { authorization: `Bearer ${TOKEN}` }, "192.0.2.1")).toBe(200);
  expect(await statusOf(guarded)).toBe(401);
  expect(await statusOf(guarded, { authorization: `Bearer ${TOKEN}x` })).toBe(401);
  expect(await statusOf(guarded, { authorization: TOKEN })).toBe(401);
});
