import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";
import { findRouting, findSourceAddress } from "./load-routing.ts";

const service = await startService();
const { database: db, workspaceId, clock, call } = service;
beforeEach(() => db.run(sql`truncate campaigns, routing_rules, sending_ips, warm_up_lanes cascade`));

const addIp = async (ip: string, settings: object = {}, key?: string): Promise<string> =>
  (await call("POST", "/sending-ips", { ip, ...settings }, key ? { key } : {})).body.data.id;
const add = (body: object, key?: string) =>
  call("POST", "/routing-rules", { name: "Rule", ...body }, key ? { key } : {});
const relay_url = "smtp://shop:s%40cret@relay.example.com:587";
const relay = { action: { relay_url } };

test("a rule is shown as it is kept: domains in one spelling, defaults filled in", async () => {
  const source_ip_id = await addIp("192.0.2.1");
  const match = {
    recipient_domains: ["Example.COM.", "bücher.example", "example.com"],
    providers: ["google"],
  };
  const created = await add({ match, action: { source_ip_id } });
  expect([created.status, created.body.data]).toEqual([
    201,
    {
      id: expect.any(String),
      name: "Rule",
      priority: 100,
      match: { recipient_domains: ["example.com", "xn--bcher-kva.example"], providers: ["google"] },
      action: { source_ip_id },
      is_active: true,
      is_automatic: true,
      created_at: clock.now().toISOString(),
    },
  ]);
});

test("rules are listed in the order in which they are asked", async () => {
  for (const priority of [30, 10, 20]) await add({ name: `P${priority}`, priority, ...relay });
  const { body } = await call("GET", "/routing-rules");
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(["P10", "P20", "P30"]);
});

test("a relay's password is never shown, is sealed at rest, and stays when its URL comes back as shown", async () => {
  const { id, action } = (await add(relay)).body.data;
  const shown = "smtp://shop:***@relay.example.com:587";
  expect(action).toEqual({ relay_url: shown });
  const row = await db.row<{ sealed: Buffer }>(
    sql`select relay_url as sealed from routing_rules where id = ${id}`,
  );
  expect(row?.sealed.toString("latin1")).not.toContain("relay.example.com");
  const relayUrl = async () =>
    (await findRouting(db, createSecrets(SECRET_KEY), workspaceId)).rules[0]?.action;
  expect(await relayUrl()).toEqual({ relay_url });
  await call("PATCH", `/routing-rules/${id}`, { action: { relay_url: shown }, name: "Renamed" });
  expect(await relayUrl()).toEqual({ relay_url });
});

test.each([
  ["a relay that changed and still hides its password", "smtp://shop:***@other.example.com:587"],
  ["a password that is not percent-encoded", "smtp://shop:p%zz@relay.example.com:587"],
  ["a line break", "smtp://shop:p%0d%0a@relay.example.com:587"],
])("%s is refused", async (_what, relay_url) => {
  const { id } = (await add(relay)).body.data;
  const { status, body } = await call("PATCH", `/routing-rules/${id}`, { action: { relay_url } });
  expect([status, body.code, body.details?.[0].field]).toEqual([400, "VALIDATION_ERROR", "action.relay_url"]);
});

test("a change replaces what it names and leaves the rest", async () => {
  const { id } = (await add({ ...relay, match: { providers: ["yahoo"] } })).body.data;
  await addIp("192.0.2.1", { pool: "main" });
  const change = { priority: 5, action: { pool: "main" }, is_active: false, is_automatic: false };
  expect((await call("PATCH", `/routing-rules/${id}`, change)).body.data).toMatchObject({
    ...change,
    name: "Rule",
    match: { recipient_domains: [], providers: ["yahoo"] },
  });
});

test.each([
  ["no action", { action: {} }, "action"],
  ["two actions", { action: { relay_url, pool: "main" } }, "action"],
  ["a pool without addresses", { action: { pool: "nobody" } }, "action.pool"],
  ["an address that is not there", { action: { source_ip_id: newId() } }, "action.source_ip_id"],
  ["an unknown provider", { ...relay, match: { providers: ["google", "gogle"] } }, "match.providers[1]"],
  ["no domain", { ...relay, match: { recipient_domains: ["a b"] } }, "match.recipient_domains[0]"],
  ["a blank name", { ...relay, name: " " }, "name"],
  ["a web address", { action: { relay_url: "https://relay.example.com" } }, "action.relay_url"],
  ["a relay without a host", { action: { relay_url: "smtp://:25" } }, "action.relay_url"],
  ["a relay with a path", { action: { relay_url: "smtp://relay.example.com/x" } }, "action.relay_url"],
  ["a port of something else", { action: { relay_url: "smtp://relay.example.com:22" } }, "action.relay_url"],
  ["a password without a user", { action: { relay_url: "smtp://:x@relay.example.com" } }, "action.relay_url"],
])("%s is refused", async (_, body, field) => {
  const { status, body: answer } = await add(body);
  expect([status, answer.details[0].field]).toEqual([400, field]);
});

test("a relay in the operator's own network is refused where mail goes out", async () => {
  const strict = await startService({ env: { ALLOW_PRIVATE_MX: "false" } });
  const addThere = (url: string) =>
    strict.call("POST", "/routing-rules", { name: "Rule", action: { relay_url: url } });
  for (const host of ["127.0.0.1", "10.0.0.8", "[::1]", "[::ffff:10.0.0.8]"]) {
    expect((await addThere(`smtp://${host}:25`)).status).toBe(400);
  }
});

test("another workspace's addresses and rules are not there", async () => {
  const { workspaceId: other, key } = await service.newWorkspace();
  const source_ip_id = await addIp("192.0.2.9", { pool: "theirs" }, key);
  const { id } = (await add({ action: { source_ip_id } }, key)).body.data;
  expect((await add({ action: { source_ip_id } })).status).toBe(400);
  expect((await add({ action: { pool: "theirs" } })).status).toBe(400);
  for (const [method, body] of [["GET"], ["PATCH", {}], ["DELETE"]] as const) {
    expect((await call(method, `/routing-rules/${id}`, body)).status).toBe(404);
  }
  expect(await findSourceAddress(db, workspaceId, { routingRuleId: id })).toBe("unknown");
  expect(await findSourceAddress(db, workspaceId, { virtualMtaIp: "192.0.2.9" })).toBe("unknown");
  expect(await findSourceAddress(db, other, { routingRuleId: id })).toBe("192.0.2.9");
});

test("a probe is told the address that the fields lead to", async () => {
  const find = (virtualMtaIp: string | null, routingRuleId: string | null = null) =>
    findSourceAddress(db, workspaceId, { virtualMtaIp, routingRuleId });
  await addIp("2001:db8::1", { pool: "main" });
  const off = await addIp("192.0.2.2", { is_active: false });
  const pool = (await add({ action: { pool: "main" } })).body.data.id;
  const toOff = (await add({ action: { source_ip_id: off } })).body.data.id;
  const throughRelay = (await add(relay)).body.data.id;
  expect(await find(null)).toBeNull();
  expect(await find("2001:0DB8::0001")).toBe("2001:db8::1");
  expect(await find(`routing_rule:${pool}`)).toBe("2001:db8::1");
  expect(await find(null, pool)).toBe("2001:db8::1");
  expect(await find(null, throughRelay)).toBeNull();
  for (const nothing of ["192.0.2.2", "192.0.2.3", "mail", "routing_rule:x", `routing_rule:${newId()}`]) {
    expect(await find(nothing)).toBe("unknown");
  }
  expect(await find(null, toOff)).toBe("unknown");
});

test("a campaign may name what its workspace has, and what it names is kept while it is under way", async () => {
  await db.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
    values (${workspaceId}, gen_random_uuid(), 'shop.test', 'v', 'd', true, now())`);
  const campaign = (route: object) =>
    call("POST", "/campaigns", { name: "June", subject: "News", from_email: "news@shop.test", ...route });
  await addIp("2001:db8::1");
  const { id } = (await add(relay)).body.data;
  expect((await campaign({ virtual_mta_ip: "2001:DB8::1", routing_rule_id: id })).body.data).toMatchObject({
    virtual_mta_ip: "2001:db8::1",
    routing_rule_id: id,
  });
  const named = await campaign({ virtual_mta_ip: `routing_rule:${id}` });
  expect(named.body.data.virtual_mta_ip).toBe(`routing_rule:${id}`);
  expect((await campaign({ virtual_mta_ip: "" })).body.data.virtual_mta_ip).toBeNull();
  for (const [field, value] of [
    ["virtual_mta_ip", "192.0.2.99"],
    ["virtual_mta_ip", "nonsense"],
    ["virtual_mta_ip", `routing_rule:${newId()}`],
    ["routing_rule_id", newId()],
  ] as const) {
    const { status, body } = await campaign({ [field]: value });
    expect([status, body.details[0].field]).toEqual([400, field]);
  }
  await db.run(sql`update campaigns set status = 'sending' where id = ${named.body.data.id}`);
  const refused = await call("DELETE", `/routing-rules/${id}`);
  expect([refused.status, refused.body.error]).toEqual([409, 'The campaign "June" uses the routing rule']);
});

test("a draft whose rule is gone is not sent", async () => {
  const campaign = await newCampaign(db, workspaceId, null, { routing_rule_id: newId() });
  const { status, body } = await call("POST", `/campaigns/${campaign}/send`);
  expect([status, body.details[0].field]).toEqual([400, "routing_rule_id"]);
});
