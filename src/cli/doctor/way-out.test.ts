import { expect, test } from "vitest";
import { openExaminations } from "../../../test/support/examination.ts";
import type { DnsZone } from "../../../test/support/fake-dns.ts";
import { startService } from "../../../test/support/service.ts";

const examine = await openExaminations(await startService());

test("a port that nobody answers at is a fault; a host that refuses us can be reached, which is none", async () => {
  const shut = await examine({ mx: null });
  expect(shut.code).toBe(1);
  expect(shut.of("port")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/No connection\. mx\.example\.test.*ECONNREFUSED.*ask yours to open it/),
  });
  const { of, code } = await examine({ mx: { answers: { banner: "554 5.7.1 You are on our list" } } });
  expect(of("port")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("You are on our list"),
  });
  expect(code).toBe(0);
});

test("another domain's hosts may be named, and one without a sender has to name them", async () => {
  const words = ["--mx-of", "other.test"];
  const change: DnsZone = { "other.test": { MX: [[10, "mx.example.test"]] } };
  const named = await examine({ words, change, env: () => ({ PLATFORM_FROM: "" }) });
  expect(named.of("port")?.status).toBe("ok");
  const unnamed = await examine({ env: () => ({ PLATFORM_FROM: "" }) });
  expect(unnamed.of("port")).toMatchObject({
    status: "not_checked",
    message: expect.stringContaining("--mx-of"),
  });
});

test("a relay is greeted in place of mail hosts, and its refusal is repeated", async () => {
  const relay = (port: number) => ({ MAIL_MODE: "relay", RELAY_URL: `smtp://smart.test:${port}` });
  const { of, findings } = await examine({ env: relay });
  expect(of("relay")).toMatchObject({ status: "ok" });
  expect(findings.map(({ check }) => check)).not.toContain("reverse DNS");
  const shut = await examine({ env: relay, mx: null });
  expect(shut.of("relay")).toMatchObject({ status: "fault", message: expect.stringContaining("RELAY_URL") });
});
