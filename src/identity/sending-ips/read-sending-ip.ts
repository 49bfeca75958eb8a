/** Validates the fields of a sending IP. */
import { BlockList, isIP } from "node:net";
import { parseDomain } from "#mail/address.ts";
import { type ApiError, invalid } from "#platform/errors.ts";
import { isLoopback, isWithin } from "#platform/network/public-address.ts";

const LONGEST_POOL_NAME = 64;

/** No host can send from these: unspecified, multicast, reserved, link-local without an interface. */
const senderless = new BlockList();
senderless.addSubnet("0.0.0.0", 8);
senderless.addSubnet("224.0.0.0", 3);
senderless.addAddress("::", "ipv6");
senderless.addSubnet("fe80::", 10, "ipv6");
senderless.addSubnet("ff00::", 8, "ipv6");

export interface IpRules {
  readonly allowLoopback: boolean;
  /** Addresses and networks that workspaces may claim; empty: any. */
  readonly claimable: readonly string[];
}

/**
 * Normalises an address (RFC 5952).
 * @throws ApiError VALIDATION_ERROR
 */
export function readIp(text: string, { allowLoopback, claimable }: IpRules): string {
  const family = isIP(text);
  if (family === 0 || text.includes("%")) throw refuse("ip", "must be an IPv4 or IPv6 address");
  const ip = family === 6 ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
  const isMapped = family === 6 && ip.startsWith("::ffff:");
  const isSenderless = isMapped || senderless.check(ip, family === 6 ? "ipv6" : "ipv4");
  if (isSenderless || (!allowLoopback && isLoopback(ip)))
    throw refuse("ip", "must be an address that mail can be sent from");
  if (claimable.length > 0 && !isWithin(ip, claimable))
    throw refuse("ip", "must be one of the addresses that this service gives to workspaces");
  return ip;
}

/** @throws ApiError VALIDATION_ERROR unless it is a name of at least two labels */
export function readHostname(text: string | null): string | null {
  if (text === null || text.trim() === "") return null;
  const parsed = parseDomain(text);
  if (!parsed.ok) throw refuse("hostname", parsed.message);
  return parsed.domain;
}

/** @throws ApiError VALIDATION_ERROR */
export function readPool(text: string | null, field = "pool"): string | null {
  const name = text?.trim() ?? "";
  if (name === "") return null;
  if (name.length > LONGEST_POOL_NAME || /\p{Cc}/u.test(name)) {
    throw refuse(field, `must be at most ${LONGEST_POOL_NAME} characters without line breaks`);
  }
  return name;
}

function refuse(field: string, message: string): ApiError {
  return invalid({ field, message: `${field}: ${message}` });
}
