/**
 * DANE for SMTP (RFC 7672): which certificates the TLSA records of a host accept. Looking up the records, and DNSSEC
 * validation, is in delivery/routes/tls-demands.ts.
 */
import { createHash, type X509Certificate } from "node:crypto";

/** A TLSA record (RFC 6698 section 2.1), with the numbers of its fields. */
export interface TlsaRecord {
  readonly usage: number;
  readonly selector: number;
  readonly matchingType: number;
  readonly certificate: Buffer;
}

/** RFC 7672 section 3.1: the two usages that need no public roots. Records with the other two are unusable. */
const DANE_TA = 2;
const DANE_EE = 3;
const DIGESTS = new Map([
  [1, { name: "sha256", octets: 32 }],
  [2, { name: "sha512", octets: 64 }],
]);

/**
 * Whether a record is usable. With a host that has only unusable records, TLS with any certificate is required (section
 * 2.2).
 */
export function isUsableTlsa({ usage, selector, matchingType, certificate }: TlsaRecord): boolean {
  const octets = DIGESTS.get(matchingType)?.octets;
  const isWhole =
    octets === undefined ? matchingType === 0 && certificate.length > 0 : certificate.length === octets;
  return (usage === DANE_TA || usage === DANE_EE) && (selector === 0 || selector === 1) && isWhole;
}

/**
 * Whether usable records match the certificates of a host. `chain` begins with the host's own certificate; each is
 * followed by its issuer. DANE-EE checks only the key or certificate itself (section 3.1.1); DANE-TA also checks host
 * name and dates (section 3.1.2).
 */
export function matchesTlsa(
  records: readonly TlsaRecord[],
  chain: readonly X509Certificate[],
  { host, at }: { readonly host: string; readonly at: Date },
): boolean {
  const [own] = chain;
  if (own === undefined) return false;
  if (records.some((record) => record.usage === DANE_EE && matches(record, own))) return true;
  const anchors = records.filter((record) => record.usage === DANE_TA);
  return anchors.length > 0 && own.checkHost(host) !== undefined && isAnchored(anchors, chain, at);
}

/** Follows the chain from the host's own certificate up to one that a record names. */
function isAnchored(anchors: readonly TlsaRecord[], chain: readonly X509Certificate[], at: Date): boolean {
  for (const [index, certificate] of chain.entries()) {
    if (at < certificate.validFromDate || at > certificate.validToDate) return false;
    if (index > 0 && anchors.some((record) => matches(record, certificate))) return true;
    const issuer = chain[index + 1];
    if (issuer === undefined || !hasIssued(issuer, certificate)) return false;
  }
  return false;
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** RFC 6698 sections 2.1.2 and 2.1.3: the whole certificate or its key, in full or as a digest. */
function matches({ selector, matchingType, certificate }: TlsaRecord, shown: X509Certificate): boolean {
  const octets = selector === 0 ? shown.raw : shown.publicKey.export({ type: "spki", format: "der" });
  const digest = DIGESTS.get(matchingType);
  return certificate.equals(digest ? createHash(digest.name).update(octets).digest() : octets);
}
