import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { statusesOf } from "#test/support/api-caller.ts";
import { countKeyPairs } from "#test/support/key-pairs.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const countMade = countKeyPairs();
let count = 0;
let domain: string;
let domainId: string;

beforeEach(async () => {
  count += 1;
  domain = `k${count}.test`;
  service.dns.zone = { test: {} };
  domainId = (await service.call("POST", "/sending-domains", { domain })).body.data.id;
});

const create = (body: object = {}, key = service.key) =>
  service.call("POST", "/dkims", { domain, ...body }, { key });
const verify = (id: string, key = service.key) =>
  service.call("POST", `/dkims/${id}/verify-dns`, undefined, { key });
const remove = (id: string, key = service.key) => service.call("DELETE", `/dkims/${id}`, undefined, { key });
const list = async (key = service.key) => (await service.call("GET", "/dkims", undefined, { key })).body.data;
const rowOf = async (id: string) => (await list()).find((row: { id: string }) => row.id === id);
const automatic = async () => (await list()).find((row: { domain: string }) => row.domain === domain);
const domainRow = async () =>
  (await service.call("GET", "/sending-domains")).body.data.find(
    (row: { id: string }) => row.id === domainId,
  );

const lostChecks = async () =>
  (
    await service.database.row<{ lost_checks: object }>(
      sql`select lost_checks from sending_domains where id = ${domainId}`,
    )
  )?.lost_checks;

/** Publishes the token, so that the domain is verified. */
async function proveOwnership(): Promise<void> {
  const { verification_token } = (await service.call("GET", `/sending-domains/${domainId}/dns-status`)).body
    .data;
  service.dns.zone[domain] = { TXT: [`posthaste-verification=${verification_token}`] };
  expect((await service.call("POST", `/sending-domains/${domainId}/verify`)).body.data.verified).toBe(true);
}

describe("creating a key", () => {
  test("takes selector default and 2048 bits, and answers the record but no private key", async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    const { data } = body;
    expect(data).toEqual({
      id: expect.any(String),
      domain,
      selector: "default",
      bits: 2048,
      public_key: expect.stringMatching(/^[A-Za-z0-9+/=]{392}$/),
      is_automatic: false,
      verified_at: null,
      created_at: service.clock.now().toISOString(),
      dns_record: {
        type: "TXT",
        host: `default._domainkey.${domain}`,
        value: `v=DKIM1; k=rsa; p=${data.public_key}`,
      },
      dns_host: `default._domainkey.${domain}`,
      dns_value: `v=DKIM1; k=rsa; p=${data.public_key}`,
      warnings: [],
    });
  });

  test.each([
    [1024, 216, 1],
    [4096, 736, 0],
  ])("of %i bits", async (bits, length, warnings) => {
    const { body } = await create({ bits, selector: `s${bits}` });
    expect(body.data.public_key).toHaveLength(length);
    expect(body.data.warnings).toHaveLength(warnings);
  });

  test.each([
    { bits: 512 },
    { bits: 2047 },
    { bits: "2048" },
    { selector: "" },
    { selector: "a.b" },
    { selector: "A" },
    { selector: "a".repeat(64) },
    { selector: "a\r\nb" },
    { selector: "../x" },
    { domain: "elsewhere.test" },
    { domain: "no domain" },
    { domain: 1 },
  ])("refuses %j", async (body) => {
    const answer = await create(body);
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  test("accepts the longest selector, and the domain in any spelling", async () => {
    const { status } = await create({
      domain: ` ${domain.toUpperCase()}. `,
      selector: "a".repeat(63),
      bits: 1024,
    });
    expect(status).toBe(201);
  });

  test("refuses a subdomain and another workspace's domain", async () => {
    const other = await service.newWorkspace();
    expect((await create({ domain: `news.${domain}` })).status).toBe(400);
    expect((await create({}, other.key)).status).toBe(400);
  });

  test("of ten calls at once with one selector one succeeds, and one key is made", async () => {
    const made = await countMade(async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => create({ bits: 1024 })));
      expect(statusesOf(answers)).toEqual([201, ...Array(9).fill(409)]);
    });
    expect(made).toBe(1);
  });

  test("ends at twenty keys a domain, however many are asked for at once, and none is made in vain", async () => {
    const made = await countMade(async () => {
      const selectors = Array.from({ length: 30 }, (_, number) => `s${number}`);
      const answers = await Promise.all(selectors.map((selector) => create({ selector, bits: 1024 })));
      expect(statusesOf(answers)).toEqual([...Array(19).fill(201), ...Array(11).fill(409)]);
    });
    expect(made).toBe(19);
    expect((await list()).filter((key: { domain: string }) => key.domain === domain)).toHaveLength(20);
  });

  test("a domain that is not the workspace's costs no key", async () => {
    expect(await countMade(() => create({ domain: "elsewhere.test" }))).toBe(0);
  });
});

describe("verify-dns", () => {
  test("sees the published key, and the domain's flag follows", async () => {
    const { data } = (await create({ bits: 1024 })).body;
    service.dns.zone[data.dns_host] = { TXT: [data.dns_value] };
    expect((await verify(data.id)).body.data).toEqual({
      verified: true,
      status: "verified",
      host: data.dns_host,
      expected: data.dns_value,
      found: [data.dns_value],
      found_host: null,
      diagnosis: null,
      message: expect.any(String),
    });
    expect((await rowOf(data.id)).verified_at).toBe(service.clock.now().toISOString());
    expect((await domainRow()).dkim_verified).toBe(true);
  });

  test("unsets the key when the record is wrong, and keeps it when the DNS does not answer", async () => {
    const { data } = (await create({ bits: 1024 })).body;
    service.dns.zone[data.dns_host] = { TXT: [data.dns_value] };
    await verify(data.id);
    service.dns.zone[data.dns_host] = "servfail";
    expect((await verify(data.id)).body.data).toMatchObject({ verified: true, status: "error" });
    expect((await rowOf(data.id)).verified_at).not.toBeNull();
    service.dns.zone[data.dns_host] = { TXT: ["v=DKIM1; p="] };
    expect((await verify(data.id)).body.data).toMatchObject({ verified: false, status: "mismatch" });
    expect((await rowOf(data.id)).verified_at).toBeNull();
    expect((await domainRow()).dkim_verified).toBe(false);
  });

  test("records the loss of the domain's DKIM since the record was first not found, until it is back", async () => {
    const { data } = (await create({ bits: 1024 })).body;
    service.dns.zone[data.dns_host] = { TXT: [data.dns_value] };
    await verify(data.id);
    const since = "2026-01-01T00:00:00.000Z";
    const failedChecks = JSON.stringify({ count: 1, since });
    await service.database.run(
      sql`update dkim_keys set failed_checks = ${failedChecks}::jsonb where id = ${data.id}`,
    );
    service.dns.zone[data.dns_host] = { TXT: ["v=DKIM1; p="] };
    await verify(data.id);
    expect(await lostChecks()).toEqual({ dkim: since });
    await verify(data.id);
    expect(await lostChecks()).toEqual({ dkim: since });
    service.dns.zone[data.dns_host] = { TXT: [data.dns_value] };
    await verify(data.id);
    expect(await lostChecks()).toEqual({});
  });
});

describe("deleting", () => {
  test("the only key of a verified domain is a conflict; after a second one it is not", async () => {
    const { id } = await automatic();
    await proveOwnership();
    const refused = await remove(id);
    expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
    await create({ bits: 1024 });
    expect((await remove(id)).body.data).toEqual({ id, deleted: true });
    expect((await remove(id)).status).toBe(404);
  });

  test("the only key that receivers can see is a conflict, whatever others there are", async () => {
    const { id } = await automatic();
    await proveOwnership();
    const { body } = await create({ bits: 1024 });
    const verified = (keyId: string) =>
      service.database.run(sql`update dkim_keys set verified_at = now() where id = ${keyId}`);
    await verified(id);
    expect((await remove(id)).status).toBe(409);
    await verified(body.data.id);
    expect((await remove(id)).status).toBe(200);
  });

  test("of the last two keys at once leaves one", async () => {
    await proveOwnership();
    const ids = [(await automatic()).id, (await create({ bits: 1024 })).body.data.id];
    const answers = await Promise.all(ids.map((id) => remove(id)));
    expect(statusesOf(answers)).toEqual([200, 409]);
  });

  test("the verified key takes the domain's flag with it", async () => {
    const { data } = (await create({ bits: 1024 })).body;
    service.dns.zone[data.dns_host] = { TXT: [data.dns_value] };
    await verify(data.id);
    await remove(data.id);
    expect((await domainRow()).dkim_verified).toBe(false);
    // No record is missing: the caller has deleted the key.
    expect(await lostChecks()).toEqual({});
  });

  test("the key of an unverified domain is free, and its dns-status copes", async () => {
    expect((await remove((await automatic()).id)).status).toBe(200);
    const { dns } = (await service.call("GET", `/sending-domains/${domainId}/dns-status`)).body.data;
    expect(dns).toMatchObject({ dkim: null, dkim_selector: null, dkim_record: null, dkim_verified: false });
    expect((await service.call("POST", `/sending-domains/${domainId}/verify`)).body.data.dkim_verified).toBe(
      false,
    );
  });
});

test("another workspace's key is not there, like one that never was", async () => {
  const { id } = await automatic();
  const { key } = await service.newWorkspace();
  for (const act of [verify, remove]) {
    expect((await act(id, key)).status).toBe(404);
    expect((await act(newId())).status).toBe(404);
  }
  expect(await list(key)).toEqual([]);
  expect(await rowOf(id)).toBeDefined();
});
