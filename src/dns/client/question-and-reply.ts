/** Questions to the DNS and their replies, in the form in which they pass between the event loop and the look-up thread. */
import { getServers, Resolver as SystemResolver } from "node:dns";
import { domainToASCII } from "node:url";
import { type DnsServer, readDnsServer } from "#platform/dns-server-address.ts";

export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "PTR" | "TLSA" | "TXT";

export interface Question {
  /** In the form of `dnsName`. */
  readonly name: string;
  readonly type: RecordType;
  /** In the order in which they are asked; not empty. */
  readonly servers: readonly DnsServer[];
  /** For all tries together, from the first packet on. Waiting for a slot does not count. */
  readonly timeoutMs: number;
  /** How often each server is asked at most. */
  readonly tries: number;
  /** Asks for DNSSEC records, so that a validating resolver sets the AD bit. */
  readonly wantsDnssec: boolean;
  /** The servers are authoritative servers of a zone: REFUSED is final. */
  readonly isOfZone?: boolean;
}

export type DnsReply =
  | {
      readonly outcome: "found";
      readonly records: readonly unknown[];
      readonly isSecure: boolean;
      /** The owner name of the records if the name in the question is an alias (CNAME). */
      readonly aliasOf: string | null;
      readonly ttlSeconds: number;
    }
  | {
      readonly outcome: "absent";
      readonly reason: "nxdomain" | "nodata";
      readonly isSecure: boolean;
      readonly ttlSeconds: number;
    }
  | {
      readonly outcome: "failed";
      readonly reason: string;
      /** No server has answered: the cause is the network, the servers or the load of this machine. */
      readonly isUnanswered: boolean;
      /** With `isUnanswered`: the servers have answered other questions meanwhile, so this name is the cause. */
      readonly othersAnswered?: boolean;
    };

const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;
/** How often /etc/resolv.conf is read again. */
const SYSTEM_SERVERS_MS = 30_000;

/** The DNS servers of the system (/etc/resolv.conf). Search domains are never used. */
export class SystemServers {
  #servers: readonly DnsServer[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  get(): readonly DnsServer[] {
    if (performance.now() - this.#readAt > SYSTEM_SERVERS_MS) {
      const read = new SystemResolver().getServers();
      this.#servers = (read.length > 0 ? read : getServers()).map(readDnsServer);
      this.#readAt = performance.now();
    }
    return this.#servers;
  }
}

/**
 * A name in the form that a DNS question needs: A-labels (RFC 5890) without the trailing dot, in its given case. Null if it
 * is not a valid name in the DNS.
 */
export function dnsName(name: string): string | null {
  const plain = /^[\x21-\x7e]*$/.test(name) ? name : domainToASCII(name);
  const bare = plain.endsWith(".") ? plain.slice(0, -1) : plain;
  const isCarried =
    bare.length <= LONGEST_NAME &&
    bare.split(".").every((label) => label.length > 0 && label.length <= LONGEST_LABEL);
  return isCarried ? bare : null;
}
