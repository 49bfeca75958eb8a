import { expect, test } from "vitest";
import { type RoutingRule, type SendingIp, selectEgress } from "./egress-rules.ts";

const ip = (last: number, change: Partial<SendingIp> = {}): SendingIp => ({
  id: `id${last}`,
  ip: `192.0.2.${last}`,
  hostname: null,
  pool: null,
  is_active: true,
  warm_up_started_at: null,
  ...change,
});
const rule = (id: string, change: Partial<RoutingRule> = {}): RoutingRule => ({
  id,
  name: id,
  is_active: true,
  is_automatic: true,
  recipient_domains: [],
  providers: [],
  action: { source_ip_id: "id1" },
  ...change,
});
const none = { ip: null, ruleId: null };
const to = { domain: "a.test", lane: "google" };
const ips = [
  ip(1),
  ip(2, { pool: "main" }),
  ip(3, { pool: "main" }),
  ip(4, { pool: "main", is_active: false }),
];
const fromOf = (way: ReturnType<typeof selectEgress>) =>
  way.kind === "ips" ? way.ips.map((source) => source.ip) : way.kind;

test("without a rule that matches, the default path is taken", () => {
  const rules = [
    rule("domain", { recipient_domains: ["b.test"] }),
    rule("provider", { providers: ["yahoo"] }),
    rule("both", { recipient_domains: ["a.test"], providers: ["yahoo"] }),
    rule("off", { is_active: false }),
    rule("named", { is_automatic: false }),
  ];
  expect(selectEgress({ ips, rules }, none, to)).toEqual({ kind: "default" });
});

test("the first rule that matches wins", () => {
  const rules = [
    rule("other", { providers: ["yahoo"], action: { pool: "main" } }),
    rule("first", { providers: ["google"], action: { source_ip_id: "id2" } }),
    rule("second"),
  ];
  expect(fromOf(selectEgress({ ips, rules }, none, to))).toEqual(["192.0.2.2"]);
});

test("without mail hosts, and so without a provider, no rule for providers matches", () => {
  const rules = [
    rule("google", { providers: ["google"] }),
    rule("relay", { action: { relay_url: "smtp://h" } }),
  ];
  expect(selectEgress({ ips, rules }, none, { ...to, lane: null })).toEqual({
    kind: "relay",
    ruleId: "relay",
    url: "smtp://h",
  });
});

test("while the provider is unknown, a rule that depends on it stops the rules after it", () => {
  const rules = [
    rule("domain", { recipient_domains: ["b.test"], action: { source_ip_id: "id2" } }),
    rule("elsewhere", { recipient_domains: ["c.test"], providers: ["yahoo"] }),
    rule("off", { is_active: false, providers: ["google"] }),
    rule("named", { is_automatic: false, providers: ["google"], action: { source_ip_id: "id3" } }),
    rule("google", { recipient_domains: ["a.test", "b.test"], providers: ["google"] }),
    rule("all", { action: { pool: "main" } }),
  ];
  const wayTo = (domain: string, ruleId: string | null = null) =>
    fromOf(selectEgress({ ips, rules }, { ip: null, ruleId }, { domain, lane: undefined }));
  expect(wayTo("a.test")).toBe("provider_unknown");
  expect(wayTo("b.test")).toEqual(["192.0.2.2"]);
  expect(wayTo("d.test")).toEqual(["192.0.2.2", "192.0.2.3"]);
  expect(wayTo("a.test", "named")).toEqual(["192.0.2.3"]);
});

test("a pool consists of its active addresses", () => {
  expect(
    fromOf(selectEgress({ ips, rules: [rule("pool", { action: { pool: "main" } })] }, none, to)),
  ).toEqual(["192.0.2.2", "192.0.2.3"]);
});

test("a campaign's address takes precedence over its rule, and its rule over the others, whatever it matches", () => {
  const rules = [
    rule("first"),
    rule("named", { is_automatic: false, providers: ["yahoo"], action: { pool: "main" } }),
  ];
  expect(fromOf(selectEgress({ ips, rules }, { ip: "192.0.2.3", ruleId: "named" }, to))).toEqual([
    "192.0.2.3",
  ]);
  expect(fromOf(selectEgress({ ips, rules }, { ip: null, ruleId: "named" }, to))).toHaveLength(2);
});

test("a choice that was deleted is ignored", () => {
  const rules = [rule("first")];
  expect(fromOf(selectEgress({ ips, rules }, { ip: "192.0.2.99", ruleId: "gone" }, to))).toEqual([
    "192.0.2.1",
  ]);
});

test.each([
  ["an address", { ip: "192.0.2.4", ruleId: null }, "the sending IP 192.0.2.4 is switched off"],
  ["a rule", { ip: null, ruleId: "off" }, 'the routing rule "off" is switched off'],
  [
    "a rule's address",
    { ip: null, ruleId: "dead" },
    'the sending IP of the routing rule "dead" is switched off',
  ],
  ["a pool", { ip: null, ruleId: "empty" }, 'no sending IP of the pool "empty" is switched on'],
])("%s that was chosen and is switched off makes the message wait", (_, choice, reason) => {
  const rules = [
    rule("off", { is_active: false }),
    rule("dead", { action: { source_ip_id: "id4" } }),
    rule("empty", { action: { pool: "empty" } }),
  ];
  expect(selectEgress({ ips, rules }, choice, to)).toEqual({ kind: "unavailable", reason });
});
