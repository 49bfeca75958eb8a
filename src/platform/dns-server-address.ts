/** Addresses of DNS servers, as settings and /etc/resolv.conf have them. */
import { isIP } from "node:net";

export interface DnsServer {
  /** An IP address; an IPv6 address may have a zone ("fe80::1%eth0"). */
  readonly host: string;
  readonly port: number;
}

const DNS_PORT = 53;

/** "192.0.2.53", "192.0.2.53:53", "2001:db8::53" or "[2001:db8::53]:53". @throws TypeError for anything else */
export function readDnsServer(text: string): DnsServer {
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

/** Whether `readDnsServer` takes the text. */
export function isDnsServer(text: string): boolean {
  try {
    readDnsServer(text);
    return true;
  } catch {
    return false;
  }
}

/** The inverse of `readDnsServer`, always with the port. */
export function dnsServerText({ host, port }: DnsServer): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
