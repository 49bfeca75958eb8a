/** The addresses of a host that a third party may have chosen. */
import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

type FindAddresses = (
  name: string,
) => Promise<
  | { readonly outcome: "found"; readonly records: readonly string[] }
  | { readonly outcome: "absent" | "failed" }
>;

export interface AddressSearch {
  readonly resolver: { readonly ipv4: FindAddresses; readonly ipv6: FindAddresses };
  /** Also gives private and loopback addresses: for a host that the operator has configured. */
  readonly allowPrivate: boolean;
}

export type PublicAddresses =
  | { readonly outcome: "found"; readonly addresses: readonly [string, ...string[]] }
  /** `absent`: the host has no address. `hidden`: only private ones. `failed`: the DNS did not answer. */
  | { readonly outcome: "absent" | "hidden" | "failed" };

/** @param host a name, or an IP address without brackets */
export async function findPublicAddresses(
  host: string,
  { resolver, allowPrivate }: AddressSearch,
): Promise<PublicAddresses> {
  const lookups = isIP(host) === 0 ? await Promise.all([resolver.ipv4(host), resolver.ipv6(host)]) : [];
  const found = lookups.flatMap((lookup) => (lookup.outcome === "found" ? lookup.records : []));
  const all = isIP(host) === 0 ? found : [host];
  const [first, ...others] = all.filter((address) => allowPrivate || isPublicAddress(address));
  if (first !== undefined) return { outcome: "found", addresses: [first, ...others] };
  if (all.length > 0) return { outcome: "hidden" };
  return { outcome: lookups.some(({ outcome }) => outcome === "failed") ? "failed" : "absent" };
}
