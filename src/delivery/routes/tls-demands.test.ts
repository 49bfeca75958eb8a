/** MTA-STS and DANE from the DNS zone to the SMTP session: which hosts get mail, and what the timeline shows. */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createSecureContext } from "node:tls";
import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { builtInLanes } from "#delivery/lanes/default-lanes.ts";
import { createValidatingResolver } from "#dns/validating-resolver.ts";
import { systemClock } from "#platform/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { type FakeMxOptions, fakeMxCertificate, issuedChain, issuedKey } from "#test/support/fake-mx.ts";
import { startSmtpTransport } from "#test/support/smtp-transport.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { routeByMx } from "./find-destination.ts";
import { StsPolicies } from "./mta-sts-policies.ts";

const db = await testDatabase();
const dns = await startFakeDns();
let policy = "";
const policyHost = createServer({ cert: issuedChain, key: issuedKey }, (_request, response) => {
  response.writeHead(200, { "Content-Type": "text/plain" }).end(policy);
}).listen(0, "127.0.0.1");
await once(policyHost, "listening");

const enforce = (mode: string, ...mx: string[]) =>
  `version: STSv1\nmode: ${mode}\n${mx.map((name) => `mx: ${name}\n`).join("")}max_age: 86400\n`;

/** TLSA digests of the issued certificate of the fake MX, and of its CA. */
const KEY_SHA256 = "a8b02ff369eb1d4b6a11c7b753194632fc9d6180dcddd4c9c812cf9f9203b247";
const AUTHORITY_SHA256 = "773f242906f8b6d4d51e12cfbb8e36bf408cfd85a0305ba1f665e421b1b10dc5";
const tlsa = (usage: number, selector: number, hex: string) => ({
  usage,
  selector,
  matchingType: 1,
  certificate: Buffer.from(hex, "hex"),
});

beforeEach(async () => {
  await db.run(sql`delete from sts_policies`);
  policy = enforce("enforce", "mx.example.test");
  dns.secure.clear();
  dns.questions.length = 0;
  dns.zone = {
    "example.test": { MX: [[10, "mx.example.test"]] },
    "free.test": { MX: [[10, "mx.example.test"]] },
    "mx.example.test": { A: ["127.0.0.1"] },
    "mx.elsewhere.test": { A: ["127.0.0.1"] },
    "_mta-sts.example.test": { TXT: ["v=STSv1; id=1"] },
    "mta-sts.example.test": { A: ["127.0.0.1"] },
  };
});

async function startTransport(mxOptions: FakeMxOptions, { isTrusted = true, hasDane = false } = {}) {
  const ca = [issuedChain, fakeMxCertificate];
  const validating = createValidatingResolver(dns.address, 1_000);
  const policies = new StsPolicies({
    db,
    clock: systemClock,
    resolver: dns.resolver,
    allowPrivate: true,
    port: (policyHost.address() as AddressInfo).port,
    ca: issuedChain,
  });
  const findRoute = routeByMx({
    resolver: hasDane ? validating : dns.resolver,
    allowPrivate: true,
    lanes: builtInLanes,
    findPolicy: (domain) => policies.policyOf(domain),
    dane: hasDane ? validating : null,
  });
  const { mx, recorder, transport } = await startSmtpTransport(findRoute, {
    mxOptions,
    options: { secureContext: createSecureContext(isTrusted ? { ca } : {}) },
  });
  const send = async (domain = "example.test") => {
    const heard = recorder.heard.length + 1;
    transport.send(leased("ann", { domain }));
    const last = (await recorder.waitFor(heard)).at(-1);
    if (last?.kind !== "attempted" && last?.kind !== "backoff") throw new Error(JSON.stringify(last));
    return last;
  };
  return { mx, send };
}

test.each(["none", "broken"] as const)(
  "a host whose lane requires TLS is never contacted in clear text, although another host puts the domain in the default lane: TLS %s",
  async (tls) => {
    const { mx, send } = await startTransport({ tls });
    Object.assign(dns.zone, {
      "mixed.test": {
        MX: [
          [10, "aspmx.l.google.com"],
          [20, "away.test"],
        ],
      },
      "plain.test": {
        MX: [
          [10, "away.test"],
          [20, "mx.example.test"],
        ],
      },
      "aspmx.l.google.com": { A: ["127.0.0.1"] },
      "away.test": { A: ["127.9.9.9"] },
    });
    expect(await send("plain.test")).toMatchObject({ result: { outcome: "accepted" } });
    expect(await send("mixed.test")).toMatchObject({ result: { outcome: "broken", dataSent: false } });
    expect(mx.messages).toHaveLength(1);
  },
);

const issued: FakeMxOptions = { tls: "offered", certificate: "issued" };

describe("a domain that enforces MTA-STS", () => {
  test("gets its mail over a session whose certificate is valid, and the timeline says so", async () => {
    const { mx, send } = await startTransport(issued);
    expect(await send()).toMatchObject({
      result: { outcome: "accepted" },
      tls: { version: "TLSv1.3", verified: true, policy: "mta-sts", policy_met: true },
    });
    expect(mx.messages).toMatchObject([{ tls: true }]);
  });

  test.each<[string, FakeMxOptions, RegExp]>([
    ["nobody vouches for", { tls: "offered" }, /MTA-STS demands secure TLS: the certificate .* is not valid/],
    ["is not shown: no STARTTLS", { tls: "none" }, /MTA-STS demands .*STARTTLS is not offered/],
    ["is not shown: 454", { tls: "refused" }, /MTA-STS demands .*454/],
    ["is not shown: a broken handshake", { tls: "broken" }, /MTA-STS demands .*handshake/],
  ])("gets no mail under a certificate that %s", async (_what, options, reason) => {
    const { mx, send } = await startTransport(options, { isTrusted: false });
    for (const _attempt of [1, 2]) {
      expect(await send()).toMatchObject({
        result: { outcome: "broken", fault: "tls", dataSent: false, reason: expect.stringMatching(reason) },
      });
    }
    expect(mx.messages).toEqual([]);
    expect(mx.connections).toBe(1);
    // The same host, for a domain without demands.
    expect(await send("free.test")).toMatchObject({ result: { outcome: "accepted" } });
  });

  test("gets no mail under a certificate for another name", async () => {
    policy = enforce("enforce", "mx.elsewhere.test");
    dns.zone["example.test"] = { MX: [[10, "mx.elsewhere.test"]] };
    const { send } = await startTransport(issued);
    expect(await send()).toMatchObject({
      result: { fault: "tls", reason: expect.stringMatching(/ALTNAME/) },
    });
  });

  test("gets its mail by the hosts that its policy names, whatever their preference", async () => {
    dns.zone["example.test"] = {
      MX: [
        [10, "mx.elsewhere.test"],
        [20, "mx.example.test"],
      ],
    };
    const { mx, send } = await startTransport(issued);
    expect(await send()).toMatchObject({ result: { outcome: "accepted" } });
    expect(mx.connections).toBe(1);
  });

  test("defers its mail when its policy names none of its hosts, and no host is contacted", async () => {
    policy = enforce("enforce", "mx.other.test");
    const { mx, send } = await startTransport(issued);
    expect(await send()).toMatchObject({
      result: {
        outcome: "unroutable",
        status: "deferred",
        enhanced: "4.7.5",
        reason: "the MTA-STS policy of example.test does not name mx.example.test",
      },
    });
    expect(mx.connections).toBe(0);
  });

  test("is still enforced after a restart, although its policy can no longer be fetched", async () => {
    const before = await startTransport(issued);
    expect(await before.send()).toMatchObject({ result: { outcome: "accepted" } });
    policy = "";
    dns.zone["_mta-sts.example.test"] = { TXT: ["v=STSv1; id=2"] };
    const { mx, send } = await startTransport({ tls: "offered" }, { isTrusted: false });
    expect(await send()).toMatchObject({
      result: { fault: "tls", reason: expect.stringMatching(/^MTA-STS demands/) },
    });
    expect(mx.messages).toEqual([]);
  });

  test("never shares a session that was opened for a domain without demands", async () => {
    const { mx, send } = await startTransport({ tls: "offered" }, { isTrusted: false });
    expect(await send("free.test")).toMatchObject({
      tls: { verified: false, policy: null, policy_met: null },
    });
    expect(await send()).toMatchObject({ result: { fault: "tls" } });
    expect(await send("free.test")).toMatchObject({ result: { outcome: "accepted" } });
    expect(mx.messages.map(({ rcptTo, connection }) => [rcptTo, connection])).toEqual([
      ["ann@free.test", 1],
      ["ann@free.test", 1],
    ]);
  });
});

describe("a domain whose policy is in testing mode gets its mail, and the timeline shows whether the policy would hold", () => {
  test.each<[string, string, FakeMxOptions, object]>([
    ["met", "mx.example.test", issued, { verified: true, policy_met: true }],
    ["a host it does not name", "mx.other.test", issued, { verified: true, policy_met: false }],
    ["clear text", "mx.example.test", { tls: "none" }, { version: null, cipher: null, policy_met: false }],
    ["a broken handshake", "mx.example.test", { tls: "broken" }, { version: null, policy_met: false }],
  ])("%s", async (_case, named, options, note) => {
    policy = enforce("testing", named);
    const { send } = await startTransport(options);
    expect(await send()).toMatchObject({
      result: { outcome: "accepted" },
      tls: { policy: "mta-sts-testing", ...note },
    });
  });
});

describe("a host with TLSA records that DNSSEC has validated", () => {
  beforeEach(() => {
    policy = enforce("testing", "mx.example.test");
    for (const name of ["example.test", "mx.example.test", "_25._tcp.mx.example.test"]) dns.secure.add(name);
  });
  const show = (...records: ReturnType<typeof tlsa>[]) => {
    dns.zone["_25._tcp.mx.example.test"] = { TLSA: records };
  };

  test.each([
    ["its own key", tlsa(3, 1, KEY_SHA256)],
    ["its authority", tlsa(2, 0, AUTHORITY_SHA256)],
  ])("is authenticated by %s, without a public root", async (_what, record) => {
    show(record);
    const { mx, send } = await startTransport(issued, { isTrusted: false, hasDane: true });
    expect(await send()).toMatchObject({
      result: { outcome: "accepted" },
      tls: { verified: true, policy: "dane", policy_met: true },
    });
    expect(mx.messages).toMatchObject([{ tls: true }]);
  });

  test("gets no mail under another certificate, although a public root trusts it", async () => {
    show(tlsa(3, 1, "00".repeat(32)));
    const { mx, send } = await startTransport(issued, { hasDane: true });
    expect(await send()).toMatchObject({
      result: { fault: "tls", reason: expect.stringMatching(/^DANE demands secure TLS: .*TLSA/) },
    });
    expect(mx.messages).toEqual([]);
  });

  test("overrides MTA-STS", async () => {
    policy = enforce("enforce", "mx.other.test");
    show(tlsa(3, 1, KEY_SHA256));
    const { send } = await startTransport(issued, { isTrusted: false, hasDane: true });
    expect(await send()).toMatchObject({ result: { outcome: "accepted" }, tls: { policy: "dane" } });
  });

  test("none of which is usable gets mail over unauthenticated TLS, and never in clear text", async () => {
    show(tlsa(1, 1, KEY_SHA256));
    const { send } = await startTransport(issued, { isTrusted: false, hasDane: true });
    expect(await send()).toMatchObject({ tls: { verified: false, policy: "dane", policy_met: true } });
    const clear = await startTransport({ tls: "none" }, { hasDane: true });
    expect(await clear.send()).toMatchObject({ result: { fault: "tls" } });
  });

  test("none of which is usable does not disable an enforced MTA-STS policy", async () => {
    policy = enforce("enforce", "mx.example.test");
    show(tlsa(1, 1, KEY_SHA256));
    const { mx, send } = await startTransport({ tls: "offered" }, { isTrusted: false, hasDane: true });
    expect(await send()).toMatchObject({
      result: { fault: "tls", reason: expect.stringMatching(/^MTA-STS demands secure TLS/) },
    });
    expect(mx.messages).toEqual([]);
    const valid = await startTransport(issued, { hasDane: true });
    expect(await valid.send()).toMatchObject({
      result: { outcome: "accepted" },
      tls: { verified: true, policy: "mta-sts" },
    });
  });

  test("is not contacted when their look-up fails, and the message is deferred", async () => {
    dns.zone["_25._tcp.mx.example.test"] = "servfail";
    const { mx, send } = await startTransport(issued, { hasDane: true });
    expect(await send()).toMatchObject({
      result: {
        status: "deferred",
        enhanced: "4.7.5",
        reason: "DANE: the TLSA look-up for mx.example.test failed: ESERVFAIL",
      },
    });
    expect(mx.connections).toBe(0);
  });

  test.each(["example.test", "mx.example.test", "_25._tcp.mx.example.test"])(
    "binds nobody without the proof for %s",
    async (name) => {
      show(tlsa(3, 1, "00".repeat(32)));
      dns.secure.delete(name);
      const { send } = await startTransport(issued, { hasDane: true });
      expect(await send()).toMatchObject({
        result: { outcome: "accepted" },
        tls: { policy: "mta-sts-testing" },
      });
    },
  );

  describe("under an alias", () => {
    const wrong = tlsa(3, 1, "00".repeat(32));
    const right = tlsa(3, 1, KEY_SHA256);
    const accepted = { result: { outcome: "accepted" }, tls: { verified: true, policy: "dane" } };
    /** The TLSA records of the alias, and of its canonical name. */
    const showUnder = (alias: ReturnType<typeof tlsa> | null, host: ReturnType<typeof tlsa> | null) => {
      if (alias) dns.zone["_25._tcp.alias.example.test"] = { TLSA: [alias] };
      if (host) dns.zone["_25._tcp.mx.example.test"] = { TLSA: [host] };
    };
    beforeEach(() => {
      dns.zone["example.test"] = { MX: [[10, "alias.example.test"]] };
      dns.zone["alias.example.test"] = { CNAME: "mx.example.test" };
      for (const name of ["alias.example.test", "_25._tcp.alias.example.test"]) dns.secure.add(name);
    });
    const send = async () => {
      const transport = await startTransport(issued, { isTrusted: false, hasDane: true });
      return transport.send();
    };

    test("is authenticated by the records of the canonical name, whatever the alias has", async () => {
      showUnder(wrong, right);
      expect(await send()).toMatchObject(accepted);
    });

    test("gets no mail under a certificate that the records of that name do not match", async () => {
      showUnder(right, wrong);
      expect(await send()).toMatchObject({
        result: { fault: "tls", reason: expect.stringMatching(/^DANE/) },
      });
    });

    test("may have the canonical name in its certificate", async () => {
      showUnder(null, tlsa(2, 0, AUTHORITY_SHA256));
      expect(await send()).toMatchObject(accepted);
    });

    test("uses its own records if the canonical name has none, and its own name in its certificate", async () => {
      showUnder(right, null);
      expect(await send()).toMatchObject(accepted);
      showUnder(tlsa(2, 0, AUTHORITY_SHA256), null);
      expect(await send()).toMatchObject({ result: { fault: "tls" } });
    });

    test("uses its own records if DNSSEC has validated it but not the canonical name", async () => {
      dns.secure.delete("mx.example.test");
      showUnder(wrong, right);
      expect(await send()).toMatchObject({ result: { fault: "tls" } });
      showUnder(right, wrong);
      expect(await send()).toMatchObject(accepted);
    });

    test("has no records if DNSSEC has validated neither", async () => {
      dns.secure.delete("mx.example.test");
      dns.secure.delete("alias.example.test");
      showUnder(wrong, wrong);
      expect(await send()).toMatchObject({
        result: { outcome: "accepted" },
        tls: { policy: "mta-sts-testing" },
      });
    });

    test("is not contacted when the look-up of the canonical name's records fails, although it has its own", async () => {
      showUnder(right, null);
      dns.zone["_25._tcp.mx.example.test"] = "servfail";
      expect(await send()).toMatchObject({
        result: {
          status: "deferred",
          reason: "DANE: the TLSA look-up for mx.example.test failed: ESERVFAIL",
        },
      });
    });
  });

  test("mail to a domain whose MX records are forged is deferred", async () => {
    dns.zone["example.test"] = "servfail";
    const { send } = await startTransport(issued, { hasDane: true });
    expect(await send()).toMatchObject({ result: { outcome: "unroutable", status: "deferred" } });
  });
});
