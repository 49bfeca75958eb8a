/**
 * DNS blacklists (RFC 5782): the name to query for an address or a domain, and the meaning of the answer. Pure
 * functions; the caller sends the query.
 *
 * An answer is a listing only inside 127.0.0.0/8, and not always there: operators refuse queries with codes of their
 * own, and some resolvers answer queries for names that do not exist. Treating those as listings is a common mistake.
 */
import { isIP } from "node:net";
import type { Lookup } from "#dns/resolver-interface.ts";
import { backwards } from "./reverse-name.ts";

/** The meaning of a zone's return codes; each code is an IPv4 address in text. */
export interface DnsblCodes {
  readonly codes?: Readonly<Record<string, string>>;
  /** For zones whose last octet is a bit mask: "8" is the bit with that value. */
  readonly bits?: Readonly<Record<string, string>>;
  /** Codes that do not count as a listing. */
  readonly not_listed?: Readonly<Record<string, string>>;
  /** Codes by which the zone refuses the query. */
  readonly errors?: Readonly<Record<string, string>>;
  /** If true, only the codes in `codes` are listings. */
  readonly only_known_codes?: boolean;
}

/** The result of one query to a blacklist. */
export interface DnsblResult {
  readonly status: "listed" | "not_listed" | "timeout" | "error";
  /** A phrase: why the target is listed, or why the result is unknown; null if there is nothing to say. */
  readonly description: string | null;
}

/** Codes that any zone may use; defined by Spamhaus. */
const generalErrors: Readonly<Record<string, string>> = {
  "127.0.0.1": "not a blacklist code (RFC 5782 section 2.1): something on the way blocks the query",
  "127.255.255.252": "the name of the zone is wrong",
  "127.255.255.254":
    "the zone does not answer public or open resolvers: use your own resolver, or a key from the zone's operator",
  "127.255.255.255": "too many queries: use your own resolver, or a key from the zone's operator",
};

const failures: Readonly<Record<string, string>> = {
  EREFUSED: "the DNS server refused the query",
  ESERVFAIL: "the DNS server could not answer (SERVFAIL)",
};

/**
 * The name to query: the octets (RFC 5782 section 2.1) or nibbles (section 2.4) in reverse order, or the domain itself.
 */
export function dnsblName(target: string, zone: string): string {
  return `${isIP(target) === 0 ? target : backwards(target)}.${zone}`;
}

/** Evaluates the answer to a query for A records. If one of its codes is an error, the result is an error. */
export function readDnsblAnswer(meanings: DnsblCodes, answer: Lookup<string>): DnsblResult {
  if (answer.outcome === "absent") return { status: "not_listed", description: null };
  if (answer.outcome === "failed") {
    const { reason } = answer;
    if (reason === "ETIMEOUT") return { status: "timeout", description: "no answer in time" };
    return { status: "error", description: failures[reason] ?? `the DNS query failed (${reason})` };
  }
  const readings = answer.records.toSorted(byNumber).map((code) => readCode(meanings, code));
  const status = (["error", "listed"] as const).find((one) => readings.some((read) => read.status === one));
  const told = readings.filter((reading) => reading.status === (status ?? "not_listed"));
  return {
    status: status ?? "not_listed",
    description: told.map(({ description }) => description).join("; ") || null,
  };
}

function readCode(
  { codes, bits, not_listed, errors, only_known_codes }: DnsblCodes,
  code: string,
): DnsblResult {
  const harmless = not_listed?.[code];
  if (harmless !== undefined) return { status: "not_listed", description: harmless };
  const refusal = errors?.[code] ?? generalErrors[code];
  if (refusal !== undefined) return error(code, refusal);
  if (!code.startsWith("127."))
    return error(
      code,
      "not a blacklist code: the zone is no longer operated, or a resolver rewrites answers",
    );
  if (code.startsWith("127.255.255.")) return error(code, "the zone refused the query");
  const meaning = codes?.[code];
  if (meaning !== undefined) return { status: "listed", description: meaning };
  if (only_known_codes) return { status: "not_listed", description: null };
  if (bits === undefined) return { status: "listed", description: `listed (${code})` };
  const octet = Number(code.split(".").at(-1));
  const lists = Object.entries(bits).filter(([bit]) => (octet & Number(bit)) !== 0);
  if (lists.length === 0) return error(code, "a code that the zone does not define");
  return { status: "listed", description: lists.map(([, list]) => list).join("; ") };
}

function error(code: string, reason: string): DnsblResult {
  return { status: "error", description: `${code}: ${reason}` };
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

const LONGEST_REASON = 300;

/** The reason for a listing that the zone gives in TXT, as one short line; null if it gives none. */
export function readDnsblReason(answer: Lookup<string>): string | null {
  if (answer.outcome !== "found") return null;
  const line = answer.records
    .toSorted()
    .join(" / ")
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
  if (line === "") return null;
  return line.length > LONGEST_REASON ? `${line.slice(0, LONGEST_REASON - 1).trimEnd()}…` : line;
}
