/** The network of a client, which is the unit of rate limits, and the proxies whose X-Forwarded-For names the client. */
import ipaddr from "ipaddr.js";
import { networkList, parseIpAddress } from "#platform/network/ip-networks.ts";

/**
 * An IPv6 customer is given at least a /64 (RFC 6177), and could use a new address for each request.
 *
 * @returns the address for IPv4, its first 64 bits for IPv6, and "unknown" for what is not an IP address
 */
export function networkOf(address: string): string {
  const ip = parseIpAddress(address);
  if (ip === undefined) return "unknown";
  if (ip instanceof ipaddr.IPv4) return ip.toString();
  const groups = ip.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/**
 * Reads TRUSTED_PROXIES or SMTP_PROXIES.
 *
 * @param setting the name of the setting
 * @param proxies addresses, networks (192.0.2.0/24, 192.0.2.0/255.255.255.0, 2001:db8::/32), or the names above
 * @returns whether an address is a trusted proxy
 * @throws Error that names an entry that is none of these
 */
export function trustedProxies(
  setting: "TRUSTED_PROXIES" | "SMTP_PROXIES",
  proxies: readonly string[],
): (address: string) => boolean {
  try {
    return networkList(proxies.flatMap((proxy) => NAMED[proxy] ?? [proxy]));
  } catch (fault) {
    throw new Error(`${setting}: ${(fault as Error).message}`);
  }
}
