/** What a server's answer says about the question: its records, that there are none, or that the server failed. */
import type { Answer, DecodedPacket } from "dns-packet";
import type { RecordType, Reply } from "./question.ts";

/** RFC 1035 section 4.1.1. */
const [NOERROR, NXDOMAIN] = [0, 3];
/** RFC 1035 section 4.1.1, by the names that node:dns has for them. */
const FAILURES: Readonly<Record<number, string>> = {
  1: "EFORMERR",
  2: "ESERVFAIL",
  4: "ENOTIMP",
  5: "EREFUSED",
};
const MOST_RECORDS = 1_000;
const LONGEST_CHAIN = 16;
const LONGEST_TTL = 86_400;
/** RFC 2308 section 5 allows up to three hours; a domain that has just got its first MX waits for this. */
const LONGEST_ABSENCE = 900;

export function readReply(packet: DecodedPacket, name: string, type: RecordType): Reply {
  const isSecure = packet.flag_ad;
  const code = (packet.flags ?? 0) & 0xf;
  if (code === NXDOMAIN) {
    return { outcome: "absent", reason: "nxdomain", isSecure, ttlSeconds: absenceTtl(packet) };
  }
  if (code !== NOERROR) return failure(FAILURES[code] ?? `rcode ${code}`);
  const answers = packet.answers ?? [];
  const asked = wireName(name);
  const chain = type === "CNAME" ? { owner: asked, ttl: LONGEST_TTL } : endOfChain(answers, asked);
  if (chain === null) return failure("EBADRESP");
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
  if (isReferral(packet)) return failure("lame server");
  // The server has not followed the alias, or has lost what it found: only an SOA record says that there is nothing.
  if (owner !== asked && soaOf(packet.authorities ?? []) === undefined) return failure("EBADRESP");
  return { outcome: "absent", reason: "nodata", isSecure, ttlSeconds: Math.min(ttl, absenceTtl(packet)) };
}

export function failure(reason: string, isUnanswered = false): Extract<Reply, { outcome: "failed" }> {
  return { outcome: "failed", reason, isUnanswered };
}

/** Where the aliases of an answer lead, and the shortest life on the way. Null where they lead on without end. */
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

/** From a server that neither has the zone nor looks further: it names other servers and says nothing about the name. */
function isReferral({ flag_aa, flag_ra, answers = [], authorities = [] }: DecodedPacket): boolean {
  const namesServers = authorities.some(({ type }) => type === "NS");
  return !flag_aa && !flag_ra && answers.length === 0 && namesServers && soaOf(authorities) === undefined;
}

/** RFC 2308 section 5: without an SOA record nothing says how long an absence lasts. */
function absenceTtl({ authorities = [] }: DecodedPacket): number {
  const soa = soaOf(authorities);
  return soa === undefined ? 0 : Math.min(ttlOf(soa), soa.data.minimum ?? 0, LONGEST_ABSENCE);
}

function soaOf(authorities: readonly Answer[]) {
  return authorities.find((answer) => answer.type === "SOA");
}

/** RFC 2181 section 8: a life with the highest bit set is none. */
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
      // A copy: a view would take the whole packet along to the other thread.
      return [{ usage, selector, matchingType, certificate: Uint8Array.from(certificate) }];
    }
    default:
      return [];
  }
}

/** RFC 7208 section 3.3: the character strings of a record are one text, here an octet a character. */
function textOf(data: string | Buffer | readonly (string | Buffer)[]): string {
  const strings = Array.isArray(data) ? data : [data];
  return Buffer.concat(strings.map((text) => Buffer.from(text))).toString("latin1");
}

const wireName = (name: string): string => name.toLowerCase().replace(/\.$/, "");

/** A NUL as zone files write it (RFC 1035 section 5.1): as it is, PostgreSQL takes no text with it. */
const hostName = (name: string): string => wireName(name).replaceAll("\0", "\\000");
