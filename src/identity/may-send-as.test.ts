import { beforeEach, describe, expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { maySendAs, maySendAsEach } from "./may-send-as.ts";
import { returnPathHost, returnPathHosts } from "./return-path-host.ts";
import { setDomainSwitch } from "./sending-domains/operator-switch-store.ts";
import { insertSendingDomain } from "./sending-domains/store.ts";
import { insertVerifiedSender } from "./verified-senders/store.ts";

const db = await testDatabase();
const clock = stubClock();
const now = clock.now();
let workspaceId: WorkspaceId;

beforeEach(async () => {
  workspaceId = await newWorkspace();
});

const newWorkspace = async () =>
  (await createWorkspace(db, { name: "Test", timezone: "UTC", plan: "free" }, clock)).workspace.id;

async function addDomain(domain: string, assignments: string): Promise<void> {
  await insertSendingDomain(db, workspaceId, domain, now);
  await db.pool.query(`update sending_domains set ${assignments} where workspace_id = $1 and domain = $2`, [
    workspaceId,
    domain,
  ]);
}

async function addSender(email: string, isVerified: boolean): Promise<void> {
  await insertVerifiedSender(db, workspaceId, { email, fromName: "", now, expiresAt: now });
  await db.pool.query("update verified_senders set is_verified = $1 where workspace_id = $2", [
    isVerified,
    workspaceId,
  ]);
}

test("any address of a verified domain may be used, in any case", async () => {
  await addDomain("a.test", "is_verified = true");
  const allowed = { allowed: true, domain: "a.test", via: "domain" };
  expect(await maySendAs(db, workspaceId, "x@a.test")).toEqual(allowed);
  expect(await maySendAs(db, workspaceId, "X.Y@A.Test")).toEqual(allowed);
});

test("a verified sender may be used, in any case, and no other address beside it", async () => {
  await addSender("ada@b.test", true);
  expect(await maySendAs(db, workspaceId, "Ada@B.test")).toEqual({
    allowed: true,
    domain: "b.test",
    via: "sender",
  });
  for (const other of ["bob@b.test", "ada+x@b.test", "ada@sub.b.test"]) {
    expect(await maySendAs(db, workspaceId, other)).toEqual({ allowed: false });
  }
});

test.each(["x@sub.a.test", "x@a.test.evil.test", "x@aa.test", "x@test", "a.test", "", "x@A.test@evil.test"])(
  "%j is not on a.test",
  async (address) => {
    await addDomain("a.test", "is_verified = true");
    expect(await maySendAs(db, workspaceId, address)).toEqual({ allowed: false });
  },
);

test("what is not verified may not be used", async () => {
  await addDomain("a.test", "spf_verified = true, dkim_verified = true");
  await addSender("ada@b.test", false);
  expect(await maySendAs(db, workspaceId, "x@a.test")).toEqual({ allowed: false });
  expect(await maySendAs(db, workspaceId, "ada@b.test")).toEqual({ allowed: false });
});

describe("a domain that was switched off", () => {
  const rights = async () =>
    await Promise.all(
      ["x@switched.test", "ada@switched.test"].map(
        async (address) => (await maySendAs(db, workspaceId, address)).allowed,
      ),
    );

  beforeEach(async () => {
    await setDomainSwitch(db, { domain: "switched.test", workspaceId: null, isActive: true });
    await addDomain("switched.test", "is_verified = true");
    await addSender("ada@switched.test", true);
    expect(await rights()).toEqual([true, true]);
  });

  test.each([true, false])(
    "sends nothing, not even as a verified sender (everywhere: %j)",
    async (isEverywhere) => {
      const of = { domain: "switched.test", workspaceId: isEverywhere ? null : workspaceId };
      await setDomainSwitch(db, { ...of, isActive: false });
      expect(await rights()).toEqual([false, false]);
      await setDomainSwitch(db, { ...of, isActive: true });
      expect(await rights()).toEqual([true, true]);
    },
  );

  test("is off for who deletes and adds it again, and for who adds it later", async () => {
    await setDomainSwitch(db, { domain: "switched.test", workspaceId: null, isActive: false });
    await db.pool.query("delete from sending_domains where domain = 'switched.test'");
    expect(await rights()).toEqual([false, false]);
    await addDomain("switched.test", "is_verified = true");
    expect(await rights()).toEqual([false, false]);
    workspaceId = await newWorkspace();
    await addDomain("switched.test", "is_verified = true");
    expect((await maySendAs(db, workspaceId, "x@switched.test")).allowed).toBe(false);
  });

  test("is on for the one workspace that it was given back to, and off for another", async () => {
    await setDomainSwitch(db, { domain: "switched.test", workspaceId: null, isActive: false });
    await setDomainSwitch(db, { domain: "switched.test", workspaceId, isActive: true });
    expect(await rights()).toEqual([true, true]);
    const given = workspaceId;
    workspaceId = await newWorkspace();
    await addSender("ada@switched.test", true);
    expect(await rights()).toEqual([false, false]);
    workspaceId = given;
    await setDomainSwitch(db, { domain: "switched.test", workspaceId: null, isActive: false });
    expect(await rights()).toEqual([false, false]);
  });
});

test("a sender on a domain that is not verified yet may be used", async () => {
  await addDomain("a.test", "is_verified = false");
  await addSender("ada@a.test", true);
  expect(await maySendAs(db, workspaceId, "ada@a.test")).toMatchObject({ allowed: true, via: "sender" });
});

test("a batch is answered question by question, each workspace for itself", async () => {
  await addDomain("a.test", "is_verified = true");
  const other = await newWorkspace();
  const ask = (workspace: WorkspaceId, address: string, domain: string) => ({
    workspaceId: workspace,
    address,
    domain,
  });
  const questions = [
    ask(workspaceId, "X@a.test", "a.test"),
    ask(other, "X@a.test", "a.test"),
    ask(workspaceId, "x@b.test", "b.test"),
    ask(workspaceId, "X@a.test", "a.test"),
  ];
  const answers = await maySendAsEach(db, questions);
  expect(questions.map(answers)).toEqual([true, false, false, true]);
  expect(answers(ask(workspaceId, "y@a.test", "a.test"))).toBe(false);
  expect((await maySendAsEach(db, []))(ask(workspaceId, "x@a.test", "a.test"))).toBe(false);
});

test("the envelope uses a domain's own return path only when it is proved, switched on and resolves", async () => {
  await addDomain("on.test", "is_verified = true, custom_return_path = true, return_path_verified = true");
  await addDomain("off.test", "is_verified = true, return_path_verified = true");
  await addDomain("waiting.test", "is_verified = true, custom_return_path = true");
  await addDomain("unproved.test", "custom_return_path = true, return_path_verified = true");
  const domains = ["off.test", "on.test", "unknown.test", "waiting.test", "unproved.test"];
  const asked = domains.map((domain) => ({ workspaceId, domain }));
  expect(await returnPathHosts(db, asked, "bounce.us.test")).toEqual([
    "bounce.us.test",
    "bounce.on.test",
    "bounce.us.test",
    "bounce.us.test",
    "bounce.us.test",
  ]);
  expect(await returnPathHost(db, await newWorkspace(), "on.test", "bounce.us.test")).toBe("bounce.us.test");
});
