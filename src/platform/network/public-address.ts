/**
 * Tells public IP addresses from private, local and reserved ones. Names in the DNS may be controlled by an attacker, who
 * could make the service connect to itself or into the operator's network, so every address from the DNS is checked here
 * before it is connected to.
 */
import ipaddr from "ipaddr.js";
import { type IpAddress, networkList, parseIpAddress } from "./ip-networks.ts";

/**
 * False for private, local, multicast and reserved addresses (the IANA special-purpose registries, RFC 6890), and for what
 * is not an IP address. IPv4 addresses within IPv6 (mapped, NAT64) are checked as IPv4.
 */
export function isPublicAddress(address: string): boolean {
  const ip = parseIpAddress(address);
  return ip !== undefined && isPublic(ip);
}

function isPublic(ip: IpAddress): boolean {
  if (ip instanceof ipaddr.IPv4) return ip.range() === "unicast";
  const [, , third, , , , seventh = 0, eighth = 0] = ip.parts;
  // A NAT64 gateway (RFC 6052, 64:ff9b::/96) connects to the embedded IPv4 address; 64:ff9b:1::/48 is for local use.
  if (ip.range() === "rfc6052" && third === 0) {
    return isPublic(new ipaddr.IPv4([seventh >> 8, seventh & 0xff, eighth >> 8, eighth & 0xff]));
  }
  return ip.range() === "unicast" && !isIPv4Compatible(ip);
}

/** ::/96, deprecated by RFC 4291 section 2.5.5.1: ipaddr.js takes it for unicast. */
function isIPv4Compatible(ip: ipaddr.IPv6): boolean {
  return ip.parts.slice(0, 6).every((part) => part === 0);
}

/** Whether an address is a loopback address (127.0.0.0/8, ::1). */
export function isLoopback(address: string): boolean {
  return parseIpAddress(address)?.range() === "loopback";
}

/** Whether an address is in one of these networks: addresses, or networks such as 192.0.2.0/24. */
export function isWithin(address: string, networks: readonly string[]): boolean {
  return networkList(networks)(address);
}
