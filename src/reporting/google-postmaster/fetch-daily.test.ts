import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import sql from "sql-template-tag";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { insertSendingDomain, updateDomainVerification } from "#identity/sending-domains/store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { answerWith, type Misbehaviour, refuseWith, startFakeGoogle } from "#test/support/fake-google.ts";
import { startService } from "#test/support/service.ts";
import { createGoogleApi } from "./api.ts";
import { readCredentials } from "./credentials.ts";
import { fetchGoogleStatsDaily } from "./fetch-daily.ts";

const google = await startFakeGoogle(() => service.clock.now());
const folder = await mkdtemp(join(tmpdir(), "posthaste-google-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const file = join(folder, "credentials.json");
await writeFile(file, JSON.stringify(google.serviceAccount));
const service = await startService({ env: { GOOGLE_POSTMASTER_CREDENTIALS: file } });
const { clock, database, workspaceId, url } = service;

const all = {
  SPAM_RATE: 0.001,
  'AUTH_SUCCESS_RATE auth_type = "spf"': 1,
  'AUTH_SUCCESS_RATE auth_type = "dkim"': 0.99,
  'AUTH_SUCCESS_RATE auth_type = "dmarc"': 0.98,
  'TLS_ENCRYPTION_RATE traffic_direction = "inbound"': 0.97,
  DELIVERY_ERROR_RATE: 0.02,
};
const shownAll = {
  spam_rate: 0.001,
  spf_success_rate: 1,
  dkim_success_rate: 0.99,
  dmarc_success_rate: 0.98,
  encryption_rate: 0.97,
  delivery_error_rate: 0.02,
};
const shownNone = Object.fromEntries(Object.keys(shownAll).map((name) => [name, null]));

const newKey = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  }).privateKey;

let logged: string[] = [];
const log = pino(
  new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  }),
);
const ask = (credentials: object = google.serviceAccount, signal = new AbortController().signal) =>
  fetchGoogleStatsDaily({
    db: database,
    clock,
    google: createGoogleApi(readCredentials(credentials), { apiUrl: google.apiUrl, deadlineMs: 500 }),
  }).run({ signal, log });
const shown = async (call = service.call) =>
  (await call("GET", "/deliverability")).body.data.google_postmaster;
const addDomain = async (domain: string, owner: WorkspaceId = workspaceId) => {
  const now = clock.now();
  const row = await insertSendingDomain(database, owner, domain, now);
  if (row === undefined) throw new Error(`${domain} is there already`);
  const verified = { ownership: true, spf: true, dmarc: true, return_path: false };
  await updateDomainVerification(database, owner, row.id, { verified, failedChecks: {}, now });
};

beforeEach(async () => {
  await database.run(sql`delete from sending_domains`);
  await database.run(sql`delete from postmaster_standing`);
  google.domains.clear();
  google.asked.length = 0;
  google.pageSize = 200;
  google.misbehave("token", null);
  google.misbehave("api", null);
  logged = [];
  clock.set(new Date("2026-06-15T12:00:00Z"));
});

describe("what is shown", () => {
  test("before Google was asked nothing is connected", async () => {
    await addDomain("a.example");
    expect(await shown()).toEqual({ connected: false, domains: [] });
  });

  test.each([
    ["a service account", google.serviceAccount],
    ["a person's refresh token", google.person],
  ])("with %s: the figures of the newest day that has any", async (_, credentials) => {
    await addDomain("a.example");
    google.domains.set("a.example", { "2026-06-10": { SPAM_RATE: 0.5 }, "2026-06-12": all });
    await ask(credentials);
    expect(await shown()).toEqual({
      connected: true,
      domains: [{ domain: "a.example", date: "2026-06-12", ...shownAll }],
    });
    expect(logged).toEqual([]);
  });

  test("what Google says nothing of is null, and nought is nought; pages are read to their end", async () => {
    await addDomain("a.example");
    google.pageSize = 2;
    google.domains.set("a.example", { "2026-06-12": all, "2026-06-14": { SPAM_RATE: 0 } });
    await ask();
    const [domain] = (await shown()).domains;
    expect(domain).toEqual({ domain: "a.example", date: "2026-06-14", ...shownNone, spam_rate: 0 });
  });

  test("a registered domain with too little mail is there without figures, one that is not registered is not", async () => {
    await addDomain("quiet.example");
    await addDomain("unknown.example");
    google.domains.set("quiet.example", { "2026-01-01": all });
    await ask();
    expect(await shown()).toEqual({
      connected: true,
      domains: [{ domain: "quiet.example", date: null, ...shownNone }],
    });
  });

  test("without any domain the credentials alone are tried", async () => {
    await ask();
    expect(await shown()).toEqual({ connected: true, domains: [] });
    expect(google.asked).toEqual([]);
  });

  test("every workspace sees its own verified domains alone, also of an account that has others", async () => {
    const other = await service.newWorkspace();
    await addDomain("a.example");
    await addDomain("b.example", other.workspaceId);
    for (const domain of ["a.example", "b.example", "c.example"]) {
      google.domains.set(domain, { "2026-06-12": all });
    }
    await ask();
    const names = ({ domains }: { domains: { domain: string }[] }) => domains.map(({ domain }) => domain);
    const ofOther = apiCaller(() => url, other.key);
    expect([names(await shown()), names(await shown(ofOther))]).toEqual([["a.example"], ["b.example"]]);
    expect(google.asked.toSorted()).toEqual(["a.example", "b.example"]);

    await database.run(sql`update sending_domains set is_verified = false where domain = 'b.example'`);
    expect(await shown(ofOther)).toEqual({ connected: true, domains: [] });
    clock.advance(24 * HOUR_MS);
    await ask();
    expect(google.asked.slice(2)).toEqual(["a.example"]);
  });
});

describe("asking", () => {
  test("a domain is asked about once a day, a new one with the next run", async () => {
    await addDomain("a.example");
    await ask();
    clock.advance(HOUR_MS);
    await addDomain("b.example");
    await ask();
    expect(google.asked).toEqual(["a.example", "b.example"]);
    clock.advance(23 * HOUR_MS);
    await ask();
    expect(google.asked).toEqual(["a.example", "b.example", "a.example"]);
  });

  test("many domains are asked about in batches, and others have their place between", async () => {
    await Promise.all(Array.from({ length: 51 }, (_, at) => addDomain(`d${at}.example`)));
    await expect(ask()).rejects.toThrow(PutBack);
    await ask();
    expect(new Set(google.asked).size).toBe(51);
    expect(google.asked).toHaveLength(51);
  });

  test("the assertion names the person a service account acts for", async () => {
    await ask({ ...google.serviceAccount, subject: "ann@company.example" });
    expect(google.claims()).toMatchObject({ sub: "ann@company.example" });
    expect((await shown()).connected).toBe(true);
  });

  test("a domain that Google takes from the account is no longer shown", async () => {
    await addDomain("a.example");
    google.domains.set("a.example", { "2026-06-12": all });
    await ask();
    google.domains.clear();
    clock.advance(24 * HOUR_MS);
    await ask();
    expect(await shown()).toEqual({ connected: true, domains: [] });
  });
});

describe("faults", () => {
  const known = { connected: true, domains: [{ domain: "a.example", date: "2026-06-12", ...shownAll }] };
  /** Google was asked a day ago, and had figures. */
  const askedYesterday = async () => {
    await addDomain("a.example");
    google.domains.set("a.example", { "2026-06-12": all });
    await ask();
    clock.advance(24 * HOUR_MS);
    google.asked.length = 0;
  };
  const huge: Misbehaviour = (response) => response.writeHead(200).end(Buffer.alloc(2 * 1_048_576, " "));
  const faults: [string, Misbehaviour][] = [
    ["429", refuseWith(429, "RESOURCE_EXHAUSTED", "googleapis.com")],
    ["500", (response) => response.writeHead(500).end("<html>Server Error</html>")],
    ["503 without a body", (response) => response.writeHead(503).end()],
    ["a redirect", (response) => response.writeHead(307, { Location: "/token" }).end()],
    ["an answer without end", (response) => response.writeHead(200).write("{")],
    ["an answer that does not begin", () => undefined],
    ["a huge answer", huge],
    ["what is no JSON", (response) => response.writeHead(200).end('{"domainStats": [')],
    ["JSON of another shape", answerWith(200, { domainStats: [{ metric: 1 }], access_token: [] })],
    ["a refusal of another shape", answerWith(403, ["no"])],
    ["a connection that breaks", (response) => response.destroy()],
  ];

  test.each(faults)(
    "%s of the API: what is known stays, and it is asked again soon",
    async (_, misbehaviour) => {
      await askedYesterday();
      google.misbehave("api", misbehaviour);
      await ask();
      expect(await shown()).toEqual(known);
      expect(logged.join()).toContain("request failed");
      expect(logged.join()).not.toContain("ya29.");
      google.misbehave("api", null);
      google.domains.set("a.example", { "2026-06-16": all });
      await ask();
      expect(google.asked, "not at once").toHaveLength(1);
      clock.advance(HOUR_MS);
      await ask();
      expect((await shown()).domains).toMatchObject([{ date: "2026-06-16" }]);
    },
  );

  test.each(faults)(
    "%s of the token endpoint: what is known stays, and nothing is asked",
    async (_, misbehaviour) => {
      await askedYesterday();
      google.misbehave("token", misbehaviour);
      await expect(ask()).rejects.toThrow();
      expect(await shown()).toEqual(known);
      expect(google.asked).toEqual([]);
    },
  );

  test.each<[string, object]>([
    ["another account's key", { ...google.serviceAccount, private_key: newKey() }],
    ["a revoked consent", { ...google.person, refresh_token: "revoked" }],
  ])("%s is not connected, and the figures stay", async (_, credentials) => {
    await askedYesterday();
    await ask(credentials);
    expect(await shown()).toEqual({ ...known, connected: false });
    expect(logged.join()).toContain("invalid_grant Bad Request");
    expect(logged.join()).not.toContain("revoked");
    await ask();
    expect(await shown()).toEqual(known);
  });

  test.each<[string, Misbehaviour]>([
    ["a token that the API does not take", refuseWith(401, "UNAUTHENTICATED")],
    ["a token without the scope", refuseWith(403, "PERMISSION_DENIED", "googleapis.com")],
  ])("%s is not connected", async (_, misbehaviour) => {
    await askedYesterday();
    google.misbehave("api", misbehaviour);
    await ask();
    expect(await shown()).toEqual({ ...known, connected: false });
    google.misbehave("api", null);
    await ask();
    expect(await shown()).toEqual(known);
  });

  test("one bad domain stops no other; three in a row are Google's fault", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) {
      await addDomain(`${name}.example`);
      google.domains.set(`${name}.example`, {});
    }
    google.misbehave("api", (response) => response.writeHead(500).end());
    await ask();
    expect(google.asked).toEqual(["a.example", "b.example", "c.example"]);
    expect(await shown()).toEqual({ connected: false, domains: [] });
    google.misbehave("api", null);
    await ask();
    expect((await shown()).domains).toMatchObject([{ domain: "d.example" }, { domain: "e.example" }]);
  });

  test("rates that are none are left out", async () => {
    await addDomain("a.example");
    google.domains.set("a.example", {
      "2026-06-12": { SPAM_RATE: 0.1 },
      "2026-06-13": { SPAM_RATE: -1, DELIVERY_ERROR_RATE: 17 },
    });
    await ask();
    expect((await shown()).domains).toMatchObject([{ date: "2026-06-12", spam_rate: 0.1 }]);
  });

  test("a stop of the service ends it and blames nobody", async () => {
    await askedYesterday();
    const stop = new AbortController();
    google.misbehave("api", () => stop.abort());
    await expect(ask(google.serviceAccount, stop.signal)).rejects.toThrow();
    expect(logged).toEqual([]);
    google.misbehave("api", null);
    await ask();
    expect(google.asked).toHaveLength(2);
  });
});
