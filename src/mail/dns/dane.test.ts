/** The digests were made with openssl from the certificates in test/support. */
import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { fakeMxCertificate, issuedChain } from "#test/support/fake-mx.ts";
import { isUsableTlsa, matchesTlsa, type TlsaRecord } from "./dane.ts";

const [issued, authority] = issuedChain
  .split(/(?=-----BEGIN)/)
  .map((certificate) => new X509Certificate(certificate));
const stranger = new X509Certificate(fakeMxCertificate);
if (!issued || !authority) throw new Error("two certificates are wanted");
const chain = [issued, authority];

/** As in a zone file: `3 1 1 ab…`. */
function tlsa(text: string): TlsaRecord {
  const [usage, selector, matchingType, hex = ""] = text.split(" ");
  return {
    usage: Number(usage),
    selector: Number(selector),
    matchingType: Number(matchingType),
    certificate: Buffer.from(hex, "hex"),
  };
}

const KEY_SHA256 = "a8b02ff369eb1d4b6a11c7b753194632fc9d6180dcddd4c9c812cf9f9203b247";
const CERTIFICATE_SHA256 = "b9b33e4b0166a1dfdee67d5579f488f1a27d3ba71d09e4d235cb7caab0ecad18";
const CERTIFICATE_SHA512 =
  "c19045ff295f14415ae0c9cbb31af9773eb87f740669d2cd089cf3e8d2faada53e23be57608e30d356e68fd8bd27170563b67ca54e98fbf1a8b938039e25ef04";
const AUTHORITY_SHA256 = "773f242906f8b6d4d51e12cfbb8e36bf408cfd85a0305ba1f665e421b1b10dc5";
const AUTHORITY_KEY_SHA256 = "d4a4d0bb25bb2464874d0fa55a8512951e7cf160d06191c17b8be8e4eea89fc5";
const now = { host: "mx.example.test", at: new Date("2027-01-01") };
const long = { ...now, at: new Date("2200-01-01") };
const elsewhere = { ...now, host: "mx.elsewhere.test" };

describe("DANE-EE accepts the host's own certificate or key, whatever its names and dates", () => {
  test.each([
    ["its key, SHA-256", `3 1 1 ${KEY_SHA256}`],
    ["its certificate, SHA-256", `3 0 1 ${CERTIFICATE_SHA256}`],
    ["its certificate, SHA-512", `3 0 2 ${CERTIFICATE_SHA512}`],
    ["its whole certificate", `3 0 0 ${issued.raw.toString("hex")}`],
    ["its whole key", `3 1 0 ${issued.publicKey.export({ type: "spki", format: "der" }).toString("hex")}`],
  ])("%s", (_what, record) => {
    for (const when of [now, long, elsewhere]) expect(matchesTlsa([tlsa(record)], chain, when)).toBe(true);
    expect(matchesTlsa([tlsa(record)], [stranger], now)).toBe(false);
    expect(matchesTlsa([tlsa(record)], [stranger, issued], now)).toBe(false);
  });

  test("one matching record is enough, as during a key rollover", () => {
    const records = [tlsa(`3 1 1 ${"00".repeat(32)}`), tlsa(`3 1 1 ${KEY_SHA256}`)];
    expect(matchesTlsa(records, chain, now)).toBe(true);
  });
});

describe("DANE-TA accepts a certificate that the authority issued, for its host and dates", () => {
  test.each([
    ["its certificate", `2 0 1 ${AUTHORITY_SHA256}`],
    ["its key", `2 1 1 ${AUTHORITY_KEY_SHA256}`],
  ])("%s", (_what, record) => {
    expect(matchesTlsa([tlsa(record)], chain, now)).toBe(true);
    expect(matchesTlsa([tlsa(record)], chain, elsewhere)).toBe(false);
    expect(matchesTlsa([tlsa(record)], chain, long)).toBe(false);
    expect(matchesTlsa([tlsa(record)], chain, { ...now, at: new Date("2020-01-01") })).toBe(false);
    expect(matchesTlsa([tlsa(record)], [issued], now)).toBe(false);
  });

  test("an authority that did not issue the certificate before it matches nothing", () => {
    expect(matchesTlsa([tlsa(`2 0 1 ${AUTHORITY_SHA256}`)], [stranger, authority], now)).toBe(false);
  });

  test("a host is not its own authority", () => {
    expect(matchesTlsa([tlsa(`2 1 1 ${KEY_SHA256}`)], chain, now)).toBe(false);
  });
});

test("without a certificate nothing matches", () => {
  expect(matchesTlsa([tlsa(`3 1 1 ${KEY_SHA256}`)], [], now)).toBe(false);
});

test.each([
  [`3 1 1 ${KEY_SHA256}`, true],
  [`2 0 2 ${CERTIFICATE_SHA512}`, true],
  ["3 0 0 3082", true],
  [`0 0 1 ${CERTIFICATE_SHA256}`, false],
  [`1 1 1 ${KEY_SHA256}`, false],
  [`4 1 1 ${KEY_SHA256}`, false],
  [`3 2 1 ${KEY_SHA256}`, false],
  [`3 1 3 ${KEY_SHA256}`, false],
  [`3 1 1 ${KEY_SHA256}00`, false],
  ["3 1 2 0011", false],
  ["3 0 0 ", false],
])("usable records: %s", (record, is) => {
  expect(isUsableTlsa(tlsa(record))).toBe(is);
});
