import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import { builtInLanes, defaultLane } from "#delivery/lanes/default-lanes.ts";
import type { Destination } from "#delivery/lanes/lanes.ts";
import { WarmUpAllowances } from "#delivery/warm-up/allowances.ts";
import { ceilingOf, dayOf } from "#delivery/warm-up/warm-up.ts";
import type { Resolver } from "#dns/resolver.ts";
import type { StsPolicy } from "#mail/dns/mta-sts.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { type DnsFault, type DnsZone, startFakeDns } from "#test/support/fake-dns.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { type FindRoute, routeByMx, routeToRelay } from "./destination.ts";
import { createDepartures, type DepartureDeps, type FindDeparture } from "./egress.ts";
import type { RouteChoice, Routing, SendingIp } from "./egress-rules.ts";
import { watchOtherMachines } from "./other-machines.ts";

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
  /** Last octets of addresses whose day is full. */
  readonly full?: readonly number[];
  readonly onLook?: () => void;
}

async function departures({
  ips,
  rules = [poolRule],
  choice,
  here = [],
  anywhere = here,
  full = [],
  onLook,
}: Scene) {
  const addressesOf = (octets: readonly number[]) => octets.map((last) => `203.0.113.${last}`);
  await db.run(sql`truncate delivery_addresses, sending_ips, warm_up_lanes, routing_rules`);
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
  const others = await watchOtherMachines(db, log);
  const warmUps = new WarmUpAllowances({ db, clock, log });
  onTestFinished(async () => {
    await Promise.all([others.stop(), warmUps.close()]);
  });
  const deps: DepartureDeps = {
    clock,
    async findRouting() {
      onLook?.();
      return { ips, rules };
    },
    findChoice: async () => choice ?? { ip: null, ruleId: null },
    warmUps,
    local: () => ({ networks: [], addresses: [], has: (ip) => addressesOf(here).includes(ip) }),
    others,
    routeToRelay: (host) => async () => ({ ...destination, site: host }),
    random: () => 0,
  };
  return createDepartures(deps);
}

const routed = (change: Parameters<typeof leased>[1] = {}) =>
  leased("ann", { workspace_id: workspaceId, routing_version: 1, ...change });
const campaignMail = (change: Parameters<typeof leased>[1] = {}) =>
  routed({ source: "campaign", origin_id: newId(), ...change });

async function sourceOf(find: FindDeparture, message = routed()): Promise<string | null> {
  const departure = await find(message, destination);
  return departure.kind === "go" ? (departure.exit?.sourceIp ?? null) : `(${departure.kind})`;
}

test("a pool is used evenly, and every message keeps to one address", async () => {
  const find = await departures({ ips: [ip(1), ip(2), ip(3)], here: [1, 2, 3] });
  const messages = Array.from({ length: 600 }, () => routed());
  const sources = await Promise.all(messages.map((message) => sourceOf(find, message)));
  const counts = [1, 2, 3].map((last) => sources.filter((source) => source === `203.0.113.${last}`).length);
  for (const count of counts) expect(count).toBeGreaterThan(140);
  expect(await Promise.all(messages.map((message) => sourceOf(find, message)))).toEqual(sources);
});

test("a retry leaves from the address of the last attempt, while the pool has it", async () => {
  const messages = Array.from({ length: 20 }, () => routed({ attempts: 1, source_ip: "203.0.113.2" }));
  const find = await departures({ ips: [ip(1), ip(2)], here: [1, 2] });
  const sources = await Promise.all(messages.map((message) => sourceOf(find, message)));
  expect(new Set(sources)).toEqual(new Set(["203.0.113.2"]));
  const without = await departures({ ips: [ip(1), ip(2, { is_active: false })], here: [1, 2] });
  expect(await sourceOf(without, messages[0])).toBe("203.0.113.1");
});

test("of a pool the machine uses the addresses it has", async () => {
  const find = await departures({ ips: [ip(1), ip(2)], here: [2], anywhere: [1, 2] });
  const sources = await Promise.all(Array.from({ length: 20 }, () => sourceOf(find)));
  expect(new Set(sources)).toEqual(new Set(["203.0.113.2"]));
});

test("mail for an address of another machine is left to it", async () => {
  const find = await departures({ ips: [ip(1)], anywhere: [1] });
  expect(await find(routed(), destination)).toEqual({ kind: "wait", seconds: 0, sourceIp: "203.0.113.1" });
});

test("a campaign that has chosen such an address is left to it as a whole", async () => {
  const find = await departures({ ips: [ip(1)], anywhere: [1], choice: { ip: "203.0.113.1", ruleId: null } });
  const message = campaignMail();
  expect(await find(message, destination)).toMatchObject({ foreignCampaign: message.origin_id });
});

test("what says itself how it leaves takes that way, and is nobody else's campaign", async () => {
  const particulars = { headers: [], return_path_host: null, routing_rule_id: null };
  const find = await departures({ ips: [ip(1), ip(2)], here: [1], anywhere: [1, 2] });
  const chosen = (sending_ip: string) => routed({ particulars: { ...particulars, sending_ip } });
  expect(await sourceOf(find, chosen("203.0.113.1"))).toBe("203.0.113.1");
  const wait = { kind: "wait", seconds: 0, sourceIp: "203.0.113.2" };
  expect(await find(chosen("203.0.113.2"), destination)).toEqual(wait);
});

test("an address that no machine has is named once, then waited for in silence", async () => {
  const find = await departures({ ips: [ip(1), ip(2)] });
  expect(await find(routed(), destination)).toMatchObject({
    kind: "ended",
    result: {
      status: "deferred",
      reason: expect.stringMatching(/^no delivery machine has the sending IP 203/),
    },
  });
  expect(await find(routed({ attempts: 1 }), destination)).toMatchObject({ kind: "wait", seconds: 300 });
});

test("an address whose day is full hands on to the pool's others, here before elsewhere", async () => {
  const ips = [ip(1, warming), ip(2, warming), ip(3)];
  const sources = (find: FindDeparture) => Promise.all(Array.from({ length: 20 }, () => sourceOf(find)));
  const here = await departures({ ips, here: [1, 2], anywhere: [1, 2, 3], full: [1] });
  expect(new Set(await sources(here))).toEqual(new Set(["203.0.113.2"]));
  const elsewhere = await departures({ ips, here: [1, 2], anywhere: [1, 2, 3], full: [1, 2] });
  expect(await elsewhere(routed(), destination)).toMatchObject({ seconds: 0, sourceIp: "203.0.113.3" });
});

test("where all are full the message waits until tomorrow, UTC", async () => {
  const find = await departures({ ips: [ip(1, warming)], here: [1], full: [1] });
  expect(await find(routed(), destination)).toEqual({
    kind: "wait",
    seconds: 6 * 3_600,
    sourceIp: "203.0.113.1",
  });
});

test("the service's own mail takes the usual way, whatever the workspace's rules", async () => {
  const rules = [{ ...poolRule, action: { relay_url: "smtp://spy.test" } }];
  const find = await departures({ ips: [], rules });
  expect(await find(routed({ source: "platform" }), destination)).toEqual({
    kind: "go",
    destination,
    exit: null,
  });
});

test("a smart host is reached with its own port and account, and with nobody else's", async () => {
  const rules = [{ ...poolRule, action: { relay_url: "smtp://user:secret@relay.test:2525" } }];
  const find = await departures({ ips: [], rules });
  expect(
    await find(routed(), { outcome: "unroutable", status: "bounced", enhanced: "5.1.2", reason: "" }),
  ).toEqual({
    kind: "go",
    destination: { ...destination, site: "relay.test" },
    exit: {
      key: "relay pool 1",
      session: { port: 2525, implicitTls: false, credentials: { user: "user", password: "secret" } },
      sourceIp: null,
      allowance: null,
    },
  });
});

const byMx =
  (policy: StsPolicy | null = null) =>
  (resolver: Resolver): FindRoute =>
    routeByMx({ resolver, allowPrivate: true, lanes: builtInLanes, findPolicy: async () => policy });

/** How mail for a.test leaves by a rule for Google's relay and then one for everybody's. */
async function throughRelays(zone: DnsZone, usualRoute = byMx()): Promise<string> {
  await using dns = await startFakeDns(zone);
  const relayOf = (host: string) => ({ ...poolRule, id: host, action: { relay_url: `smtp://${host}` } });
  const rules = [{ ...relayOf("google.relay"), providers: ["google"] }, relayOf("any.relay")];
  const find = await departures({ ips: [], rules });
  const departure = await find(routed({ domain: "a.test" }), await usualRoute(dns.resolver)("a.test"));
  if (departure.kind === "go") return departure.destination.site;
  return departure.kind === "ended" ? departure.result.status : departure.kind;
}

test.each<DnsFault>(["servfail", "refuse", "timeout"])(
  "while DNS does not tell the provider (%s), a rule for one keeps the mail from later rules",
  async (fault) => {
    expect(await throughRelays({ "a.test": { MX: fault } })).toBe("deferred");
  },
);

test("the names of the mail hosts tell the provider, though nobody there can be spoken to", async () => {
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

test("in relay mode all mail has one provider, whether or not the relay is found", async () => {
  const toRelay = (resolver: Resolver) =>
    routeToRelay("relay.test", { resolver, lane: defaultLane, allowPrivate: true, setting: "RELAY_URL" });
  expect(await throughRelays({ "relay.test": "servfail" }, toRelay)).toBe("any.relay");
});

test("a domain that has no mail hosts has no provider", async () => {
  expect(await throughRelays({ "a.test": { MX: [[0, "."]] } })).toBe("any.relay");
});

test("a workspace's routing is read once for each version", async () => {
  let looks = 0;
  const find = await departures({ ips: [ip(1)], here: [1], onLook: () => (looks += 1) });
  for (const routing_version of [1, 1, 2, 2]) await find(routed({ routing_version }), destination);
  expect(looks).toBe(2);
});
