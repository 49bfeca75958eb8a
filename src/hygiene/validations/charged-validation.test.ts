import { afterAll, expect, onTestFinished, test } from "vitest";
import { SmtpProber } from "#hygiene/probe/prober.ts";
import { ProviderRateLimit, type RateLimits } from "#hygiene/probe/provider-rate-limit.ts";
import { systemClock } from "#platform/clock.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { createAddressChecker } from "./address-checker.ts";
import { createValidate } from "./charged-validation.ts";
import { createAddressLists } from "./disposable-and-role-lists.ts";
import { listValidations } from "./store.ts";

const db = await testDatabase();
const dns = await startFakeDns({
  "good.test": { MX: [[10, "mx.good.test"]] },
  "mx.good.test": { A: ["127.0.0.1"] },
});
afterAll(() => dns.close());

async function validator(limits: Partial<RateLimits> = {}) {
  const mx = await startFakeMx();
  const prober = new SmtpProber({
    resolver: dns.resolver,
    ehloName: "out.example.test",
    port: mx.port,
    allowPrivate: true,
    rateLimit: new ProviderRateLimit(limits),
  });
  onTestFinished(async () => {
    await prober.close();
    await mx.close();
  });
  const checker = createAddressChecker({
    clock: systemClock,
    resolver: dns.resolver,
    lists: createAddressLists("/nonexistent", []),
    allowPrivateMx: true,
    prober,
  });
  const workspaceId = await insertBareWorkspace(db);
  const validate = createValidate({ db, clock: systemClock, plans, checker });
  return { workspaceId, prober, ask: (email: string) => validate(workspaceId, { email, source: null }) };
}

test("a validation during a stop of the service fails, is not charged and not in the history", async () => {
  const { workspaceId, prober, ask } = await validator();
  await prober.close();
  await expect(ask("ada@good.test")).rejects.toMatchObject({ status: 503 });
  expect((await getMeterReading(db, plans, workspaceId, systemClock.now())).used.validation).toBe(0);
  expect(await listValidations(db, workspaceId, { limit: 10, offset: 0 })).toEqual([]);
});

test("at the rate limit of the provider the result is unknown, and not cached", async () => {
  const { ask } = await validator({ mostWaiting: 0 });
  for (const answer of [await ask("ada@good.test"), await ask("ada@good.test")]) {
    expect(answer).toMatchObject({ status: "unknown", cached: false });
    expect([answer.email_exists, answer.smtp_response]).toEqual([undefined, undefined]);
  }
});
