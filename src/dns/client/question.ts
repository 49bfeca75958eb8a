/** What is asked of the DNS and what comes back, as it travels between the event loop and the look-up thread. */
import { getServers, Resolver as SystemResolver } from "node:dns";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";

export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "PTR" | "TLSA" | "TXT";

export interface Server {
  /** An IP address; an IPv6 one may bear its zone ("fe80::1%eth0"). */
  readonly host: string;
  readonly port: number;
}

export interface Question {
  /** As `dnsName` writes it. */
  readonly name: string;
  readonly type: RecordType;
  /** In the order in which they are asked; never empty. */
  readonly servers: readonly Server[];
  /** From the first packet to the last answer, all tries together. The wait for a free place does not count. */
  readonly timeoutMs: number;
  /** How many times each server is asked at most. */
  readonly tries: number;
  /** Asks for DNSSEC records, so that a validating resolver sets the AD bit. */
  readonly wantsDnssec: boolean;
  /** The servers are those of a zone and no resolvers: what they refuse once they refuse again. */
  readonly isOfZone?: boolean;
}

export type Reply =
  | {
      readonly outcome: "found";
      readonly records: readonly unknown[];
      readonly isSecure: boolean;
      /** The owner of the records, where the name asked for is an alias. */
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
      /** No server has said anything: the fault lies between us and our servers, or in our load. */
      readonly isUnanswered: boolean;
      /** Of `isUnanswered`: the servers have answered other questions meanwhile, so that the name is at fault. */
      readonly othersAnswered?: boolean;
    };

const DNS_PORT = 53;
const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;
/** How soon a change of /etc/resolv.conf is seen. */
const SYSTEM_SERVERS_MS = 30_000;

/** "192.0.2.53", "192.0.2.53:53", "2001:db8::53" or "[2001:db8::53]:53". @throws where it is none of them */
export function readServer(text: string): Server {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT };
  const [, inBrackets, plain, port = String(DNS_PORT)] =
    /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain ?? "";
  const isAddress = inBrackets === undefined ? isIP(host) === 4 : isIP(host) === 6;
  if (!isAddress || Number(port) < 1 || Number(port) > 0xffff) {
    throw new TypeError(`${text} is no DNS server: an IP address with an optional port is`);
  }
  return { host, port: Number(port) };
}

/** The servers of /etc/resolv.conf or of the system's own settings. Its search domains are never used. */
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
 * A name as it stands in a question: A-labels (RFC 5890) without the dot at the end, its case as it was given. Null where
 * the DNS cannot carry it.
 */
export function dnsName(name: string): string | null {
  const plain = /^[\x21-\x7e]*$/.test(name) ? name : domainToASCII(name);
  const bare = plain.endsWith(".") ? plain.slice(0, -1) : plain;
  const isCarried =
    bare.length <= LONGEST_NAME &&
    bare.split(".").every((label) => label.length > 0 && label.length <= LONGEST_LABEL);
  return isCarried ? bare : null;
}
