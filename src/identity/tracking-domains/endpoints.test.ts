import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { createZoneResolver } from "#identity/dns-checks/zone-resolver.ts";
import { startService } from "#test/support/service.ts";
import { trackingBase } from "./tracking-base-url.ts";
import { recheckTrackingDomains, type TrackingDomainLoss } from "./verify.ts";

const target = "post.example.com";
const publicUrl = `https://${target}`;
const service = await startService({
  env: { PUBLIC_URL: publicUrl },
  zone: {
    "links.good.example": { CNAME: target },
    "links.elsewhere.example": { CNAME: "other.example.net" },
    "links.faulty.example": "servfail",
    "links.claimed.example": { CNAME: target },
    "links.shared.example": { CNAME: target },
  },
});
const { database: db, workspaceId, clock, dns } = service;
const resolverFor = createZoneResolver([dns.address]);

async function add(domain: string): Promise<string> {
  return (await service.call("POST", "/tracking-domains", { domain })).body.data.id;
}
const verify = async (id: string) => (await service.call("POST", `/tracking-domains/${id}/verify`)).body.data;
const baseOf = (id: string | null) => trackingBase(db, workspaceId, id, publicUrl);

async function recheck(): Promise<{ checked: number; losses: TrackingDomainLoss[] }> {
  const losses: TrackingDomainLoss[] = [];
  const deps = {
    db,
    clock,
    target,
    resolverFor,
    findCertificateFault: async () => null,
    onLoss: (loss: TrackingDomainLoss) => void losses.push(loss),
  };
  return { checked: await recheckTrackingDomains(deps, new AbortController().signal), losses };
}

test("links use a domain once its alias has been seen, and never before", async () => {
  const created = await service.call("POST", "/tracking-domains", { domain: " Links.GOOD.example. " });
  expect([created.status, created.body.data]).toEqual([
    201,
    {
      id: expect.any(String),
      domain: "links.good.example",
      is_verified: false,
      verified_at: null,
      checked_at: null,
      https_fault: null,
      dns_record: { type: "CNAME", host: "links.good.example", value: target },
      created_at: clock.now().toISOString(),
    },
  ]);
  const { id } = created.body.data;
  expect(await baseOf(id)).toBe(publicUrl);
  expect(await verify(id)).toMatchObject({ verified: true, status: "verified", found: [target] });
  expect(await baseOf(id)).toBe("https://links.good.example");
  const { body } = await service.call("GET", `/tracking-domains/${id}`);
  expect(body.data).toMatchObject({ is_verified: true, verified_at: clock.now().toISOString() });
  expect((await service.call("GET", "/tracking-domains")).body.data).toContainEqual(body.data);
  expect(await baseOf(null)).toBe(publicUrl);
});

test("an alias of another host, none at all, and a silent DNS are told apart", async () => {
  expect(await verify(await add("links.elsewhere.example"))).toMatchObject({
    verified: false,
    status: "mismatch",
    found: ["other.example.net"],
  });
  expect(await verify(await add("links.absent.example"))).toMatchObject({
    verified: false,
    status: "missing",
  });
  const faulty = await add("links.faulty.example");
  await db.run(sql`update tracking_domains set is_verified = true where id = ${faulty}`);
  expect(await verify(faulty)).toMatchObject({ verified: true, status: "error" });
  expect(await baseOf(faulty)).toBe("https://links.faulty.example");
});

test("every domain is checked once a day: one whose alias is gone falls, a silent DNS changes nothing", async () => {
  const gone = await add("links.gone.example");
  await db.run(sql`update tracking_domains set is_verified = true where id = ${gone}`);
  clock.advance(24 * 3_600_000);
  const { checked, losses } = await recheck();
  expect(checked).toBeGreaterThan(3);
  expect(losses).toEqual([{ workspaceId, domainId: gone, domain: "links.gone.example", httpsFault: null }]);
  expect(await baseOf(gone)).toBe(publicUrl);
  const still = await db.rows<{ domain: string }>(sql`
    select domain from tracking_domains where is_verified order by domain`);
  expect(still.map(({ domain }) => domain)).toEqual(["links.faulty.example", "links.good.example"]);
  expect((await recheck()).checked).toBe(0);
});

test.each([
  "localhost",
  "printer",
  "links.local",
  "db.internal",
  "wiki.corp",
  "nas.home.arpa",
  "10.0.0.1",
  "[::1]",
  "good.example",
  "co.uk",
  "https://links.good.example",
  "links.good.example:8080",
  "links.good.example/x",
  "user@links.good.example",
  "a\r\nb.example.com",
  "-a.example.com",
  `${"a".repeat(64)}.example.com`,
  target,
])("%j is no name for a tracking domain", async (domain) => {
  const { status, body } = await service.call("POST", "/tracking-domains", { domain });
  expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", "domain"]);
});

test("a name is there once in a workspace, and may be in others", async () => {
  const id = await add("links.twice.example");
  const again = await service.call("POST", "/tracking-domains", { domain: "links.twice.example" });
  expect([again.status, again.body.code]).toEqual([409, "CONFLICT"]);
  const renamed = await service.call("PUT", `/tracking-domains/${await add("links.third.example")}`, {
    domain: "links.twice.example",
  });
  expect(renamed.status).toBe(409);
  const { key } = await service.newWorkspace();
  const theirs = await service.call("POST", "/tracking-domains", { domain: "links.twice.example" }, { key });
  expect(theirs.status).toBe(201);
  expect((await service.call("GET", `/tracking-domains/${id}`, undefined, { key })).status).toBe(404);
});

test("a new name has to be verified anew, the same one has not", async () => {
  const id = await add("links.renamed.example");
  await db.run(sql`update tracking_domains set is_verified = true, verified_at = now() where id = ${id}`);
  const rename = (body: object) => service.call("PUT", `/tracking-domains/${id}`, body);
  expect((await rename({ domain: "links.renamed.example" })).body.data.is_verified).toBe(true);
  expect((await rename({})).body.data.is_verified).toBe(true);
  const { data } = (await rename({ domain: "l.renamed.example" })).body;
  expect(data).toMatchObject({ domain: "l.renamed.example", is_verified: false, verified_at: null });
});

const claim = (workspace: string, domain: string) =>
  db.run(sql`insert into domain_claims (domain, workspace_id) values (${domain}, ${workspace})`);
const isVerified = async (id: string) =>
  (await service.call("GET", `/tracking-domains/${id}`)).body.data.is_verified;

test("a name below another workspace's domain is verified neither on request nor by the daily check", async () => {
  const other = await service.newWorkspace();
  await claim(other.workspaceId, "claimed.example");
  const id = await add("links.claimed.example");
  const { status, body } = await service.call("POST", `/tracking-domains/${id}/verify`);
  expect([status, body.code]).toEqual([409, "CONFLICT"]);
  clock.advance(24 * 3_600_000);
  await recheck();
  expect(await isVerified(id)).toBe(false);
});

test("a name is the first workspace's that verified it, until another proves that the domain above is its own", async () => {
  const other = await service.newWorkspace();
  const theirs = (
    await service.call("POST", "/tracking-domains", { domain: "links.shared.example" }, { key: other.key })
  ).body.data.id;
  const verifyTheirs = () =>
    service.call("POST", `/tracking-domains/${theirs}/verify`, undefined, { key: other.key });
  const ours = await add("links.shared.example");
  expect((await verify(ours)).verified).toBe(true);
  expect((await verifyTheirs()).status).toBe(409);
  clock.advance(24 * 3_600_000);
  await recheck();
  expect(await isVerified(ours)).toBe(true);
  expect((await verifyTheirs()).status).toBe(409);

  await claim(other.workspaceId, "shared.example");
  expect((await verifyTheirs()).body.data.verified).toBe(true);
  expect(await isVerified(ours)).toBe(false);
  expect((await service.call("POST", `/tracking-domains/${ours}/verify`)).status).toBe(409);
});

test("of two that are renamed to one name at once, one is told that it is taken", async () => {
  const ids = [await add("links.one.example"), await add("links.two.example")];
  const answers = await Promise.all(
    ids.map((id) => service.call("PUT", `/tracking-domains/${id}`, { domain: "links.same.example" })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
});

test("a workspace has at most 100, whoever asks at once", async () => {
  const { key } = await service.newWorkspace();
  const answers = await Promise.all(
    Array.from({ length: 105 }, (_, at) =>
      service.call("POST", "/tracking-domains", { domain: `l${at}.many.example` }, { key }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
  expect(answers.find(({ status }) => status === 409)?.body.error).toContain("100 tracking domains");
  expect((await service.call("GET", "/tracking-domains", undefined, { key })).body.data).toHaveLength(100);
});

test("a domain that links of a campaign begin with stays, under its name; links use PUBLIC_URL when it is gone", async () => {
  const id = await add("links.used.example");
  await db.run(sql`update tracking_domains set is_verified = true where id = ${id}`);
  await db.run(sql`
    insert into campaigns (workspace_id, id, name, subject, from_email, message_type, recipient_type,
      use_custom_headers, status, url_domain_id, created_at, updated_at)
    values (${workspaceId}, ${id}, '', '', '', 'email', 'custom', false, 'scheduled', ${id}, now(), now())`);
  const remove = () => service.call("DELETE", `/tracking-domains/${id}`);
  const rename = (domain: string) => service.call("PUT", `/tracking-domains/${id}`, { domain });
  expect((await remove()).status).toBe(409);
  expect((await rename("links.renamed.example")).status).toBe(409);
  expect((await rename("links.used.example")).body.data).toMatchObject({ is_verified: true });
  await db.run(sql`update campaigns set status = 'sent' where id = ${id}`);
  expect((await rename("links.renamed.example")).status).toBe(200);
  expect((await remove()).body.data).toEqual({ id, deleted: true });
  expect((await remove()).status).toBe(404);
  expect(await baseOf(id)).toBe(publicUrl);
});

test("another workspace's domain is nobody's base", async () => {
  const id = await add("links.mine.example");
  await db.run(sql`update tracking_domains set is_verified = true where id = ${id}`);
  const other = await service.newWorkspace();
  expect(await trackingBase(db, other.workspaceId, id, publicUrl)).toBe(publicUrl);
});
