/**
 * Which IP addresses belong to the public Internet. A name somebody else controls must not lead us to ourselves or
 * into the operator's network, so whatever connects to addresses from the DNS asks here first.
 */
import { BlockList, isIP } from "node:net";

/** The IANA registries of special-purpose addresses (RFC 6890), and multicast: never a stranger's server. */
const NETWORKS = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fe80::/9",
  "ff00::/8",
];

const special = new BlockList();
for (const network of NETWORKS) {
  const [address = "", prefix] = network.split("/");
  special.addSubnet(address, Number(prefix), familyOf(address));
  // A NAT64 gateway (RFC 6052) leads to the IPv4 address at the end.
  if (familyOf(address) === "ipv4") special.addSubnet(`64:ff9b::${address}`, 96 + Number(prefix), "ipv6");
}

/** False for anything private, local, reserved or not an IP address at all. IPv4 mapped into IPv6 is seen through. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && !special.check(address, familyOf(address));
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether an address is this machine's own and nobody else's. IPv4 mapped into IPv6 is seen through. */
export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && loopback.check(address, familyOf(address));
}

/** Whether it lies in one of these: addresses, or networks such as 192.0.2.0/24. */
export function isWithin(address: string, networks: readonly string[]): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [first = "", prefix] = network.split("/");
    if (prefix === undefined) list.addAddress(first, familyOf(first));
    else list.addSubnet(first, Number(prefix), familyOf(first));
  }
  return isIP(address) !== 0 && list.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
