import { afterAll, beforeEach, expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import { automaticKey, newDkimKey } from "#identity/dkims/generate-key.ts";
import { insertDkimKey, listDkimKeysOfDomain } from "#identity/dkims/store.ts";
import { findDomainHolder, findSendingDomain, insertSendingDomain } from "#identity/sending-domains/store.ts";
import { dkimRecordValue } from "#mail/dkim/dkim.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { type RecheckDeps, recheckDomains, type VerificationLoss } from "./recheck.ts";

const secrets = createSecrets("a secret key that only tests use, ever");
const db = await testDatabase();
const clock = stubClock();
const dns = await startFakeDns();
afterAll(() => dns.close());
const resolver = createResolver({ servers: [dns.address], timeoutMs: 300, tries: 1 });
const losses: VerificationLoss[] = [];
const deps: RecheckDeps = {
  db,
  clock,
  config: { BOUNCE_DOMAIN: "bounce.posthaste.test", PLATFORM_SPF_DOMAIN: "spf.posthaste.test" },
  resolverFor: () => resolver,
  onVerification: async () => {},
  onLoss: async (_tx, loss) => {
    losses.push(loss);
  },
};

let workspaceId: WorkspaceId;

beforeEach(async () => {
  await db.pool.query("truncate workspaces cascade; truncate domain_claims");
  workspaceId = await newWorkspace();
  dns.zone = { test: {} };
  losses.length = 0;
});

const newWorkspace = async () =>
  (await createWorkspace(db, { name: "Test", timezone: "UTC", plan: "free" }, clock)).workspace.id;
const recheck = () => recheckDomains(deps, new AbortController().signal);

async function addDomain(domain: string, workspace = workspaceId) {
  const key = await newDkimKey(secrets, { domain, ...automaticKey, bits: 1024, createdAt: clock.now() });
  const row = await insertSendingDomain(db, workspace, domain, clock.now());
  await insertDkimKey(db, workspace, key);
  const found = row && (await findSendingDomain(db, workspace, row.id));
  if (found === undefined) throw new Error("not added");
  const zone = {
    [`_posthaste-verify.${domain}`]: { TXT: [`posthaste-verification=${found.verification_token}`] },
    [domain]: { TXT: ["v=spf1 include:spf.posthaste.test ~all"] },
    [`ph1._domainkey.${domain}`]: { TXT: [dkimRecordValue(key.publicKey)] },
    [`_dmarc.${domain}`]: { TXT: ["v=DMARC1; p=none"] },
    "spf.posthaste.test": { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
  };
  return { ...found, zone, read: () => findSendingDomain(db, workspace, found.id) };
}

/** A domain with every record seen by a first re-check. */
async function verifiedDomain(domain: string) {
  const added = await addDomain(domain);
  dns.zone = { ...dns.zone, ...added.zone };
  clock.advance(24 * HOUR_MS);
  await recheck();
  expect(await added.read()).toMatchObject({
    is_verified: true,
    spf_verified: true,
    dkim_verified: true,
    dmarc_verified: true,
  });
  return added;
}

test("a domain is due a day after it was added or checked, not before", async () => {
  const { read } = await addDomain("a.test");
  clock.advance(24 * HOUR_MS - 1);
  expect(await recheck()).toBe(0);
  clock.advance(1);
  expect(await recheck()).toBe(1);
  expect((await read())?.checked_at).toEqual(clock.now());
  expect(await recheck()).toBe(0);
});

test("records that were published since are noticed, and the domain is claimed", async () => {
  await verifiedDomain("a.test");
  expect(await findDomainHolder(db, "a.test")).toBe(workspaceId);
});

test("flags fall with the third failed check, once, and the loss is told", async () => {
  const { id, read } = await verifiedDomain("a.test");
  dns.zone = { test: {} };
  const since = new Date(clock.now().getTime() + 24 * HOUR_MS).toISOString();
  for (const _ of [1, 2]) {
    clock.advance(24 * HOUR_MS);
    await recheck();
    expect(await read()).toMatchObject({ is_verified: true, dkim_verified: true });
  }
  expect(losses).toEqual([]);
  clock.advance(24 * HOUR_MS);
  await recheck();
  expect(await read()).toMatchObject({
    is_verified: false,
    dkim_verified: false,
    verified_at: null,
    failed_checks: {},
    // Since the first check that did not find them.
    lost_checks: { ownership: since, spf: since, dkim: since, dmarc: since },
  });
  const lost = ["is_verified", "spf_verified", "dkim_verified", "dmarc_verified"];
  expect(losses).toEqual([{ workspaceId, domainId: id, domain: "a.test", lost }]);
  expect(await findDomainHolder(db, "a.test")).toBeUndefined();
  clock.advance(24 * HOUR_MS);
  await recheck();
  expect(losses).toHaveLength(1);
});

test("a flapping zone loses nothing", async () => {
  const { zone, read } = await verifiedDomain("a.test");
  for (let day = 0; day < 9; day += 1) {
    dns.zone = day % 3 === 2 ? { test: {}, ...zone } : { test: {} };
    clock.advance(24 * HOUR_MS);
    await recheck();
  }
  expect(await read()).toMatchObject({ is_verified: true, dkim_verified: true, failed_checks: {} });
});

test.each(["servfail", "timeout"] as const)(
  "%s for a week loses nothing and counts nothing",
  async (fault) => {
    const { zone, read } = await verifiedDomain("a.test");
    dns.zone = Object.fromEntries(Object.keys(zone).map((name) => [name, fault]));
    for (let day = 0; day < 7; day += 1) {
      clock.advance(24 * HOUR_MS);
      await recheck();
    }
    expect(await read()).toMatchObject({ is_verified: true, dkim_verified: true, failed_checks: {} });
  },
);

test("only the flag whose record is gone falls", async () => {
  const { zone, read } = await verifiedDomain("a.test");
  const { "ph1._domainkey.a.test": _, ...rest } = zone;
  dns.zone = { test: {}, ...rest };
  for (const _day of [1, 2, 3]) {
    clock.advance(24 * HOUR_MS);
    await recheck();
  }
  expect(await read()).toMatchObject({ is_verified: true, spf_verified: true, dkim_verified: false });
  const [key] = await listDkimKeysOfDomain(db, workspaceId, "a.test");
  expect(key).toMatchObject({ verified_at: null, failed_checks: null });
});

test("a domain that another workspace holds is not taken from it", async () => {
  await verifiedDomain("a.test");
  const other = await newWorkspace();
  const theirs = await addDomain("a.test", other);
  dns.zone = { test: {}, ...theirs.zone };
  clock.advance(24 * HOUR_MS);
  await recheck();
  expect((await theirs.read())?.is_verified).toBe(false);
  expect(await findDomainHolder(db, "a.test")).toBe(workspaceId);
});

test("several machines share the work and check no domain twice", async () => {
  await db.pool.query(
    `insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, created_at)
     select $1, gen_random_uuid(), 'd' || n || '.test', '', '', $2 from generate_series(1, 90) as n`,
    [workspaceId, clock.now()],
  );
  clock.advance(24 * HOUR_MS);
  dns.questions.length = 0;
  const counts = await Promise.all([recheck(), recheck(), recheck()]);
  expect(counts.reduce((sum, count) => sum + count)).toBe(90);
  const asked = dns.questions.filter(({ name }) => /^_posthaste-verify\.d\d+\.test$/.test(name));
  expect(asked).toHaveLength(90);
  expect(new Set(asked.map(({ name }) => name)).size).toBe(90);
});

test("it stops between batches when told to", async () => {
  await addDomain("a.test");
  clock.advance(24 * HOUR_MS);
  expect(await recheckDomains(deps, AbortSignal.abort())).toBe(0);
});
