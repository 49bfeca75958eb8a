import { type Answer, decode, encode, type Packet } from "dns-packet";
import { expect, test } from "vitest";
import type { RecordType } from "./question-and-reply.ts";
import { readReply } from "./read-reply.ts";

const read = (name: string, type: RecordType, packet: Partial<Packet>) =>
  readReply(decode(encode({ id: 1, type: "response", questions: [{ name, type }], ...packet })), name, type);
const a = (name: string, ttl: number, data = "192.0.2.1"): Answer => ({ type: "A", name, ttl, data });
const alias = (name: string, ttl: number, data: string): Answer => ({ type: "CNAME", name, ttl, data });
const times = { serial: 1, refresh: 1, retry: 1, expire: 1 };
const soa = (ttl: number, minimum: number): Answer => ({
  type: "SOA",
  name: "test",
  ttl,
  data: { mname: "ns.test", rname: "hostmaster.test", ...times, minimum },
});

test("the records at the end of the chain of aliases are used, in any order and case", () => {
  const answers = [
    a("stranger.test", 5, "192.0.2.66"),
    a("c.test", 300),
    alias("B.test", 20, "c.test"),
    alias("a.test", 100, "b.test"),
  ];
  expect(read("A.test", "A", { answers })).toMatchObject({
    outcome: "found",
    records: ["192.0.2.1"],
    aliasOf: "c.test",
    ttlSeconds: 20,
  });
});

test("aliases in a loop, or without a target and an SOA record, are a bad answer and not a negative one", () => {
  const bad = { outcome: "failed", reason: "EBADRESP", isUnanswered: false };
  const circle = [alias("a.test", 60, "b.test"), alias("b.test", 60, "a.test")];
  const around = [...circle.slice(0, 1), alias("b.test", 60, "c.test"), alias("c.test", 60, "a.test")];
  for (const answers of [circle, around, [alias("a.test", 60, "a.test")], circle.slice(0, 1)]) {
    expect(read("a.test", "A", { answers })).toEqual(bad);
    expect(read("a.test", "MX", { answers })).toEqual(bad);
  }
  expect(read("a.test", "A", { answers: circle, authorities: [soa(60, 60)] })).toEqual(bad);
  expect(read("a.test", "CNAME", { answers: circle })).toMatchObject({ records: ["b.test"] });
});

test("an alias whose target has no such records is a negative answer if there is an SOA record", () => {
  const answers = [alias("a.test", 60, "b.test")];
  const absent = { outcome: "absent", reason: "nodata", ttlSeconds: 30 };
  expect(read("a.test", "A", { answers, authorities: [soa(30, 60)] })).toMatchObject(absent);
  expect(read("a.test", "A", { answers, flags: 3 })).toMatchObject({ outcome: "absent", reason: "nxdomain" });
  expect(read("a.test", "A", { answers: [alias("b.test", 60, "a.test")] })).toMatchObject({
    outcome: "absent",
  });
});

test("a negative answer has the smaller of the TTL and the minimum of the SOA record", () => {
  const absence = (...authorities: Answer[]) => read("a.test", "A", { flags: 3, authorities });
  expect(absence(soa(30, 600))).toMatchObject({ reason: "nxdomain", ttlSeconds: 30 });
  expect(absence(soa(600, 30))).toMatchObject({ ttlSeconds: 30 });
  expect(absence(soa(86_400, 86_400))).toMatchObject({ ttlSeconds: 900 });
  expect(absence()).toMatchObject({ ttlSeconds: 0 });
});

test("a TTL of more than a day is a day, and one with the highest bit set is 0 (RFC 2181 section 8)", () => {
  expect(read("a.test", "A", { answers: [a("a.test", 604_800)] })).toMatchObject({ ttlSeconds: 86_400 });
  expect(read("a.test", "A", { answers: [a("a.test", 0x8000_0000)] })).toMatchObject({ ttlSeconds: 0 });
});

test("the octets of a text are its characters, its character strings are one text", () => {
  const data = [Buffer.from("v=DKIM1; n="), Buffer.from("ü")];
  expect(read("a.test", "TXT", { answers: [{ type: "TXT", name: "a.test", ttl: 60, data }] })).toMatchObject({
    records: ["v=DKIM1; n=\u00c3\u00bc"],
  });
});
