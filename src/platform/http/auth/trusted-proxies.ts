/** TRUSTED_PROXIES as one question, for the address of a client (X-Forwarded-For) and for the limit on connections. */
import { BlockList, isIP, isIPv4 } from "node:net";

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/**
 * @param proxies addresses, networks (192.0.2.0/24, 192.0.2.0/255.255.255.0, 2001:db8::/32), or the names above
 * @throws Error that names an entry that is none of these
 */
export function trustedProxies(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of proxies.flatMap((proxy) => named[proxy] ?? [proxy])) {
    const [address = "", size, ...more] = entry.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    const bits = size === undefined ? wholeAddress(family) : bitsOf(size);
    if (isIP(address) === 0 || more.length > 0 || !(bits >= 0 && bits <= wholeAddress(family))) {
      throw new Error(`TRUSTED_PROXIES: ${entry} is neither an address nor a network`);
    }
    list.addSubnet(address, bits, family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function wholeAddress(family: "ipv4" | "ipv6"): number {
  return family === "ipv4" ? 32 : 128;
}

/** NaN for what is neither a number of bits nor a netmask. */
function bitsOf(size: string): number {
  if (/^\d{1,3}$/.test(size)) return Number(size);
  if (!isIPv4(size)) return Number.NaN;
  const mask = size
    .split(".")
    .map((octet) => Number(octet).toString(2).padStart(8, "0"))
    .join("");
  return /^1*0*$/.test(mask) ? mask.lastIndexOf("1") + 1 : Number.NaN;
}
