/**
 * The DNS as the network has it. Every look-up ends by a deadline, and every end is a value (Lookup): "there is no such
 * record" is an answer, everything that left the question open is a failure.
 */
import { lookUpsOfProcess } from "./client/look-ups.ts";
import { dnsName, type RecordType, readServer, SystemServers } from "./client/question.ts";
import type { How, Lookup, MxRecord } from "./resolver.ts";

/** What a look-up is given: which servers, how long, how often. */
export interface DnsOptions {
  /** "host:port" or "[host]:port", asked in this order; none means the system's. */
  readonly servers: readonly string[];
  /** The time one look-up has from its first packet, all tries together, in milliseconds. */
  readonly timeoutMs: number;
  /** Times each silent server is asked at most. */
  readonly tries: number;
  /** Asks the servers each time, for what must be seen the moment it changes. By default answers are kept for their TTL. */
  readonly isFresh?: boolean;
  /** Asks for DNSSEC, so that answers say whether a validating server vouches for them. */
  readonly wantsDnssec?: boolean;
  /** The servers are those of a zone and no resolvers: what they refuse is not asked again. */
  readonly isOfZone?: boolean;
}

export type NetworkResolver = ReturnType<typeof createResolver>;

const system = new SystemServers();

/** A resolver over UDP and TCP. Throws when a server is not an IP address with an optional port. */
export function createResolver(options: DnsOptions) {
  return {
    mx: recordsOf<MxRecord>("MX", options),
    ipv4: recordsOf<string>("A", options),
    ipv6: recordsOf<string>("AAAA", options),
    txt: recordsOf<string>("TXT", options),
    cname: recordsOf<string>("CNAME", options),
    ptr: recordsOf<string>("PTR", options),
    ns: recordsOf<string>("NS", options),
  };
}

/** What asks for the records of one type. Throws as `createResolver`. */
export function recordsOf<Data>(
  type: RecordType,
  {
    servers,
    timeoutMs,
    tries,
    isFresh: isAlwaysFresh = false,
    wantsDnssec = false,
    isOfZone = false,
  }: DnsOptions,
): (name: string, how?: How) => Promise<Lookup<Data>> {
  const named = servers.map(readServer);
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
