import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { createValidatingResolver } from "./validating-resolver.ts";

const dns = await startFakeDns();
const resolver = createValidatingResolver(dns.address, 1_000, 2);
const certificate = Buffer.alloc(32, 7);
const unanswered = { outcome: "failed", reason: "ETIMEOUT", isUnanswered: true };

beforeEach(() => {
  dns.questions.length = 0;
  dns.secure.clear();
  dns.zone = {
    "example.test": { MX: [[10, "MX.example.test."]], A: ["192.0.2.1"], AAAA: ["2001:db8::1"] },
    "_25._tcp.mx.example.test": { TLSA: [{ usage: 3, selector: 1, matchingType: 1, certificate }] },
    "null.test": { MX: [[0, "."]] },
    "alias.test": { CNAME: "example.test" },
    "bogus.test": "servfail",
    "silent.test": "timeout",
  };
});

test("an answer tells whether it is validated by DNSSEC", async () => {
  const records = [{ preference: 10, exchange: "mx.example.test" }];
  expect(await resolver.mx("example.test")).toEqual({ outcome: "found", records, isSecure: false });
  dns.secure.add("example.test");
  expect(await resolver.mx("example.test")).toEqual({ outcome: "found", records, isSecure: true });
});

test("a negative answer tells whether it is validated by DNSSEC", async () => {
  dns.secure.add("nowhere.test").add("alias.test");
  expect(await resolver.ipv4("nowhere.test")).toEqual({
    outcome: "absent",
    reason: "nxdomain",
    isSecure: true,
  });
  expect(await resolver.tlsa("example.test")).toEqual({
    outcome: "absent",
    reason: "nodata",
    isSecure: false,
  });
});

test("addresses, TLSA and the null MX are read; aliases are followed", async () => {
  expect(await resolver.ipv4("alias.test")).toMatchObject({ records: ["192.0.2.1"] });
  expect(await resolver.ipv6("example.test")).toMatchObject({ records: ["2001:db8::1"] });
  expect(await resolver.mx("null.test")).toMatchObject({ records: [{ preference: 0, exchange: "" }] });
  expect(await resolver.tlsa("_25._tcp.mx.example.test")).toMatchObject({
    records: [{ usage: 3, selector: 1, matchingType: 1, certificate }],
  });
});

test("a NUL in the name of a host is written as zone files write it", async () => {
  dns.zone = { "nul.test": { MX: [[10, "a\0b.nul.test"]] } };
  expect(await resolver.mx("nul.test")).toMatchObject({
    records: [{ preference: 10, exchange: "a\\000b.nul.test" }],
  });
});

test("the answer for an alias names its target", async () => {
  dns.secure.add("alias.test");
  expect(await resolver.ipv4("alias.test")).toMatchObject({ aliasOf: "example.test", isSecure: false });
  expect(await resolver.cname("alias.test")).toEqual({
    outcome: "found",
    records: ["example.test"],
    isSecure: true,
  });
  dns.secure.add("example.test");
  expect(await resolver.ipv4("alias.test")).toMatchObject({ isSecure: true });
  expect(await resolver.ipv4("Example.test")).not.toHaveProperty("aliasOf");
});

test("a refusal of the validator, and no answer, are failures", async () => {
  expect(await resolver.mx("bogus.test")).toEqual({ outcome: "failed", reason: "ESERVFAIL" });
  expect(await resolver.mx("silent.test")).toEqual(unanswered);
  expect(dns.questions.filter(({ name }) => name === "silent.test")).toHaveLength(2);
});

test("an answer too long for UDP is asked again by TCP", async () => {
  const many = Array.from({ length: 60 }, (_, at) => ({
    usage: 3,
    selector: 1,
    matchingType: 1,
    certificate: Buffer.alloc(32, at),
  }));
  dns.zone["many.test"] = { TLSA: many };
  expect(await resolver.tlsa("many.test")).toMatchObject({ outcome: "found", records: many });
});

test("all tries, by UDP and TCP, share one deadline", async () => {
  const tcp = createServer(() => {}).listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket("udp4").bind(port, "127.0.0.1");
  await once(udp, "listening");
  const delays: NodeJS.Timeout[] = [];
  onTestFinished(() => {
    delays.forEach(clearTimeout);
    tcp.close();
    udp.close();
  });
  // It says that the answer is too long when the time is nearly over, and is silent by TCP: it was heard.
  udp.on("message", (query, peer) => {
    const cut = Buffer.from(query);
    cut.writeUInt8(0x82 | cut.readUInt8(2), 2);
    delays.push(setTimeout(() => udp.send(cut, peer.port, peer.address), 1_500));
  });
  const begin = performance.now();
  expect(await createValidatingResolver(`127.0.0.1:${port}`, 2_000).mx("example.test")).toEqual({
    outcome: "failed",
    reason: "ETIMEOUT",
  });
  // With a deadline for each protocol it would be 3,500 ms.
  expect(performance.now() - begin).toBeLessThan(3_400);
});

test("malformed packets, and answers to other questions, are ignored", async () => {
  const liar = createSocket("udp4").bind(0, "127.0.0.1");
  await once(liar, "listening");
  onTestFinished(() => void liar.close());
  liar.on("message", (query, peer) => {
    const other = Buffer.from(query);
    other.writeUInt16BE(query.readUInt16BE() ^ 1);
    other.writeUInt8(0x80 | other.readUInt8(2), 2);
    for (const answer of [Buffer.from("noise"), other]) liar.send(answer, peer.port, peer.address);
  });
  const deceived = createValidatingResolver(`127.0.0.1:${liar.address().port}`, 200);
  expect(await deceived.mx("example.test")).toEqual(unanswered);
});
