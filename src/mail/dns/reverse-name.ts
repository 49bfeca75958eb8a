/** IP addresses in the reverse order that the DNS uses. */
import { isIPv4 } from "node:net";

/** The name of an address in reverse DNS (RFC 1035 section 3.5, RFC 3596 section 2.5). */
export function reverseName(address: string): string {
  return `${backwards(address)}.${isIPv4(address) ? "in-addr" : "ip6"}.arpa`;
}

/** The octets of an IPv4 address, or the nibbles of an IPv6 address, in reverse order with dots between them. */
export function backwards(address: string): string {
  const pieces = isIPv4(address) ? address.split(".") : nibblesOf(address).split("");
  return pieces.reverse().join(".");
}

/** The 32 hexadecimal digits of an IPv6 address in any notation. */
function nibblesOf(address: string): string {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...octets: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = octets.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [left = [], right = []] = plain
    .toLowerCase()
    .split("::")
    .map((side) => side.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].map((group) => group.padStart(4, "0")).join("");
}
