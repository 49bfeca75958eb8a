/** Addresses from which this machine can send. */
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

/** Interfaces come and go. */
const KEPT_MS = 5_000;

export interface LocalNetworks {
  /** Each address of an interface, and the loopback network, which is this machine's as a whole. */
  readonly networks: readonly string[];
  /** The addresses by which others reach it. */
  readonly addresses: readonly string[];
  has(ip: string): boolean;
}

let known: { readonly local: LocalNetworks; readonly until: number } | undefined;

export function localNetworks(): LocalNetworks {
  if (known === undefined || performance.now() > known.until) {
    known = { local: readInterfaces(), until: performance.now() + KEPT_MS };
  }
  return known.local;
}

function readInterfaces(): LocalNetworks {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  // A link-local address means nothing without its interface.
  const addresses = all
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address);
  const list = new BlockList();
  for (const address of [...addresses, "::1"]) list.addAddress(address, familyOf(address));
  list.addSubnet("127.0.0.0", 8);
  return {
    addresses,
    networks: [...addresses, "127.0.0.0/8", "::1"],
    has: (ip) => list.check(ip, familyOf(ip)),
  };
}

function familyOf(ip: string): "ipv4" | "ipv6" {
  return isIP(ip) === 6 ? "ipv6" : "ipv4";
}
