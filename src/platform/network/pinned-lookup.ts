/** A look-up that asks nobody: what was checked is what is connected to, whatever the DNS would say a moment later. */
import { isIP, type LookupFunction } from "node:net";

/** For the `lookup` of a connection. @param addresses IPv4 or IPv6, at least one; the first is where only one is asked for */
export function pinnedLookup(addresses: readonly [string, ...string[]]): LookupFunction {
  const [first] = addresses;
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) =>
    options.all ? callback(null, all) : callback(null, first, isIP(first));
}
