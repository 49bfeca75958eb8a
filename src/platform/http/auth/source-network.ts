/** The network of a client, which is the unit of rate limits: an IPv4 address, or the /64 of an IPv6 address. */
import ipaddr from "ipaddr.js";
import { parseAddress } from "#platform/network/ip-networks.ts";

/**
 * An IPv6 customer is given at least a /64 (RFC 6177), and could use a new address for each request.
 *
 * @returns the address for IPv4, its first 64 bits for IPv6, and "unknown" for what is not an IP address
 */
export function networkOf(address: string): string {
  const ip = parseAddress(address);
  if (ip === undefined) return "unknown";
  if (ip instanceof ipaddr.IPv4) return ip.toString();
  const groups = ip.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}
