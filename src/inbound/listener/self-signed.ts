/**
 * A self-signed certificate (RFC 5280, ECDSA P-256), for clients that encrypt without verifying. Node.js reads
 * certificates but cannot create them. The library for it (selfsigned) would delay the first start by a quarter of a
 * second and add 23 packages, so the DER is written here.
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

const YEARS = 10;
/** RFC 5280 appendix A.1, ub-common-name. */
const LONGEST_COMMON_NAME = 64;

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
/** Context-specific: the version, dNSName in subjectAltName, the extensions. */
const VERSION = 0xa0;
const DNS_NAME = 0x82;
const EXTENSIONS = 0xa3;

const ecdsaWithSha256 = Buffer.from("06082a8648ce3d040302", "hex");
const commonName = Buffer.from("0603550403", "hex");
const subjectAltName = Buffer.from("0603551d11", "hex");

/** A key and a certificate for the host name, valid for ten years from `now`. */
export function makeSelfSigned(hostname: string, now: Date): CertificatePair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, commonName, der(UTF8_STRING, hostname.slice(0, LONGEST_COMMON_NAME)))),
  );
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + YEARS);
  const algorithm = der(SEQUENCE, ecdsaWithSha256);
  const toSign = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name,
    der(SEQUENCE, der(UTC_TIME, timeOf(now)), der(UTC_TIME, timeOf(until))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(
      EXTENSIONS,
      der(SEQUENCE, der(SEQUENCE, subjectAltName, der(OCTET_STRING, der(SEQUENCE, der(DNS_NAME, hostname))))),
    ),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign("sha256", toSign, privateKey));
  const base64 = der(SEQUENCE, toSign, algorithm, signature).toString("base64");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`,
  };
}

/** A DER value: tag, length and content (X.690 sections 8.1 and 10.1). */
function der(tag: number, ...content: (Buffer | string)[]): Buffer {
  const octets = Buffer.concat(content.map((part) => Buffer.from(part)));
  const { length } = octets;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), octets]);
}

/** UTCTime: YYMMDDHHMMSSZ, for dates until 2049 (RFC 5280 section 4.1.2.5). */
function timeOf(date: Date): string {
  return date.toISOString().replace(/^\d\d|[-:T]|\.\d+/g, "");
}

/** Both as PEM. `cert` may hold the chain, too. */
export interface CertificatePair {
  readonly key: string;
  readonly cert: string;
}
