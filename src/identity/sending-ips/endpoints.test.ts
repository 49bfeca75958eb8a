import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { newCampaign } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database: db, workspaceId, clock, call } = service;
beforeEach(() => db.run(sql`truncate campaigns, routing_rules, sending_ips, warm_up_lanes cascade`));

const add = (body: object, key?: string) => call("POST", "/sending-ips", body, key ? { key } : {});
const patch = (id: string, body: object) => call("PATCH", `/sending-ips/${id}`, body);

test("an address is shown in its one spelling, with the service's name until it has its own", async () => {
  const created = await add({ ip: "2001:DB8:0:0::00A1", pool: " main " });
  expect([created.status, created.body.data]).toEqual([
    201,
    {
      id: expect.any(String),
      ip: "2001:db8::a1",
      hostname: "mail.posthaste.test",
      pool: "main",
      is_active: true,
      warm_up: { enabled: false, started_at: null, day: null, sent_today: 0, providers: [] },
      created_at: clock.now().toISOString(),
    },
  ]);
  const { id } = created.body.data;
  expect((await patch(id, { hostname: "OUT1.Shop.Example." })).body.data.hostname).toBe("out1.shop.example");
  expect((await patch(id, { hostname: null, pool: null, is_active: false })).body.data).toMatchObject({
    hostname: "mail.posthaste.test",
    pool: null,
    is_active: false,
  });
  expect((await call("GET", `/sending-ips/${id}`)).body.data).toEqual(
    (await call("GET", "/sending-ips")).body.data[0],
  );
});

test.each([
  ["no address", { ip: "out1.shop.example" }, "ip"],
  ["a network", { ip: "192.0.2.0/24" }, "ip"],
  ["another spelling of a number", { ip: "192.0.2.01" }, "ip"],
  ["every address", { ip: "0.0.0.0" }, "ip"],
  ["multicast", { ip: "ff02::1" }, "ip"],
  ["IPv4 in IPv6", { ip: "::ffff:192.0.2.1" }, "ip"],
  ["an interface", { ip: "fe80::1%eth0" }, "ip"],
  ["a hostname of one label", { ip: "192.0.2.1", hostname: "localhost" }, "hostname"],
  ["a hostname that is an address", { ip: "192.0.2.1", hostname: "192.0.2.1" }, "hostname"],
  ["a hostname with a command in it", { ip: "192.0.2.1", hostname: "a.example\r\nMAIL" }, "hostname"],
  ["a pool of two lines", { ip: "192.0.2.1", pool: "a\nb" }, "pool"],
])("%s is refused", async (_, body, field) => {
  const { status, body: answer } = await add(body);
  expect([status, answer.code, answer.details[0].field]).toEqual([400, "VALIDATION_ERROR", field]);
});

test("loopback addresses are refused where mail goes out", async () => {
  const strict = await startService({ env: { ALLOW_PRIVATE_MX: "false" } });
  const { status } = await strict.call("POST", "/sending-ips", { ip: "127.0.0.2" });
  expect(status).toBe(400);
});

test("an operator's list says which addresses a workspace may claim", async () => {
  const strict = await startService({ env: { SENDING_IPS: "192.0.2.7,2001:db8::/64" } });
  const status = async (ip: string) => (await strict.call("POST", "/sending-ips", { ip })).status;
  expect([await status("192.0.2.7"), await status("2001:db8::1")]).toEqual([201, 201]);
  expect([await status("192.0.2.8"), await status("2001:db8:1::1"), await status("::1")]).toEqual([
    400, 400, 400,
  ]);
});

test("an address sends for one workspace", async () => {
  await add({ ip: "192.0.2.1" });
  const { key } = await service.newWorkspace();
  expect((await add({ ip: "192.0.2.1" })).status).toBe(409);
  expect((await add({ ip: "192.0.2.1" }, key)).status).toBe(409);
  expect((await call("GET", "/sending-ips", undefined, { key })).body.data).toEqual([]);
});

test("warm-up is off until it is switched on, and then tells every provider's day and ceiling", async () => {
  const { id } = (await add({ ip: "192.0.2.1" })).body.data;
  const { warm_up } = (await patch(id, { warm_up_enabled: true })).body.data;
  expect(warm_up).toMatchObject({
    enabled: true,
    started_at: clock.now().toISOString(),
    day: 1,
    sent_today: 0,
  });
  expect(warm_up.providers).toContainEqual({
    provider: "google",
    day: 1,
    ceiling: 50,
    sent_today: 0,
    deferred_today: 0,
  });
  clock.advance(1_000);
  expect((await patch(id, { warm_up_enabled: true })).body.data.warm_up.started_at).toBe(warm_up.started_at);
  expect((await patch(id, { pool: "main" })).body.data.warm_up.enabled).toBe(true);
  expect((await patch(id, { warm_up_enabled: false })).body.data.warm_up).toMatchObject({
    enabled: false,
    day: null,
    providers: [],
  });
});

test("every change is a new version of the workspace's routing", async () => {
  const version = async () =>
    (
      await db.row<{ version: number }>(sql`
        select version from routed_workspaces where workspace_id = ${workspaceId}`)
    )?.version ?? 0;
  const before = await version();
  const { id } = (await add({ ip: "192.0.2.1" })).body.data;
  await patch(id, { is_active: false });
  await call("DELETE", `/sending-ips/${id}`);
  expect(await version()).toBe(before + 3);
});

test("a rule or a campaign under way keeps its address", async () => {
  const { id } = (await add({ ip: "192.0.2.1" })).body.data;
  const rule = await call("POST", "/routing-rules", { name: "All", action: { source_ip_id: id } });
  const refused = await call("DELETE", `/sending-ips/${id}`);
  expect([refused.status, refused.body.error]).toEqual([
    409,
    'The routing rule "All" uses the sending IP 192.0.2.1',
  ]);
  await call("DELETE", `/routing-rules/${rule.body.data.id}`);
  const campaign = await newCampaign(db, workspaceId, null, { virtual_mta_ip: "192.0.2.1" });
  await db.run(sql`update campaigns set status = 'scheduled' where id = ${campaign}`);
  expect((await call("DELETE", `/sending-ips/${id}`)).status).toBe(409);
  await db.run(sql`update campaigns set status = 'sent' where id = ${campaign}`);
  expect((await call("DELETE", `/sending-ips/${id}`)).body.data).toEqual({ id, deleted: true });
  expect((await call("GET", `/sending-ips/${id}`)).status).toBe(404);
});

test("the last address of a pool that a rule sends from stays in it", async () => {
  const [first, second] = [
    (await add({ ip: "192.0.2.1", pool: "main" })).body.data.id,
    (await add({ ip: "192.0.2.2", pool: "main" })).body.data.id,
  ];
  const rule = { name: "All", action: { pool: "main" } };
  expect((await call("POST", "/routing-rules", rule)).status).toBe(201);
  expect((await call("DELETE", `/sending-ips/${second}`)).status).toBe(200);
  const refusal = { status: 409, body: { code: "CONFLICT" } };
  expect(await call("DELETE", `/sending-ips/${first}`)).toMatchObject(refusal);
  expect(await patch(first, { pool: null })).toMatchObject(refusal);
  expect((await patch(first, { hostname: "out.shop.example" })).status).toBe(200);
});
