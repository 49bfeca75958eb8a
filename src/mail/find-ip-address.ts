/** IP addresses as people and programs write them into reports. */
import { isIP, isIPv4 } from "node:net";

/**
 * The first IP address in a text. It may be surrounded by a host name, brackets, a port, a prefix length or "IPv6:". An
 * IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is returned as IPv4. Null if there is none; an address with a zone
 * (`fe80::1%eth0`) is ignored, because it means nothing on another machine.
 */
export function ipAddressIn(text: string): string | null {
  for (const word of text.split(/[\s[\](){}<>,;"']+/)) {
    const bare = word.replace(/^(?:ip(?:v[46])?|dns)[:=]/i, "").replace(/\.$/, "");
    const address = isIP(bare) !== 0 ? bare : withoutPortOrPrefix(bare);
    if (isIP(address) !== 0 && !address.includes("%")) return asIPv4(address) ?? address;
  }
  return null;
}

function withoutPortOrPrefix(text: string): string {
  const [, v4] = /^(\d{1,3}(?:\.\d{1,3}){3})(?:[:#]\d{1,5}|\/32)$/.exec(text) ?? [];
  const [, v6] = /^([\da-f:.]+)(?:#\d{1,5}|\/128)$/i.exec(text) ?? [];
  return v4 ?? v6 ?? "";
}

function asIPv4(address: string): string | null {
  const [, mapped = ""] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  return isIPv4(mapped) ? mapped : null;
}
