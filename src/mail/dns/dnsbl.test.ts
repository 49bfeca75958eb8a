import { expect, test } from "vitest";
import type { Lookup } from "#dns/resolver-interface.ts";
import { dnsblName, readDnsblAnswer, readDnsblReason } from "./dnsbl.ts";

const found = (...records: string[]): Lookup<string> => ({ outcome: "found", records });

test("octets and nibbles are queried in reverse order, domains as they are", () => {
  expect(dnsblName("8.4.2.1", "bl.example")).toBe("1.2.4.8.bl.example");
  expect(dnsblName("bad.example", "bl.example")).toBe("bad.example.bl.example");
  // The example of RFC 5782 section 2.4.
  expect(dnsblName("2001:db8:1:2:3:4:567:89ab", "bl.example")).toBe(
    "b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2.bl.example",
  );
});

test.each([
  ["::1", "00000000000000000000000000000001"],
  ["::", "00000000000000000000000000000000"],
  ["2606:4700::", "26064700000000000000000000000000"],
  ["2606:4700::6810:84E5", "260647000000000000000000681084e5"],
  ["::ffff:127.0.0.2", "00000000000000000000ffff7f000002"],
])("%s has the nibbles %s", (address, nibbles) => {
  expect(dnsblName(address, "z")).toBe(`${nibbles.split("").reverse().join(".")}.z`);
});

test("only 127.0.0.0/8 is a listing, except for codes that refuse the query", () => {
  const status = (code: string) => readDnsblAnswer({}, found(code)).status;
  expect(["127.0.0.2", "127.0.0.10", "127.1.2.3"].map(status)).toEqual(["listed", "listed", "listed"]);
  const refusals = ["127.255.255.252", "127.255.255.254", "127.255.255.255", "127.255.255.1", "127.0.0.1"];
  for (const code of [...refusals, "192.0.2.1", "0.0.0.0", "128.0.0.2"]) {
    expect(readDnsblAnswer({}, found(code)), code).toEqual({
      status: "error",
      description: expect.stringContaining(code),
    });
  }
  expect(readDnsblAnswer({}, found("127.0.0.2", "127.255.255.254")).status).toBe("error");
});

test("the meanings that a zone gives its codes are reported", () => {
  const zone = {
    codes: { "127.0.0.3": "CSS", "127.0.0.10": "PBL: a policy" },
    errors: { "127.0.1.255": "no IPs" },
  };
  expect(readDnsblAnswer(zone, found("127.0.0.3", "127.0.0.10"))).toEqual({
    status: "listed",
    description: "CSS; PBL: a policy",
  });
  expect(readDnsblAnswer(zone, found("127.0.0.77")).status).toBe("listed");
  expect(readDnsblAnswer(zone, found("127.0.1.255")).status).toBe("error");
});

test("each bit of a bit mask names its list", () => {
  const surbl = { bits: { "8": "phishing", "16": "malware", "64": "abuse" } };
  expect(readDnsblAnswer(surbl, found("127.0.0.80"))).toEqual({
    status: "listed",
    description: "malware; abuse",
  });
  expect(readDnsblAnswer(surbl, found("127.0.0.1")).status).toBe("error");
  expect(readDnsblAnswer(surbl, found("127.0.0.2")).status).toBe("error");
});

test("an allow list is no blacklist", () => {
  const zone = {
    codes: { "127.0.0.2": "black" },
    not_listed: { "127.0.0.1": "white" },
    only_known_codes: true,
  };
  const read = (...codes: string[]) => readDnsblAnswer(zone, found(...codes));
  expect(read("127.0.0.1")).toEqual({ status: "not_listed", description: "white" });
  expect(read("127.0.0.9")).toEqual({ status: "not_listed", description: null });
  expect(read("127.0.0.1", "127.0.0.2")).toEqual({ status: "listed", description: "black" });
});

test("NXDOMAIN is not a listing; a timeout and a refusal are neither listing nor not", () => {
  const read = (answer: Lookup<string>) => readDnsblAnswer({}, answer).status;
  expect(read({ outcome: "absent", reason: "nxdomain" })).toBe("not_listed");
  expect(read({ outcome: "absent", reason: "nodata" })).toBe("not_listed");
  expect(read({ outcome: "failed", reason: "ETIMEOUT" })).toBe("timeout");
  for (const reason of ["ESERVFAIL", "EREFUSED", "ECONNREFUSED"]) {
    expect(read({ outcome: "failed", reason })).toBe("error");
  }
});

test("a reason is shortened to one line", () => {
  expect(readDnsblReason(found("Spam\r\nsource\u202e  \u0000here"))).toBe("Spam source here");
  expect(readDnsblReason(found("x".repeat(1_000)))).toHaveLength(300);
  expect(readDnsblReason(found("\n"))).toBeNull();
  expect(readDnsblReason({ outcome: "failed", reason: "ETIMEOUT" })).toBeNull();
});
