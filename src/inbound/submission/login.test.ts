import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { systemClock } from "#platform/clock.ts";
import { KeyAuthenticator, type KeyRecord } from "#platform/http/authenticate.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { createLogins } from "./login.ts";

const secret = `efk_${"a".repeat(40)}`;
const record: KeyRecord = {
  workspaceId: asWorkspaceId(newId()),
  timezone: "UTC",
  isSuspended: false,
  defaultSender: null,
  retryHours: 72,
  tracksTransactional: false,
  actor: { kind: "key", id: newId(), name: "Key" },
  permissions: ["emails:*"],
  isActive: true,
  expiresAt: null,
};
const limits = { failedMs: 20, failures: 3, shutOutMs: 60_000, atOnce: 2 };

function logins(change: Partial<typeof limits> = {}) {
  const digest = hash("sha256", secret, "hex");
  const authenticator = new KeyAuthenticator({
    findKey: async (keyHash) => (keyHash.toString("hex") === digest ? record : undefined),
    clock: systemClock,
    onUse: () => {},
  });
  return createLogins({ authenticator, log: createLog("silent") }, { ...limits, ...change });
}

const answer = (login: Promise<void>) =>
  login.then(
    () => "in",
    (fault: Error) => fault.message,
  );

test("a network with too many failed logins is refused, even with the right key; others are not", async () => {
  const { login } = logins();
  for (let at = 0; at < limits.failures; at += 1) {
    expect(await answer(login("wrong", "192.0.2.1"))).toBe("5.7.8 The API key is not valid");
  }
  expect(await answer(login(secret, "192.0.2.1"))).toBe("4.7.0 Too many logins failed: retry later");
  expect(await answer(login(secret, "192.0.2.2"))).toBe("in");
});

test("a flood of guesses from many networks is limited", async () => {
  const { login } = logins();
  const flood = Array.from({ length: 10 }, (_, at) => answer(login("wrong", `192.0.2.${at}`)));
  const refused = "4.7.0 Too many logins failed: retry later";
  const wrong = "5.7.8 The API key is not valid";
  expect(await Promise.all(flood)).toEqual([wrong, wrong, ...Array.from({ length: 8 }, () => refused)]);
  expect(await answer(login(secret, "203.0.113.1"))).toBe("in");
});

test("every wrong key is answered after the same time", async () => {
  const { login } = logins({ failedMs: 100 });
  for (const wrong of ["", "nonsense", `efk_${"b".repeat(40)}`]) {
    const began = performance.now();
    await answer(login(wrong, "192.0.2.1"));
    expect(performance.now() - began).toBeGreaterThan(95);
  }
});
