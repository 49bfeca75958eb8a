/**
 * A resolver that asks DNS servers over the network. Every look-up has a deadline and gives a value (Lookup): "no such
 * record" is an answer, everything that leaves the question open is a failure.
 */
import { dnsServerText, readDnsServer } from "#platform/dns-server-address.ts";
import { lookUpsOfProcess } from "./client/cached-look-ups.ts";
import { dnsName, type RecordType, SystemServers } from "./client/question-and-reply.ts";
import type { Lookup, LookupOptions, MxRecord } from "./resolver-interface.ts";

export interface DnsOptions {
  /** "host:port" or "[host]:port", asked in this order; empty: the servers of the system. */
  readonly servers: readonly string[];
  /** For one look-up, all tries together, from its first packet on. */
  readonly timeoutMs: number;
  /** How often a server that does not answer is asked at most. */
  readonly tries: number;
  /** Asks the servers each time, so that changes are seen at once. By default answers are cached for their TTL. */
  readonly isFresh?: boolean;
  /** Asks for DNSSEC, so that answers tell whether a validating server has validated them. */
  readonly wantsDnssec?: boolean;
  /** The servers are authoritative servers of a zone: REFUSED is final. */
  readonly isOfZone?: boolean;
}

export type NetworkResolver = ReturnType<typeof createResolver>;

const system = new SystemServers();

/**
 * The servers that are asked, each with its port: those given, or else those of the system.
 * @throws TypeError as `createResolver`
 */
export function serversInUse(servers: readonly string[]): string[] {
  return (servers.length > 0 ? servers.map(readDnsServer) : system.get()).map(dnsServerText);
}

/** @throws TypeError if a server is not an IP address with an optional port */
export function createResolver(options: DnsOptions) {
  return {
    mx: recordLookup<MxRecord>("MX", options),
    ipv4: recordLookup<string>("A", options),
    ipv6: recordLookup<string>("AAAA", options),
    txt: recordLookup<string>("TXT", options),
    cname: recordLookup<string>("CNAME", options),
    ptr: recordLookup<string>("PTR", options),
    ns: recordLookup<string>("NS", options),
  };
}

/** A function that looks up the records of one type. @throws TypeError as `createResolver` */
export function recordLookup<Data>(
  type: RecordType,
  {
    servers,
    timeoutMs,
    tries,
    isFresh: isAlwaysFresh = false,
    wantsDnssec = false,
    isOfZone = false,
  }: DnsOptions,
): (name: string, options?: LookupOptions) => Promise<Lookup<Data>> {
  const named = servers.map(readDnsServer);
  return async (givenName, { isFresh = isAlwaysFresh } = {}) => {
    const name = dnsName(givenName);
    if (name === null) return { outcome: "failed", reason: "EBADNAME" };
    const asked = named.length > 0 ? named : system.get();
    const question = { name, type, servers: asked, timeoutMs, tries, wantsDnssec, isOfZone };
    const reply = await lookUpsOfProcess.ask(question, isFresh);
    if (reply.outcome === "failed") {
      const { reason, isUnanswered, othersAnswered } = reply;
      return {
        outcome: "failed",
        reason,
        ...(isUnanswered && { isUnanswered }),
        ...(othersAnswered && { othersAnswered }),
      };
    }
    const proof = wantsDnssec ? { isSecure: reply.isSecure } : {};
    if (reply.outcome === "absent") return { outcome: "absent", reason: reply.reason, ...proof };
    const alias = wantsDnssec && reply.aliasOf !== null ? { aliasOf: reply.aliasOf } : {};
    return { outcome: "found", records: reply.records as readonly Data[], ...proof, ...alias };
  };
}
