/**
 * DANE for SMTP (RFC 7672): a host's TLSA records say which certificate it shows. The records and what they vouch for;
 * looking them up is delivery's (delivery/routes/tls-demands.ts), and so is the proof by DNSSEC that they are the host's own.
 */
import { createHash, type X509Certificate } from "node:crypto";

/** A TLSA record (RFC 6698 section 2.1), its numbers as they came. */
export interface TlsaRecord {
  readonly usage: number;
  readonly selector: number;
  readonly matchingType: number;
  readonly certificate: Buffer;
}

/** RFC 7672 section 3.1: the two usages that need no public roots. The other two are as good as none. */
const DANE_TA = 2;
const DANE_EE = 3;
const DIGESTS = new Map([
  [1, { name: "sha256", octets: 32 }],
  [2, { name: "sha512", octets: 64 }],
]);

/** Whether a record can vouch for anything; a host that has none of these is spoken to over TLS whoever answers (section 2.2). */
export function isUsableTlsa({ usage, selector, matchingType, certificate }: TlsaRecord): boolean {
  const octets = DIGESTS.get(matchingType)?.octets;
  const isWhole =
    octets === undefined ? matchingType === 0 && certificate.length > 0 : certificate.length === octets;
  return (usage === DANE_TA || usage === DANE_EE) && (selector === 0 || selector === 1) && isWhole;
}

/**
 * Whether usable records vouch for what a host has shown: `chain` begins with its own certificate, and each is followed
 * by its issuer. DANE-EE looks at nothing but the key or certificate itself (section 3.1.1); DANE-TA wants the host's
 * name and the dates, too (section 3.1.2).
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

/** Walks from the host's own certificate up to one that a record names. */
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

/** RFC 6698 section 2.1.2 and 2.1.3: the whole certificate or its key, as it is or as a digest. */
function matches({ selector, matchingType, certificate }: TlsaRecord, shown: X509Certificate): boolean {
  const octets = selector === 0 ? shown.raw : shown.publicKey.export({ type: "spki", format: "der" });
  const digest = DIGESTS.get(matchingType);
  return certificate.equals(digest ? createHash(digest.name).update(octets).digest() : octets);
}
