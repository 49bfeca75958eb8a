import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { startService } from "#test/support/service.ts";

const service = await startService({
  zone: {
    "mail.test": { MX: [[10, "aspmx.l.google.com"]] },
    "aspmx.l.google.com": { A: ["127.0.0.1"] },
    "own.test": { MX: [[10, "mx.own.test"]] },
    "mx.own.test": { A: ["127.0.0.1"] },
    "none.test": { MX: [[0, "."]] },
    "broken.test": "servfail",
  },
});
const { call } = service;
const leaves = async (to: string, more: object = {}) => {
  const { status, body } = await call("POST", "/routing-rules/test", { to, ...more });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data;
};
const made = async (path: string, body: object): Promise<string> =>
  (await call("POST", path, body)).body.data.id;

test("without rules mail leaves by the default route", async () => {
  expect(await leaves("ada@own.test")).toEqual({
    domain: "own.test",
    provider: "default",
    mail_hosts: ["mx.own.test"],
    kind: "default",
    reason: null,
    rule: null,
    sending_ips: [],
    relay_url: null,
  });
});

describe("with rules", () => {
  let [ip, google, relay, manual] = ["", "", "", ""];
  beforeAll(async () => {
    ip = await made("/sending-ips", { ip: "198.51.100.7", pool: "bulk", warm_up_enabled: true });
    google = await made("/routing-rules", {
      name: "Google",
      match: { providers: ["google"] },
      action: { pool: "bulk" },
    });
    relay = await made("/routing-rules", {
      name: "Partner",
      priority: 10,
      match: { recipient_domains: ["partner.test"] },
      action: { relay_url: "smtp://shop:secret@127.0.0.1:2525" },
    });
    manual = await made("/routing-rules", {
      name: "By hand",
      priority: 5,
      is_automatic: false,
      action: { source_ip_id: ip },
    });
  });

  test("the first that matches applies, by provider or by domain", async () => {
    expect(await leaves("Ada@Mail.test")).toMatchObject({
      domain: "mail.test",
      provider: "google",
      kind: "sending_ips",
      rule: { id: google, name: "Google", is_chosen: false },
      sending_ips: [{ id: ip, ip: "198.51.100.7", pool: "bulk", is_warming_up: true }],
    });
    const partner = await leaves("partner.test");
    expect(partner).toMatchObject({ kind: "relay", rule: { id: relay }, reason: null });
    expect(partner.relay_url).toContain("127.0.0.1:2525");
    expect(JSON.stringify(partner)).not.toContain("secret");
    expect(await leaves("ada@own.test")).toMatchObject({ kind: "default", rule: null });
  });

  test("the choice of a campaign takes precedence, also of a rule that is not automatic", async () => {
    const rule = { id: manual, is_chosen: true };
    expect(await leaves("a@own.test", { routing_rule_id: manual })).toMatchObject({
      kind: "sending_ips",
      rule,
    });
    const chosen = await leaves("a@mail.test", { virtual_mta_ip: "198.51.100.7" });
    expect(chosen).toMatchObject({ kind: "sending_ips", rule: null, sending_ips: [{ id: ip }] });
  });

  test("it says what keeps mail back", async () => {
    expect(await leaves("a@none.test")).toMatchObject({ kind: "unroutable", provider: null, mail_hosts: [] });
    expect(await leaves("a@broken.test")).toMatchObject({ kind: "provider_unknown", rule: { id: google } });
    await call("PATCH", `/sending-ips/${ip}`, { is_active: false });
    expect(await leaves("a@mail.test")).toMatchObject({
      kind: "unavailable",
      reason: 'no sending IP of the pool "bulk" is switched on',
      rule: { id: google },
      sending_ips: [],
    });
  });
});

test.each([
  [{ to: "" }, "to"],
  [{ to: "a@\u0000.test" }, "to"],
  [{ to: "a@own.test", routing_rule_id: newId() }, "routing_rule_id"],
  [{ to: "a@own.test", virtual_mta_ip: "203.0.113.9" }, "virtual_mta_ip"],
  [{ to: ["a@own.test"] }, "to"],
  [{ to: "a@own.test", tag: "C" }, "tag"],
])("%j is refused", async (body, field) => {
  const answer = await call("POST", "/routing-rules/test", body);
  expect(answer.body).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field }] });
});

test("rules and addresses of another workspace have no effect", async () => {
  const { key } = await service.newWorkspace();
  const { body } = await call("POST", "/routing-rules/test", { to: "a@mail.test" }, { key });
  expect(body.data).toMatchObject({ kind: "default", rule: null });
});
