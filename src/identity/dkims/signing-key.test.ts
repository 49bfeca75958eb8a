import { createPublicKey } from "node:crypto";
import { expect, test } from "vitest";
import {
  insertDomainClaim,
  insertSendingDomain,
  updateDomainVerification,
} from "#identity/sending-domains/store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { newDkimKey } from "./generate-key.ts";
import { platformSigningKey, signingKey, signingKeys } from "./signing-key.ts";
import { insertDkimKey, removeDkimKey, updateDkimKeyVerification } from "./store.ts";

const db = await testDatabase();
const secrets = createSecrets("a secret key that only tests use, ever");
const clock = stubClock();
const now = clock.now();

const newWorkspace = async () =>
  (await createWorkspace(db, { name: "Test", timezone: "UTC", plan: "free" }, clock)).workspace.id;

async function addDomain(workspaceId: WorkspaceId, domain: string, isOwned = true): Promise<string> {
  const row = await insertSendingDomain(db, workspaceId, domain, now);
  if (row === undefined) throw new Error("it has the domain");
  await setOwned(workspaceId, row.id, isOwned);
  return row.id;
}

function setOwned(workspaceId: WorkspaceId, id: string, ownership: boolean): Promise<void> {
  const verified = { ownership, spf: false, dmarc: false, return_path: false };
  return updateDomainVerification(db, workspaceId, id, { verified, failedChecks: {}, now });
}

async function addKey(workspaceId: WorkspaceId, domain: string, selector: string, isAutomatic = false) {
  const key = await newDkimKey(secrets, { domain, selector, bits: 1024, isAutomatic, createdAt: now });
  await insertDkimKey(db, workspaceId, key);
  return key;
}

const setVerified = (workspaceId: WorkspaceId, id: string, verified: boolean) =>
  updateDkimKeyVerification(db, workspaceId, id, { verified, failures: null, now });

test("of a verified domain the newest published key signs; before there is one, the automatic key", async () => {
  const workspaceId = await newWorkspace();
  const selector = async () => (await signingKey(db, secrets, workspaceId, "a.test"))?.selector;
  await addDomain(workspaceId, "a.test");
  expect(await selector()).toBeUndefined();
  const first = await addKey(workspaceId, "a.test", "ph1", true);
  const second = await addKey(workspaceId, "a.test", "second");
  const third = await addKey(workspaceId, "a.test", "third");
  expect(await selector()).toBe("ph1");
  await setVerified(workspaceId, second.id, true);
  expect(await selector()).toBe("second");
  await setVerified(workspaceId, first.id, true);
  expect(await selector()).toBe("second");
  await setVerified(workspaceId, third.id, true);
  expect(await selector()).toBe("third");
  await setVerified(workspaceId, third.id, false);
  await setVerified(workspaceId, second.id, false);
  expect(await selector()).toBe("ph1");
  await removeDkimKey(db, workspaceId, first.id);
  expect(await selector()).toBe("third");
});

test("of a domain that is not verified only a key that has been seen in the DNS signs", async () => {
  const workspaceId = await newWorkspace();
  const selector = async () => (await signingKey(db, secrets, workspaceId, "f.test"))?.selector;
  const domainId = await addDomain(workspaceId, "f.test", false);
  const automatic = await addKey(workspaceId, "f.test", "ph1", true);
  await addKey(workspaceId, "f.test", "newest");
  expect(await selector()).toBeUndefined();
  await setVerified(workspaceId, automatic.id, true);
  expect(await selector()).toBe("ph1");
  await setVerified(workspaceId, automatic.id, false);
  await setOwned(workspaceId, domainId, true);
  expect(await selector()).toBe("ph1");
  await setOwned(workspaceId, domainId, false);
  expect(await selector()).toBeUndefined();
});

test("the key that comes out is the one that went in", async () => {
  const workspaceId = await newWorkspace();
  await addDomain(workspaceId, "b.test");
  const made = await addKey(workspaceId, "b.test", "ph1", true);
  const key = await signingKey(db, secrets, workspaceId, "b.test");
  if (key === null) throw new Error("no key");
  const publicKey = createPublicKey(key.privateKey).export({ type: "spki", format: "der" });
  expect(publicKey.toString("base64")).toBe(made.publicKey);
});

test("many questions are answered in their order, each workspace with its own key", async () => {
  const [one, other] = [await newWorkspace(), await newWorkspace()];
  await addDomain(one, "c.test");
  await addDomain(other, "c.test");
  await addKey(one, "c.test", "one");
  await addKey(other, "c.test", "other");
  const asked = [
    { workspaceId: other, domain: "c.test" },
    { workspaceId: one, domain: "nothing.test" },
    { workspaceId: one, domain: "c.test" },
    { workspaceId: other, domain: "c.test" },
  ];
  const keys = await signingKeys(db, secrets, asked);
  expect(keys.map((key) => key?.selector)).toEqual(["other", undefined, "one", "other"]);
  expect(await signingKeys(db, secrets, [])).toEqual([]);
});

test("a key that was moved to another row, or sealed with another secret, is not opened", async () => {
  const workspaceId = await newWorkspace();
  await addDomain(workspaceId, "d.test");
  const [first, second] = [
    await addKey(workspaceId, "d.test", "a"),
    await addKey(workspaceId, "d.test", "b"),
  ];
  const elsewhere = createSecrets("another secret key that only tests use");
  await expect(signingKey(db, elsewhere, workspaceId, "d.test")).rejects.toThrow();
  await db.pool.query("update dkim_keys set private_key = $1 where id = $2", [first.sealedKey, second.id]);
  await expect(signingKey(db, secrets, workspaceId, "d.test")).rejects.toThrow();
});

test("the platform signs with the key of the workspace that holds its domain", async () => {
  const [holder, other] = [await newWorkspace(), await newWorkspace()];
  for (const workspaceId of [other, holder]) await addDomain(workspaceId, "e.test");
  await addKey(other, "e.test", "other");
  await addKey(holder, "e.test", "holder");
  expect(await platformSigningKey(db, secrets, "e.test")).toBeNull();
  await insertDomainClaim(db, holder, "e.test", now);
  expect(await platformSigningKey(db, secrets, "e.test")).toMatchObject({
    domain: "e.test",
    selector: "holder",
  });
});
