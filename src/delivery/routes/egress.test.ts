import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import { builtInLanes, defaultLane } from "#delivery/lanes/default-lanes.ts";
import type { Destination } from "#delivery/lanes/lanes-by-mx-host.ts";
import { WarmUpQuotas } from "#delivery/warm-up/reserve-quota.ts";
import { ceilingOf, dayOf } from "#delivery/warm-up/schedule.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import type { StsPolicy } from "#mail/dns/mta-sts.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { type DnsFault, type DnsZone, startFakeDns } from "#test/support/fake-dns.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { MachineAddresses } from "./announced-addresses.ts";
import { type DecideEgress, Egress, type EgressDeps } from "./egress.ts";
import type { RouteChoice, Routing, SendingIp } from "./egress-rules.ts";
import { type FindRoute, routeByMx, routeToRelay } from "./find-destination.ts";

const db = await testDatabase();
const workspaceId = await insertBareWorkspace(db);
const log = createLog("silent");
const clock = stubClock(new Date("2026-03-01T18:00:00Z"));

const destination: Destination = {
  site: "mx.example.test",
  lane: defaultLane,
  hosts: [{ name: "mx.example.test", addresses: ["192.0.2.200"] }],
};
const ip = (last: number, change: Partial<SendingIp> = {}): SendingIp => ({
  id: newId(),
  ip: `203.0.113.${last}`,
  hostname: null,
  pool: "main",
  is_active: true,
  warm_up_started_at: null,
  ...change,
});
const poolRule = {
  id: "pool",
  name: "Pool",
  is_active: true,
  is_automatic: true,
  recipient_domains: [],
  providers: [],
  action: { pool: "main" },
};
const warming = { warm_up_started_at: new Date(0) };

interface Scene {
  readonly ips: readonly SendingIp[];
  readonly rules?: Routing["rules"];
  readonly choice?: RouteChoice;
  /** Last octets of the addresses of this machine, and of all machines. */
  readonly here?: readonly number[];
  readonly anywhere?: readonly number[];
  /** Last octets of addresses that have used their daily quota. */
  readonly full?: readonly number[];
  readonly onLook?: () => void;
}

async function egressOf({
  ips,
  rules = [poolRule],
  choice,
  here = [],
  anywhere = here,
  full = [],
  onLook,
}: Scene): Promise<DecideEgress> {
  const addressesOf = (octets: readonly number[]) => octets.map((last) => `203.0.113.${last}`);
  await db.run(sql`truncate delivery_addresses, sending_ips, warm_up_lanes, warm_up_days, routing_rules`);
  await db.run(sql`
    insert into sending_ips (workspace_id, id, ip, warm_up_started_at, created_at)
    select ${workspaceId}, *, now() from unnest(${ips.map(({ id }) => id)}::uuid[], ${ips.map(({ ip }) => ip)}::inet[],
      ${ips.map(({ warm_up_started_at }) => warm_up_started_at)}::timestamptz[])`);
  await db.run(sql`
    insert into warm_up_lanes (workspace_id, sending_ip_id, lane, started_at, day, step, reserved, sent, deferred)
    select workspace_id, id, ${defaultLane.name}, warm_up_started_at, ${dayOf(clock.now())}, 0, ${ceilingOf(0)}, 0, 0
    from sending_ips where ip = any (${addressesOf(full)}::inet[])`);
  await db.run(sql`
    insert into delivery_addresses (ip, seen_at) select *, now() from unnest(${addressesOf(anywhere)}::inet[])`);
  const machines = await MachineAddresses.watch(db, log);
  const warmUps = new WarmUpQuotas({ db, clock, log });
  onTestFinished(async () => {
    await Promise.all([machines.stop(), warmUps.close()]);
  });
  const deps: EgressDeps = {
    clock,
    async findRouting() {
      onLook?.();
      return { ips, rules };
    },
    findChoice: async () => choice ?? { ip: null, ruleId: null },
    warmUps,
    local: () => ({ networks: [], addresses: [], has: (ip) => addressesOf(here).includes(ip) }),
    machines,
    routeToRelay: (host) => async () => ({ ...destination, site: host }),
    random: () => 0,
  };
  const egress = new Egress(deps);
  return (message, route) => egress.decide(message, route);
}

const routed = (change: Parameters<typeof leased>[1] = {}) =>
  leased("ann", { workspace_id: workspaceId, routing_version: 1, ...change });
const campaignMail = (change: Parameters<typeof leased>[1] = {}) =>
  routed({ source: "campaign", origin_id: newId(), ...change });

async function sourceOf(decide: DecideEgress, message = routed()): Promise<string | null> {
  const egress = await decide(message, destination);
  return egress.kind === "send" ? (egress.path?.sourceIp ?? null) : `(${egress.kind})`;
}

test("a pool is used evenly, and each message keeps the same address", async () => {
  const decide = await egressOf({ ips: [ip(1), ip(2), ip(3)], here: [1, 2, 3] });
  const messages = Array.from({ length: 600 }, () => routed());
  const sources = await Promise.all(messages.map((message) => sourceOf(decide, message)));
  const counts = [1, 2, 3].map((last) => sources.filter((source) => source === `203.0.113.${last}`).length);
  for (const count of counts) expect(count).toBeGreaterThan(140);
  expect(await Promise.all(messages.map((message) => sourceOf(decide, message)))).toEqual(sources);
});

test("a retry uses the address of the last attempt, as long as the pool has it", async () => {
  const messages = Array.from({ length: 20 }, () => routed({ attempts: 1, source_ip: "203.0.113.2" }));
  const decide = await egressOf({ ips: [ip(1), ip(2)], here: [1, 2] });
  const sources = await Promise.all(messages.map((message) => sourceOf(decide, message)));
  expect(new Set(sources)).toEqual(new Set(["203.0.113.2"]));
  const without = await egressOf({ ips: [ip(1), ip(2, { is_active: false })], here: [1, 2] });
  expect(await sourceOf(without, messages[0])).toBe("203.0.113.1");
});

test("a machine uses those addresses of a pool that it has", async () => {
  const decide = await egressOf({ ips: [ip(1), ip(2)], here: [2], anywhere: [1, 2] });
  const sources = await Promise.all(Array.from({ length: 20 }, () => sourceOf(decide)));
  expect(new Set(sources)).toEqual(new Set(["203.0.113.2"]));
});

test("mail for an address of another machine is requeued for that machine", async () => {
  const decide = await egressOf({ ips: [ip(1)], anywhere: [1] });
  expect(await decide(routed(), destination)).toEqual({
    kind: "requeue",
    seconds: 0,
    sourceIp: "203.0.113.1",
  });
});

test("a campaign that has chosen an address of another machine is left to that machine as a whole", async () => {
  const decide = await egressOf({ ips: [ip(1)], anywhere: [1], choice: { ip: "203.0.113.1", ruleId: null } });
  const message = campaignMail();
  expect(await decide(message, destination)).toMatchObject({ foreignCampaign: message.origin_id });
});

test("a message that names its own egress takes it, and does not count as a foreign campaign", async () => {
  const particulars = { headers: [], return_path_host: null, routing_rule_id: null };
  const decide = await egressOf({ ips: [ip(1), ip(2)], here: [1], anywhere: [1, 2] });
  const chosen = (sending_ip: string) => routed({ particulars: { ...particulars, sending_ip } });
  expect(await sourceOf(decide, chosen("203.0.113.1"))).toBe("203.0.113.1");
  const requeue = { kind: "requeue", seconds: 0, sourceIp: "203.0.113.2" };
  expect(await decide(chosen("203.0.113.2"), destination)).toEqual(requeue);
});

test("a sending IP that no machine has is reported once, and then the message is requeued without events", async () => {
  const decide = await egressOf({ ips: [ip(1), ip(2)] });
  expect(await decide(routed(), destination)).toMatchObject({
    kind: "unroutable",
    result: {
      status: "deferred",
      reason: expect.stringMatching(/^no delivery machine has the sending IP 203/),
    },
  });
  expect(await decide(routed({ attempts: 1 }), destination)).toMatchObject({ kind: "requeue", seconds: 300 });
});

test("when an address has used its daily quota, the pool's other addresses follow, on this machine first", async () => {
  const ips = [ip(1, warming), ip(2, warming), ip(3)];
  const sources = (decide: DecideEgress) => Promise.all(Array.from({ length: 20 }, () => sourceOf(decide)));
  const here = await egressOf({ ips, here: [1, 2], anywhere: [1, 2, 3], full: [1] });
  expect(new Set(await sources(here))).toEqual(new Set(["203.0.113.2"]));
  const elsewhere = await egressOf({ ips, here: [1, 2], anywhere: [1, 2, 3], full: [1, 2] });
  expect(await elsewhere(routed(), destination)).toMatchObject({ seconds: 0, sourceIp: "203.0.113.3" });
});

test("when all addresses have used their daily quota, the message is requeued until the next day, UTC", async () => {
  const decide = await egressOf({ ips: [ip(1, warming)], here: [1], full: [1] });
  expect(await decide(routed(), destination)).toEqual({
    kind: "requeue",
    seconds: 6 * 3_600,
    sourceIp: "203.0.113.1",
  });
});

test("platform mail takes the default path, whatever the workspace's rules", async () => {
  const rules = [{ ...poolRule, action: { relay_url: "smtp://spy.test" } }];
  const decide = await egressOf({ ips: [], rules });
  expect(await decide(routed({ source: "platform" }), destination)).toEqual({
    kind: "send",
    destination,
    path: null,
  });
});

test("mail for a smart host that is switched off waits, though its domain has no mail hosts", async () => {
  const relay = { ...poolRule, is_active: false, action: { relay_url: "smtp://relay.test" } };
  const decide = await egressOf({ ips: [], rules: [relay], choice: { ip: null, ruleId: relay.id } });
  expect(
    await decide(campaignMail(), { outcome: "unroutable", status: "bounced", enhanced: "5.1.2", reason: "" }),
  ).toMatchObject({ kind: "unroutable", result: { status: "deferred", enhanced: "4.3.5" } });
});

test("a smart host is reached with the port and credentials of its own rule", async () => {
  const rules = [{ ...poolRule, action: { relay_url: "smtp://user:secret@relay.test:2525" } }];
  const decide = await egressOf({ ips: [], rules });
  expect(
    await decide(routed(), { outcome: "unroutable", status: "bounced", enhanced: "5.1.2", reason: "" }),
  ).toEqual({
    kind: "send",
    destination: { ...destination, site: "relay.test" },
    path: {
      key: "relay pool 1",
      session: { port: 2525, implicitTls: false, credentials: { user: "user", password: "secret" } },
      sourceIp: null,
      quotaSlot: null,
    },
  });
});

const byMx =
  (policy: StsPolicy | null = null) =>
  (resolver: Resolver): FindRoute =>
    routeByMx({ resolver, allowPrivate: true, lanes: builtInLanes, findPolicy: async () => policy });

/** The site for a.test under a rule for Google's relay followed by a rule for all providers. */
async function throughRelays(zone: DnsZone, usualRoute = byMx()): Promise<string> {
  await using dns = await startFakeDns(zone);
  const relayOf = (host: string) => ({ ...poolRule, id: host, action: { relay_url: `smtp://${host}` } });
  const rules = [{ ...relayOf("google.relay"), providers: ["google"] }, relayOf("any.relay")];
  const decide = await egressOf({ ips: [], rules });
  const egress = await decide(routed({ domain: "a.test" }), await usualRoute(dns.resolver)("a.test"));
  if (egress.kind === "send") return egress.destination.site;
  return egress.kind === "unroutable" ? egress.result.status : egress.kind;
}

test.each<DnsFault>(["servfail", "refuse", "timeout"])(
  "while a DNS fault hides the provider (%s), a rule for one provider stops the rules after it",
  async (fault) => {
    expect(await throughRelays({ "a.test": { MX: fault } })).toBe("deferred");
  },
);

test("the MX host names give the provider, even when no host can be reached", async () => {
  const MX: [number, string][] = [[10, "aspmx.l.google.com"]];
  const fault = { A: "servfail", AAAA: "servfail" } as const;
  expect(await throughRelays({ "a.test": { MX }, "aspmx.l.google.com": fault })).toBe("google.relay");
  expect(await throughRelays({ "a.test": { MX: [[10, "mx.a.test"]] }, "mx.a.test": fault })).toBe(
    "any.relay",
  );
  const policy = { mode: "enforce", mx: ["mx.a.test"], maxAgeSeconds: 60 } as const;
  const zone = { "a.test": { MX }, "aspmx.l.google.com": { A: ["127.0.0.1"] } };
  expect(await throughRelays(zone, byMx(policy))).toBe("google.relay");
});

test("in relay mode all mail has one provider, whether or not the relay resolves", async () => {
  const toRelay = (resolver: Resolver) =>
    routeToRelay("relay.test", { resolver, lane: defaultLane, allowPrivate: true, setting: "RELAY_URL" });
  expect(await throughRelays({ "relay.test": "servfail" }, toRelay)).toBe("any.relay");
});

test("a domain without mail hosts has no provider", async () => {
  expect(await throughRelays({ "a.test": { MX: [[0, "."]] } })).toBe("any.relay");
});

test("a workspace's routing is read once for each version", async () => {
  let looks = 0;
  const decide = await egressOf({ ips: [ip(1)], here: [1], onLook: () => (looks += 1) });
  for (const routing_version of [1, 1, 2, 2]) await decide(routed({ routing_version }), destination);
  expect(looks).toBe(2);
});
