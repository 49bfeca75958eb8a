/**
 * The network a request comes from, as the unit that limits are counted by. An IPv6 customer is given at least a /64
 * (RFC 6177), so one host can answer under 2^64 addresses: the limit holds for the /64. IPv4 addresses that arrive
 * on an IPv6 socket (RFC 4291 section 2.5.5.2) are the IPv4 addresses they stand for.
 */
import { isIP } from "node:net";

const GROUPS = 8;

/** The address itself for IPv4, the first 64 bits for IPv6. Whatever is no address shares one name. */
export function networkOf(address: string): string {
  const family = isIP(address);
  if (family === 4) return address;
  if (family !== 6) return "unknown";
  const groups = groupsOf(address);
  const [high, low] = [groups[6] ?? 0, groups[7] ?? 0];
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** The eight groups of a valid IPv6 address (RFC 4291 section 2.2), without its zone. */
function groupsOf(address: string): number[] {
  const [text = ""] = address.split("%", 1);
  const [head = [], tail = []] = text.split("::").map(groupsOfPart);
  return [...head, ...Array<number>(GROUPS - head.length - tail.length).fill(0), ...tail];
}

function groupsOfPart(part: string): number[] {
  return part
    .split(":")
    .filter((group) => group !== "")
    .flatMap((group) => {
      if (!group.includes(".")) return [Number.parseInt(group, 16)];
      const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
      return [(a << 8) | b, (c << 8) | d];
    });
}
