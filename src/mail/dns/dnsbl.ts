/**
 * Blacklists in the DNS (RFC 5782): what is asked about an address or a domain, and what an answer means. Pure; who asks
 * is somebody else.
 *
 * An answer is a listing only inside 127.0.0.0/8, and not even there always: operators of zones refuse questions by
 * codes of their own, and resolvers on the way answer what does not exist. Taking those for listings is the classic
 * mistake.
 */
import { isIP } from "node:net";
import type { Lookup } from "#dns/resolver.ts";
import { backwards } from "./reverse-name.ts";

/** What the codes of a zone mean; each is an IPv4 address in text. */
export interface DnsblCodes {
  readonly codes?: Readonly<Record<string, string>>;
  /** Where the last octet is a sum: "8" is the bit of that value. */
  readonly bits?: Readonly<Record<string, string>>;
  /** Answers that list the target as something harmless. */
  readonly not_listed?: Readonly<Record<string, string>>;
  /** Answers that refuse the question. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Whether only what stands in `codes` is a listing. */
  readonly only_known_codes?: boolean;
}

export interface DnsblResult {
  readonly status: "listed" | "not_listed" | "timeout" | "error";
  /** A phrase: why it is listed, or why nobody knows; null where there is nothing to say. */
  readonly description: string | null;
}

/** Any zone may use these; Spamhaus defined them. */
const generalErrors: Readonly<Record<string, string>> = {
  "127.0.0.1": "no code of a blacklist (RFC 5782 section 2.1): something on the way blocks the question",
  "127.255.255.252": "the name of the zone is wrong",
  "127.255.255.254":
    "the zone does not answer public or open resolvers: use a resolver of your own, or a key of the zone's operator",
  "127.255.255.255": "too many questions: use a resolver of your own, or a key of the zone's operator",
};

const failures: Readonly<Record<string, string>> = {
  EREFUSED: "the DNS server refused the question",
  ESERVFAIL: "the DNS server could not answer (SERVFAIL)",
};

/** The name to ask for: octets (RFC 5782 section 2.1) or nibbles (section 2.4) backwards, a domain as it is. */
export function dnsblName(target: string, zone: string): string {
  return `${isIP(target) === 0 ? target : backwards(target)}.${zone}`;
}

/** What a zone said about a target: the answer to a question for A records. One refusal among them settles it. */
export function readDnsblAnswer(meanings: DnsblCodes, answer: Lookup<string>): DnsblResult {
  if (answer.outcome === "absent") return { status: "not_listed", description: null };
  if (answer.outcome === "failed") {
    const { reason } = answer;
    if (reason === "ETIMEOUT") return { status: "timeout", description: "no answer in time" };
    return { status: "error", description: failures[reason] ?? `the DNS could not be asked (${reason})` };
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
    return error(code, "no code of a blacklist: the zone is dead, or a resolver rewrites answers");
  if (code.startsWith("127.255.255.")) return error(code, "the zone refused the question");
  const meaning = codes?.[code];
  if (meaning !== undefined) return { status: "listed", description: meaning };
  if (only_known_codes) return { status: "not_listed", description: null };
  if (bits === undefined) return { status: "listed", description: `listed (${code})` };
  const octet = Number(code.split(".").at(-1));
  const lists = Object.entries(bits).filter(([bit]) => (octet & Number(bit)) !== 0);
  if (lists.length === 0) return error(code, "a code that the zone does not explain");
  return { status: "listed", description: lists.map(([, list]) => list).join("; ") };
}

function error(code: string, reason: string): DnsblResult {
  return { status: "error", description: `${code}: ${reason}` };
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

const LONGEST_REASON = 300;

/** What the zone says about a listing in TXT, as one short line; null when it says nothing. */
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
