/** Reads TRUSTED_PROXIES: used for the client's address (X-Forwarded-For) and for the limit on connections. */
import { networkList } from "#platform/network/ip-networks.ts";

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/**
 * @param proxies addresses, networks (192.0.2.0/24, 192.0.2.0/255.255.255.0, 2001:db8::/32), or the names above
 * @returns whether an address is a trusted proxy
 * @throws Error that names an entry that is none of these
 */
export function trustedProxies(proxies: readonly string[]): (address: string) => boolean {
  try {
    return networkList(proxies.flatMap((proxy) => NAMED[proxy] ?? [proxy]));
  } catch (fault) {
    throw new Error(`TRUSTED_PROXIES: ${(fault as Error).message}`);
  }
}
