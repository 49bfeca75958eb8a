/** Questions to the DNS and their replies, in the form in which they pass between the event loop and the look-up thread. */
import { getServers, Resolver as SystemResolver } from "node:dns";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";

export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "PTR" | "TLSA" | "TXT";

export interface Server {
  /** An IP address; an IPv6 address may have a zone ("fe80::1%eth0"). */
  readonly host: string;
  readonly port: number;
}

export interface Question {
  /** In the form of `dnsName`. */
  readonly name: string;
  readonly type: RecordType;
  /** In the order in which they are asked; not empty. */
  readonly servers: readonly Server[];
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

const DNS_PORT = 53;
const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;
/** How often /etc/resolv.conf is read again. */
const SYSTEM_SERVERS_MS = 30_000;

/** "192.0.2.53", "192.0.2.53:53", "2001:db8::53" or "[2001:db8::53]:53". @throws TypeError for anything else */
export function readServer(text: string): Server {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT };
  const [, inBrackets, plain, port = String(DNS_PORT)] =
    /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain ?? "";
  const isAddress = inBrackets === undefined ? isIP(host) === 4 : isIP(host) === 6;
  if (!isAddress || Number(port) < 1 || Number(port) > 0xffff) {
    throw new TypeError(`${text} is not a DNS server: use an IP address with an optional port`);
  }
  return { host, port: Number(port) };
}

/** The inverse of `readServer`, always with the port. */
export function serverText({ host, port }: Server): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The DNS servers of the system (/etc/resolv.conf). Search domains are never used. */
export class SystemServers {
  #servers: readonly Server[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  get(): readonly Server[] {
    if (performance.now() - this.#readAt > SYSTEM_SERVERS_MS) {
      const read = new SystemResolver().getServers();
      this.#servers = (read.length > 0 ? read : getServers()).map(readServer);
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
