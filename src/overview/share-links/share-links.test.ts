import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId, nilId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";

const service = await startService();
/** Named after its machine. */
const local = await startService({ env: { MAIL_HOSTNAME: "" } });
const { call, database, workspaceId, clock, url: base } = service;

const share = (body: object, caller = call) => caller("POST", "/share-links", body);
const later = (days: number) => new Date(clock.now().getTime() + days * DAY_MS);

async function sent(urls?: readonly string[]): Promise<string> {
  const { campaignId } = await sentCampaign(database, workspaceId, {
    base,
    deliveredAt: clock.now(),
    ...(urls && { urls }),
  });
  await database.run(sql`update campaigns set sent_at = created_at where id = ${campaignId}`);
  return campaignId;
}

async function open(url: string, password?: string) {
  const body = password === undefined ? null : new URLSearchParams({ password });
  const answer = await fetch(url, { redirect: "manual", ...(body && { method: "POST", body }) });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

test("a link shows the figures and links of a campaign without an account, and no recipient", async () => {
  const evil = "<script>alert(1)</script>";
  const id = await sent([`https://shop.example/?a=1&b=${evil}`]);
  await database.run(sql`update campaigns set name = ${evil}, subject = ${`Hi ${evil}`} where id = ${id}`);
  await database.run(
    sql`update campaign_counters set opens = 9, unique_opens = 1, unique_clicks = 1 where campaign_id = ${id}`,
  );
  await database.run(
    sql`update campaign_links set click_count = 1204, unique_click_count = 7 where campaign_id = ${id}`,
  );
  const { status, body } = await share({ kind: "campaign_report", resource_id: id });
  expect([status, body.data]).toMatchObject([
    201,
    {
      kind: "campaign_report",
      resource_id: id,
      name: evil,
      has_password: false,
      view_count: 0,
      last_viewed_at: null,
      expires_at: later(14).toISOString(),
      url: expect.stringMatching(/\/share\/[\w-]{64}$/),
    },
  ]);
  const page = await open(body.data.url);
  expect(page.status).toBe(200);
  expect(page.text).toContain("1,204");
  expect(page.text).toContain("Opened");
  expect(page.text).toContain("100%");
  expect(page.text).toContain("?a=1&amp;b=&lt;script&gt;");
  expect(page.text).not.toMatch(/<script|@people\.test/);
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
  expect([
    page.headers.get("cache-control"),
    page.headers.get("referrer-policy"),
    page.headers.get("x-robots-tag"),
  ]).toEqual(["no-store", "no-referrer", "noindex"]);
  expect(page.headers.get("set-cookie")).toBeNull();

  const listed = (await call("GET", "/share-links")).body.data.links[0];
  expect(listed).toMatchObject({
    id: body.data.id,
    view_count: 1,
    last_viewed_at: clock.now().toISOString(),
  });
  expect(JSON.stringify(listed)).not.toContain(body.data.url.slice(-64));
  const stored = await database.row<{ row: string }>(sql`
    select s::text as row from share_links s where id = ${body.data.id}`);
  expect(stored?.row).not.toContain(body.data.url.slice(-64));
});

test("a report shows no merge tags, and of many links those with the most clicks", async () => {
  const personal = "https://shop.example/?u={{ email | url_encode }}&v=1";
  const plain = Array.from({ length: 60 }, (_, at) => `https://shop.example/${at}`);
  const id = await sent([personal, ...plain, `https://shop.example/${"x".repeat(900)}`]);
  const subject = 'Hello {{ first_name | default: "you" }}, {{ list_name }}';
  await database.run(sql`update campaigns set subject = ${subject} where id = ${id}`);
  await database.run(sql`
    update campaign_links set click_count = case when index in (0, 61) then 900 else index end where campaign_id = ${id}`);
  const { text } = await open((await share({ kind: "campaign_report", resource_id: id })).body.data.url);
  expect(text).toContain("“Hello you, …”");
  const shown = [...text.matchAll(/<tr><td>([^<]*)/g)].map(([, address]) => address);
  expect(shown).toHaveLength(50);
  expect(shown.slice(0, 3)).toEqual([
    "https://shop.example/?u=…&amp;v=1",
    expect.stringMatching(/^https:\/\/shop\.example\/x{279}…$/),
    "https://shop.example/59",
  ]);
  expect(text).toContain("And 12 more.");
  expect(text).not.toContain("{{");
});

test("a page that is asked for with HEAD is not a view, and one that is opened again and again is read once", async () => {
  const id = await sent();
  const { url } = (await share({ kind: "campaign_report", resource_id: id })).body.data;
  const views = async () => (await call("GET", "/share-links")).body.data.links[0].view_count;
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, await head.text(), await views()]).toEqual([200, "", 0]);
  const first = await open(url);
  await database.run(sql`update campaign_counters set unique_opens = 1 where campaign_id = ${id}`);
  expect((await open(url)).text).toBe(first.text);
  expect(await views()).toBe(2);
});

test("a report says what was not tracked, instead of zero", async () => {
  const id = await sent();
  await database.run(sql`update campaigns set tracks_opens = false, tracks_clicks = false where id = ${id}`);
  const { text } = await open((await share({ kind: "campaign_report", resource_id: id })).body.data.url);
  expect(text).toContain("Neither was tracked");
  expect(text).not.toContain("<dt>Opened");
});

test("a link shows the records of a domain, expected beside found", async () => {
  const { body } = await call("POST", "/sending-domains", { domain: "shared.example" });
  service.dns.zone["shared.example"] = { TXT: ["v=spf1 -all"] };
  const { url } = (await share({ kind: "dns_records", resource_id: body.data.id })).body.data;
  const page = await open(url);
  expect(page.status).toBe(200);
  const { dns } = (await call("GET", `/sending-domains/${body.data.id}/dns-status`)).body.data;
  for (const { host, value } of dns.records) {
    expect(page.text).toContain(`<code>${host}</code>`);
    expect(page.text).toContain(value.replaceAll('"', "&quot;").replaceAll("'", "&#39;"));
  }
  expect(page.text).toContain("Missing");
  expect(page.text).toContain("<dt>Found</dt><dd><code>v=spf1 -all</code>");
});

test("of records that are very long or many, a link shows the beginning", async () => {
  const { body } = await call("POST", "/sending-domains", { domain: "long.example" });
  const texts = Array.from({ length: 30 }, (_, at) => `v=spf1 ${`ip4:192.0.2.${at} `.repeat(100)}-all`);
  service.dns.zone["long.example"] = { TXT: texts };
  const { url } = (await share({ kind: "dns_records", resource_id: body.data.id })).body.data;
  const { text } = await open(url);
  expect(text.match(/<code>v=spf1 ip4:192\.0\.2\.\d+ .{900,1000}…<\/code>/g)).toHaveLength(5);
  expect(text).toContain("and 25 more");
  expect(text.length).toBeLessThan(30_000);
});

test("outsiders get no advice for the operator, and are told not to publish the name of a private machine", async () => {
  const { id } = (await local.call("POST", "/sending-domains", { domain: "shared.example" })).body.data;
  const { dns } = (await local.call("GET", `/sending-domains/${id}/dns-status`)).body.data;
  const warned = [dns.spf, dns.return_path, dns.dmarc_reports].filter((check) =>
    check?.message.includes("MAIL_HOSTNAME is not set"),
  ).length;
  const link = (await share({ kind: "dns_records", resource_id: id }, local.call)).body.data;
  const { text } = await open(link.url);
  expect(text).not.toContain("MAIL_HOSTNAME");
  expect(text.split("Do not publish this record yet").length - 1).toBe(warned);
});

test("a password is asked for, in the form of the page, and guesses are limited", async () => {
  const id = await sent();
  const password = "tell nobody ✓";
  const { data } = (await share({ kind: "campaign_report", resource_id: id, password })).body;
  expect(data.has_password).toBe(true);
  const question = await open(data.url);
  expect(question.text).toContain('type="password"');
  expect(question.text).not.toContain("Delivered");
  expect(await open(data.url, password)).toMatchObject({
    status: 200,
    text: expect.stringContaining("Delivered"),
  });
  for (const wrong of ["", "x".repeat(257), "tell nobody"]) {
    const { status, text } = await open(data.url, wrong);
    expect([wrong, status, text.includes("Delivered")]).toEqual([wrong, 403, false]);
  }
  const statuses = new Set<number>();
  for (let n = 0; n < 12; n++) statuses.add((await open(data.url, `guess ${n}`)).status);
  expect([...statuses]).toEqual([403, 429]);
  expect((await open(data.url, password)).status).toBe(429);
  const { audit } = (await database.row<{ audit: string }>(sql`
    select string_agg(changes::text, '') as audit from audit_events where operation = 'createShareLink'`)) ?? {
    audit: "",
  };
  expect(audit).toContain("password");
  expect(audit).not.toContain("tell nobody");
});

test("a link ends at its time, and at once when it is revoked; both are in the audit log", async () => {
  const id = await sent();
  const [first, second] = [
    (await share({ kind: "campaign_report", resource_id: id, expires_at: later(1).toISOString() })).body.data,
    (await share({ kind: "campaign_report", resource_id: id })).body.data,
  ];
  expect((await call("DELETE", `/share-links/${second.id}`)).body.data).toEqual({
    id: second.id,
    deleted: true,
  });
  expect((await open(second.url)).status).toBe(404);
  expect((await call("DELETE", `/share-links/${second.id}`)).status).toBe(404);
  const events = await database.rows(sql`
    select operation, resource_name from audit_events where resource_id = ${second.id} order by id`);
  expect(events).toEqual([
    { operation: "createShareLink", resource_name: "Spring" },
    { operation: "revokeShareLink", resource_name: "Spring" },
  ]);
  expect((await open(first.url)).status).toBe(200);
  await database.run(sql`update share_links set expires_at = ${clock.now()} where id = ${first.id}`);
  expect((await open(first.url)).status).toBe(404);
  const { links } = (await call("GET", "/share-links")).body.data;
  expect(links.map((link: { id: string }) => link.id)).not.toContain(first.id);
});

test("a link ends when what it shows is deleted: it is neither listed nor counted, and cannot be revoked", async () => {
  const campaign = await sent();
  const domain = (await call("POST", "/sending-domains", { domain: "ended.example" })).body.data.id;
  const links = [
    (await share({ kind: "campaign_report", resource_id: campaign })).body.data,
    (await share({ kind: "dns_records", resource_id: domain })).body.data,
  ];
  for (const { url } of links) expect((await open(url)).status).toBe(200);
  await call("DELETE", `/campaigns/${campaign}`);
  await call("DELETE", `/sending-domains/${domain}`);
  const listed = (await call("GET", "/share-links?limit=100")).body.data;
  const ids = listed.links.map((link: { id: string }) => link.id);
  expect(listed.pagination.total).toBe(ids.length);
  for (const { id, url } of links) {
    expect(ids).not.toContain(id);
    expect((await open(url)).status).toBe(404);
    expect((await call("DELETE", `/share-links/${id}`)).body.code).toBe("NOT_FOUND");
  }
  // Another link removes those that have ended, so that they do not count towards the limit.
  await share({ kind: "campaign_report", resource_id: await sent() });
  const left = await database.rows(sql`
    select from share_links where resource_id = ${campaign} or resource_id = ${domain}`);
  expect(left).toHaveLength(0);
});

test("what was deleted, and an address that is not a link's, are the same page with 404", async () => {
  const id = await sent();
  const { url } = (await share({ kind: "campaign_report", resource_id: id })).body.data;
  await call("DELETE", `/campaigns/${id}`);
  const pages = await Promise.all(
    [
      url,
      url.slice(0, -1),
      `${url}A`,
      `${url}/x`,
      `${url.slice(0, -10)}AAAAAAAAAA`,
      `${base}/share/`,
      `${base}/share/${"A".repeat(64)}`,
      `${base}/share/%00${"A".repeat(62)}`,
      `${base}/share/${"A".repeat(8_000)}`,
    ].map((address) => open(address)),
  );
  expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 404));
  expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
});

test("sharing needs its permission, and that to read what is shared", async () => {
  const id = await sent();
  const order = { kind: "campaign_report", resource_id: id };
  const withRights = async (...rights: string[]) =>
    (
      await share(
        order,
        apiCaller(() => base, await service.newKey(rights)),
      )
    ).body;
  expect(await withRights("campaigns:read")).toMatchObject({ required_scopes: ["share_links:write"] });
  expect(await withRights("share_links:write", "sending_domains:read")).toMatchObject({
    required_scopes: ["campaigns:read"],
  });
  expect(await withRights("share_links:write", "campaigns:read")).toMatchObject({ success: true });
  const other = await service.newWorkspace();
  expect(
    (
      await share(
        order,
        apiCaller(() => base, other.key),
      )
    ).status,
  ).toBe(404);
  expect((await share({ ...order, resource_id: nilId })).status).toBe(404);
  expect((await share({ kind: "dns_records", resource_id: id })).status).toBe(404);
  const draft = await newCampaign(database, workspaceId, null);
  expect((await share({ ...order, resource_id: draft })).body.code).toBe("CONFLICT");
});

test.each([
  [{ kind: "everything" }],
  [{ kind: "__proto__" }],
  [{ resource_id: "1" }],
  [{ resource_id: [nilId] }],
  [{ password: "short" }],
  [{ password: "x".repeat(257) }],
  [{ expires_at: "soon" }],
  [{ expires_at: "2000-01-01T00:00:00Z" }],
  [{ expires_at: "9999-01-01T00:00:00Z" }],
])("%j is refused", async (change) => {
  const order = { kind: "campaign_report", resource_id: newId(), ...change };
  expect((await share(order)).body).toMatchObject({ code: "VALIDATION_ERROR" });
});
