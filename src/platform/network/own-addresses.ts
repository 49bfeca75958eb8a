/** The addresses of this machine: those it can send from. */
import { networkInterfaces } from "node:os";
import { networkList } from "./ip-networks.ts";

/** Interfaces are read again after this time, because addresses are added and removed. */
const KEPT_MS = 5_000;

export interface LocalNetworks {
  /** All addresses of the interfaces, and the loopback networks. */
  readonly networks: readonly string[];
  /** The addresses by which other machines reach this one. */
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
  // A link-local address is not usable without its interface.
  const addresses = all
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address);
  const networks = [...addresses, "127.0.0.0/8", "::1"];
  return { addresses, networks, has: networkList(networks) };
}
