/** Reads a DNS message as the reply to a question: records, no such record, or a failure of the server. */
import type { Answer, DecodedPacket } from "dns-packet";
import type { DnsReply, RecordType } from "./question-and-reply.ts";

/** RFC 1035 section 4.1.1. */
const [NOERROR, NXDOMAIN] = [0, 3];
/** Error codes (RFC 1035 section 4.1.1) by their names in node:dns. */
const FAILURES: Readonly<Record<number, string>> = {
  1: "EFORMERR",
  2: "ESERVFAIL",
  4: "ENOTIMP",
  5: "EREFUSED",
};
const MOST_RECORDS = 1_000;
const LONGEST_CHAIN = 16;
const LONGEST_TTL = 86_400;
/**
 * Longest time that "no such record" is cached, in seconds. A domain that publishes its first MX waits this long; RFC
 * 2308 section 5 allows three hours.
 */
const LONGEST_ABSENCE = 900;

export function readReply(packet: DecodedPacket, name: string, type: RecordType): DnsReply {
  const isSecure = packet.flag_ad;
  const code = (packet.flags ?? 0) & 0xf;
  if (code === NXDOMAIN) {
    return { outcome: "absent", reason: "nxdomain", isSecure, ttlSeconds: absenceTtl(packet) };
  }
  if (code !== NOERROR) return failedReply(FAILURES[code] ?? `rcode ${code}`);
  const answers = packet.answers ?? [];
  const asked = wireName(name);
  const chain = type === "CNAME" ? { owner: asked, ttl: LONGEST_TTL } : endOfChain(answers, asked);
  if (chain === null) return failedReply("EBADRESP");
  const { owner, ttl } = chain;
  const matching = answers
    .filter((answer) => answer.type === type && wireName(answer.name) === owner)
    .slice(0, MOST_RECORDS);
  if (matching.length > 0) {
    return {
      outcome: "found",
      records: matching.flatMap(recordOf),
      isSecure,
      aliasOf: owner === asked ? null : owner,
      ttlSeconds: Math.min(ttl, ...matching.map(ttlOf)),
    };
  }
  if (isReferral(packet)) return failedReply("lame server");
  // The server has not followed the alias, or its answer is incomplete: only an SOA record proves that there is no record.
  if (owner !== asked && soaOf(packet.authorities ?? []) === undefined) return failedReply("EBADRESP");
  return { outcome: "absent", reason: "nodata", isSecure, ttlSeconds: Math.min(ttl, absenceTtl(packet)) };
}

export function failedReply(reason: string, isUnanswered = false): Extract<DnsReply, { outcome: "failed" }> {
  return { outcome: "failed", reason, isUnanswered };
}

/**
 * The name at the end of the chain of aliases, and the smallest TTL on the way. Null if the chain is too long or a
 * loop.
 */
function endOfChain(
  answers: readonly Answer[],
  asked: string,
): { readonly owner: string; readonly ttl: number } | null {
  const aliases = new Map(
    answers.flatMap((answer) => (answer.type === "CNAME" ? [[wireName(answer.name), answer] as const] : [])),
  );
  let owner = asked;
  let ttl = LONGEST_TTL;
  for (let length = 0; length <= LONGEST_CHAIN; length++) {
    const alias = aliases.get(owner);
    if (alias === undefined) return { owner, ttl };
    ttl = Math.min(ttl, ttlOf(alias));
    owner = wireName(alias.data);
  }
  return null;
}

/** Whether it is a referral: the server is not authoritative, offers no recursion, and only names other servers. */
function isReferral({ flag_aa, flag_ra, answers = [], authorities = [] }: DecodedPacket): boolean {
  const namesServers = authorities.some(({ type }) => type === "NS");
  return !flag_aa && !flag_ra && answers.length === 0 && namesServers && soaOf(authorities) === undefined;
}

/** The TTL of a negative answer in seconds; 0 (not cached) without an SOA record (RFC 2308 section 5). */
function absenceTtl({ authorities = [] }: DecodedPacket): number {
  const soa = soaOf(authorities);
  return soa === undefined ? 0 : Math.min(ttlOf(soa), soa.data.minimum ?? 0, LONGEST_ABSENCE);
}

function soaOf(authorities: readonly Answer[]) {
  return authorities.find((answer) => answer.type === "SOA");
}

/** RFC 2181 section 8: a TTL with the highest bit set counts as 0. */
function ttlOf(answer: Answer): number {
  const ttl = "ttl" in answer ? (answer.ttl ?? 0) : 0;
  return ttl > 0x7fff_ffff ? 0 : Math.min(ttl, LONGEST_TTL);
}

function recordOf(answer: Answer): unknown[] {
  switch (answer.type) {
    case "A":
    case "AAAA":
      return [answer.data];
    case "CNAME":
    case "NS":
    case "PTR":
      return [hostName(answer.data)];
    case "MX":
      return [{ preference: answer.data.preference ?? 0, exchange: hostName(answer.data.exchange) }];
    case "TXT":
      return [textOf(answer.data)];
    case "TLSA": {
      const { usage, selector, matchingType, certificate } = answer.data;
      // Copied: a view would transfer the whole packet to the other thread.
      return [{ usage, selector, matchingType, certificate: Uint8Array.from(certificate) }];
    }
    default:
      return [];
  }
}

/** The character strings of a TXT record joined (RFC 7208 section 3.3), one character an octet. */
function textOf(data: string | Buffer | readonly (string | Buffer)[]): string {
  const strings = Array.isArray(data) ? data : [data];
  return Buffer.concat(strings.map((text) => Buffer.from(text))).toString("latin1");
}

const wireName = (name: string): string => name.toLowerCase().replace(/\.$/, "");

/** Writes a NUL as in zone files (RFC 1035 section 5.1), because a PostgreSQL text cannot contain one. */
const hostName = (name: string): string => wireName(name).replaceAll("\0", "\\000");
