import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { statusesOf } from "#test/support/api-caller.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { countKeyPairs } from "#test/support/key-pairs.ts";
import { startService } from "#test/support/service.ts";

const service = await startService({
  env: { BOUNCE_DOMAIN: "bounce.posthaste.test", PLATFORM_SPF_DOMAIN: "spf.posthaste.test" },
});
const countMade = countKeyPairs();
let count = 0;
let domain: string;

beforeEach(() => {
  count += 1;
  domain = `d${count}.test`;
  service.dns.zone = { test: {}, "spf.posthaste.test": { TXT: ["v=spf1 ip4:127.0.0.1 -all"] } };
});

const create = (name: unknown = domain, key = service.key) =>
  service.call("POST", "/sending-domains", { domain: name }, { key });
const remove = (id: string, key = service.key) =>
  service.call("DELETE", `/sending-domains/${id}`, undefined, { key });
const verify = (id: string, key = service.key) =>
  service.call("POST", `/sending-domains/${id}/verify`, undefined, { key });
const status = (id: string, key = service.key) =>
  service.call("GET", `/sending-domains/${id}/dns-status`, undefined, { key });
const list = async (key = service.key) =>
  (await service.call("GET", "/sending-domains", undefined, { key })).body.data;
const rowOf = async (id: string, key = service.key) =>
  (await list(key)).find((row: { id: string }) => row.id === id);

/** Publishes every record that dns-status asks for, as a person who copies them would. */
async function publish(id: string, key = service.key): Promise<void> {
  for (const { type, host, value } of (await status(id, key)).body.data.dns.records) {
    const entry = service.dns.zone[host];
    const texts = typeof entry === "object" && Array.isArray(entry.TXT) ? entry.TXT : [];
    service.dns.zone[host] = type === "CNAME" ? { CNAME: value } : { TXT: [...texts, value] };
  }
}

async function verifiedDomain(key = service.key): Promise<string> {
  const { id } = (await create(domain, key)).body.data;
  await publish(id, key);
  expect((await verify(id, key)).body.data.verified).toBe(true);
  return id;
}

const allFlags = (value: boolean) => ({
  ownership_verified: value,
  spf_verified: value,
  dkim_verified: value,
  dmarc_verified: value,
  verified: value,
});

describe("adding a domain", () => {
  test("answers the row, unverified, with a DKIM key of its own", async () => {
    const answer = await create(` ${domain.toUpperCase()}. `);
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({
      id: expect.any(String),
      domain,
      is_verified: false,
      spf_verified: false,
      dkim_verified: false,
      dmarc_verified: false,
      verified_at: null,
      is_active: true,
      custom_return_path: false,
      return_path_verified: false,
      dmarc_ingestion: false,
      checked_at: null,
      created_at: service.clock.now().toISOString(),
    });
    const keys = (await service.call("GET", "/dkims")).body.data;
    expect(keys[0]).toMatchObject({
      domain,
      selector: "ph1",
      bits: 2048,
      is_automatic: true,
      verified_at: null,
    });
  });

  test("stores no private key in clear", async () => {
    await create();
    const { rows } = await service.database.pool.query("select * from dkim_keys where domain = $1", [domain]);
    expect(JSON.stringify({ ...rows[0], private_key: rows[0].private_key.toString("latin1") })).not.toContain(
      "PRIVATE",
    );
  });

  test.each([
    "co.uk",
    "com",
    "gmail.com",
    "mail.yahoo.co.uk",
    "https://example.com/x",
    "127.0.0.1",
    "",
    "a\0.test",
    7,
  ])("refuses %j", async (name) => {
    const { status, body } = await create(name);
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  test("of twenty calls at once one adds it, and one key is made", async () => {
    const made = await countMade(async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => create()));
      expect(statusesOf(answers)).toEqual([201, ...Array(19).fill(409)]);
    });
    expect(made).toBe(1);
    const keys = await service.database.pool.query("select id from dkim_keys where domain = $1", [domain]);
    expect(keys.rowCount).toBe(1);
  });

  test("is a conflict when it is there in another spelling", async () => {
    await create("bücher.test");
    const again = await create("XN--BCHER-KVA.test");
    expect([again.status, again.body.code]).toEqual([409, "CONFLICT"]);
  });
});

describe("dns-status", () => {
  test("shows what to publish, live and without changing a flag", async () => {
    const { id } = (await create()).body.data;
    await publish(id);
    const { data } = (await status(id)).body;
    const [key] = (await service.call("GET", "/dkims")).body.data;
    expect(data).toMatchObject({
      id,
      domain,
      verification_token: expect.stringMatching(/^[0-9a-f]{32}$/),
      platform_spf_domain: "spf.posthaste.test",
      dns: {
        ownership: {
          status: "verified",
          host: `_posthaste-verify.${domain}`,
          type: "TXT",
          expected: `posthaste-verification=${data.verification_token}`,
          found: [`posthaste-verification=${data.verification_token}`],
          message: expect.any(String),
        },
        spf: { status: "verified", lookups: 1 },
        dkim: { status: "verified", host: `ph1._domainkey.${domain}` },
        dmarc: { status: "verified" },
        return_path: null,
        dmarc_reports: null,
        dkim_selector: "ph1",
        dkim_public_key: key.public_key,
        dkim_record: `v=DKIM1; k=rsa; p=${key.public_key}`,
        dmarc_suggested: `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`,
        dmarc_record: `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`,
      },
    });
    expect(await rowOf(id)).toMatchObject({ is_verified: false, dkim_verified: false, checked_at: null });
  });

  test("names the DNS provider, and each record as its form wants it", async () => {
    const { id } = (await create()).body.data;
    service.dns.zone[domain] = { ...(service.dns.zone[domain] as object), NS: ["ns-1.awsdns-01.com"] };
    const { data } = (await status(id)).body;
    expect(data.dns_provider).toMatchObject({ name: "Amazon Route 53", zone: domain });
    const names = data.dns.records.map((record: { host_relative: string }) => record.host_relative);
    expect(names).toEqual(["_posthaste-verify", "", "ph1._domainkey", "_dmarc"]);
  });

  test("the tokens of two workspaces differ", async () => {
    const other = await service.newWorkspace();
    const [own, theirs] = [(await create()).body.data, (await create(domain, other.key)).body.data];
    const tokens = [(await status(own.id)).body.data, (await status(theirs.id, other.key)).body.data];
    expect(tokens[0].verification_token).not.toBe(tokens[1].verification_token);
  });
});

describe("verifying", () => {
  test("sets every flag to what is published", async () => {
    const id = await verifiedDomain();
    const now = service.clock.now().toISOString();
    expect(await rowOf(id)).toMatchObject({
      is_verified: true,
      spf_verified: true,
      dkim_verified: true,
      dmarc_verified: true,
      verified_at: now,
      checked_at: now,
    });
  });

  test("says of an empty zone what is missing, check by check", async () => {
    const { id } = (await create()).body.data;
    const { status, body } = await verify(id);
    expect(status).toBe(200);
    expect(body.data).toMatchObject(allFlags(false));
    expect(body.data.checks.dkim).toMatchObject({ status: "missing", host: `ph1._domainkey.${domain}` });
    expect(body.message).toContain("not verified");
    expect(body.data.errors).toEqual([]);
  });

  test("drops flags at once when records are gone", async () => {
    const id = await verifiedDomain();
    service.dns.zone = { test: {} };
    expect((await verify(id)).body.data).toMatchObject(allFlags(false));
    expect(await rowOf(id)).toMatchObject({ is_verified: false, dkim_verified: false, verified_at: null });
  });

  test.each(["servfail", "timeout"] as const)("%s keeps every flag and says so", async (fault) => {
    const id = await verifiedDomain();
    for (const name of Object.keys(service.dns.zone)) service.dns.zone[name] = fault;
    const { body } = await verify(id);
    expect(body.data).toMatchObject(allFlags(true));
    expect(body.data.errors).toHaveLength(4);
    expect(body.message).toContain("their flags are unchanged");
    expect((await rowOf(id)).is_verified).toBe(true);
  });

  test("a fault of one check leaves the others their say", async () => {
    const id = await verifiedDomain();
    service.dns.zone[`ph1._domainkey.${domain}`] = "servfail";
    service.dns.zone[domain] = { TXT: ["v=spf1 -all"] };
    expect((await verify(id)).body.data).toMatchObject({
      verified: true,
      spf_verified: false,
      dkim_verified: true,
      dmarc_verified: true,
    });
  });

  test("the first date of verification stays", async () => {
    const id = await verifiedDomain();
    const first = (await rowOf(id)).verified_at;
    service.clock.advance(60_000);
    await verify(id);
    expect((await rowOf(id)).verified_at).toBe(first);
  });
});

describe("one domain in two workspaces", () => {
  test("is held by the first that proves it; the second's proof is a conflict and changes nothing", async () => {
    const other = await service.newWorkspace();
    await verifiedDomain();
    const { id } = (await create(domain, other.key)).body.data;
    await publish(id, other.key);
    const refused = await verify(id, other.key);
    expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
    expect(await rowOf(id, other.key)).toMatchObject({
      is_verified: false,
      spf_verified: false,
      checked_at: null,
    });
  });

  test("the token of one proves nothing for the other", async () => {
    const other = await service.newWorkspace();
    await verifiedDomain();
    const { id } = (await create(domain, other.key)).body.data;
    const { body } = await verify(id, other.key);
    expect(body.data).toMatchObject({ verified: false, checks: { ownership: { status: "mismatch" } } });
  });

  test("of two proofs at once one wins", async () => {
    const other = await service.newWorkspace();
    const [own, theirs] = [(await create()).body.data, (await create(domain, other.key)).body.data];
    await publish(own.id);
    await publish(theirs.id, other.key);
    const answers = await Promise.all([verify(own.id), verify(theirs.id, other.key)]);
    expect(statusesOf(answers)).toEqual([200, 409]);
  });

  test.each(["deletes it", "loses its proof"])("is free again when the holder %s", async (end) => {
    const other = await service.newWorkspace();
    const held = await verifiedDomain();
    const { id } = (await create(domain, other.key)).body.data;
    if (end === "deletes it") await remove(held);
    else {
      service.dns.zone = { test: {} };
      await verify(held);
    }
    await publish(id, other.key);
    expect((await verify(id, other.key)).body.data.verified).toBe(true);
  });

  test("does not keep another from its subdomain, which needs a proof of its own", async () => {
    const other = await service.newWorkspace();
    await verifiedDomain();
    const { id } = (await create(`news.${domain}`, other.key)).body.data;
    expect((await verify(id, other.key)).body.data.verified).toBe(false);
    await publish(id, other.key);
    expect((await verify(id, other.key)).body.data.verified).toBe(true);
  });
});

describe("the switches", () => {
  const patch = (id: string, path: string, body: unknown, key = service.key) =>
    service.call("PATCH", `/sending-domains/${id}/${path}`, body, { key });
  const purposes = (body: { data: { dns: { records: { purpose: string }[] } } }) =>
    body.data.dns.records.map(({ purpose }) => purpose);

  test("custom return path adds its record, and counts once the record is seen", async () => {
    const id = await verifiedDomain();
    const on = await patch(id, "custom-return-path", { enabled: true });
    expect(on.status).toBe(200);
    expect(on.body.data.dns.return_path).toMatchObject({
      status: "missing",
      type: "CNAME",
      host: `bounce.${domain}`,
      expected: "bounce.posthaste.test",
    });
    expect(purposes(on.body)).toContain("return_path");
    expect((await verify(id)).body.data.return_path_verified).toBe(false);
    service.dns.zone[`bounce.${domain}`] = { CNAME: "bounce.posthaste.test" };
    expect((await verify(id)).body.data.return_path_verified).toBe(true);
    const off = await patch(id, "custom-return-path", { enabled: false });
    expect(purposes(off.body)).not.toContain("return_path");
    expect(await rowOf(id)).toMatchObject({ custom_return_path: false, return_path_verified: false });
  });

  test("DMARC ingestion adds our address to the record that is published", async () => {
    const { id } = (await create()).body.data;
    service.dns.zone[`_dmarc.${domain}`] = { TXT: ["v=DMARC1; p=reject; rua=mailto:a@b.test"] };
    const { body } = await patch(id, "dmarc-ingestion", { enabled: true });
    expect(body.data.dns.dmarc_suggested).toMatch(
      /^v=DMARC1; p=reject; rua=mailto:a@b\.test,mailto:d-[0-9a-f]{32}@bounce\.posthaste\.test$/,
    );
    expect(body.data.dns.dmarc_reports.status).toBe("mismatch");
    service.dns.zone[`_dmarc.${domain}`] = { TXT: [body.data.dns.dmarc_suggested] };
    expect((await status(id)).body.data.dns.dmarc_reports.status).toBe("verified");
  });

  test.each(["custom-return-path", "dmarc-ingestion"])("%s wants a boolean", async (path) => {
    const { id } = (await create()).body.data;
    for (const body of [{}, { enabled: "true" }, { enabled: null }, { enabled: 1 }]) {
      expect((await patch(id, path, body)).status).toBe(400);
    }
  });

  test("are no switches for another workspace", async () => {
    const { id } = (await create()).body.data;
    const { key } = await service.newWorkspace();
    for (const path of ["custom-return-path", "dmarc-ingestion"]) {
      expect((await patch(id, path, { enabled: true }, key)).status).toBe(404);
    }
    expect(await rowOf(id)).toMatchObject({ custom_return_path: false, dmarc_ingestion: false });
  });
});

test("dns-status looks at the newest tracking domain below the domain", async () => {
  const id = await verifiedDomain();
  expect((await status(id)).body.data.dns.tracking).toBeNull();
  const added = await service.call("POST", "/tracking-domains", { domain: `links.${domain}` });
  const record = added.body.data.dns_record;
  const { dns } = (await status(id)).body.data;
  expect(dns.tracking).toMatchObject({
    status: "missing",
    host: record.host,
    type: "CNAME",
    expected: record.value,
    found: [],
  });
  expect(dns.records.at(-1)).toMatchObject({ ...record, purpose: "tracking", required: false });
  await publish(id);
  expect((await status(id)).body.data.dns.tracking.status).toBe("verified");
});

test.each(["scheduled", "sending"])("a domain stays while a %s campaign sends from it", async (state) => {
  const id = await verifiedDomain();
  const campaign = await newCampaign(service.database, service.workspaceId, null, {
    from_email: `News@${domain}`,
  });
  const move = (status: string) =>
    service.database.run(sql`update campaigns set status = ${status} where id = ${campaign}`);
  await move(state);
  const refused = await remove(id);
  expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
  expect(await rowOf(id)).toMatchObject({ is_verified: true });
  await move("cancelled");
  expect((await remove(id)).status).toBe(200);
});

test("deleting destroys the keys, once", async () => {
  const id = await verifiedDomain();
  expect((await remove(id)).body.data).toEqual({ id, deleted: true });
  expect((await remove(id)).status).toBe(404);
  const left = await service.database.pool.query(
    "select domain from dkim_keys where domain = $1 union all select domain from domain_claims where domain = $1",
    [domain],
  );
  expect(left.rowCount).toBe(0);
});

test("another workspace's domain is not there, like one that never was", async () => {
  const { id } = (await create()).body.data;
  const { key } = await service.newWorkspace();
  for (const act of [remove, verify, status]) {
    expect((await act(id, key)).status).toBe(404);
    expect((await act(newId())).status).toBe(404);
  }
  expect(await list(key)).toEqual([]);
  expect(await rowOf(id)).toBeDefined();
});

test("a workspace has a thousand sending domains at most, and none beyond costs a key", async () => {
  const { workspaceId, key } = await service.newWorkspace();
  await service.database.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, created_at)
    select ${workspaceId}, gen_random_uuid(), 'many' || n || '.test', 'v' || n, 'many' || n, now()
    from generate_series(1, 999) n`);
  const made = await countMade(async () => {
    const names = Array.from({ length: 10 }, (_, number) => `more${number}.${domain}`);
    const answers = await Promise.all(names.map((name) => create(name, key)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 400).map(({ body }) => body);
    expect(refused).toHaveLength(9);
    expect(refused[0]).toMatchObject({
      code: "BAD_REQUEST",
      error: "There can be 1000 sending domains; delete one first",
    });
  });
  expect(made).toBe(1);
  expect(await list(key)).toHaveLength(1_000);
});
