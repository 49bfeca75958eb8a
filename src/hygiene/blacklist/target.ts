/** Blacklist targets: the IP address or domain to look up, read from user input. */
import { isIP, SocketAddress } from "node:net";
import { LOCAL_ENDINGS } from "#identity/tracking-domains/domain-name.ts";
import { parseDomain } from "#mail/address.ts";
import { type ApiError, invalid } from "#platform/errors.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";

export const targetTypes = ["ip", "domain"] as const;
export type TargetType = (typeof targetTypes)[number];
/** Zones list some of these kinds. */
export type TargetKind = "ip4" | "ip6" | "domain";

/** A public IP address or a domain that can be looked up in blacklists. */
export interface BlacklistTarget {
  /** An address in canonical form (RFC 5952), or a domain in lower-case A-labels. */
  readonly target: string;
  readonly target_type: TargetType;
}

export function kindOf({ target }: BlacklistTarget): TargetKind {
  const family = isIP(target);
  return family === 4 ? "ip4" : family === 6 ? "ip6" : "domain";
}

/**
 * Reads a target from user input. An IPv4-mapped IPv6 address becomes the IPv4 address.
 * @throws ApiError VALIDATION_ERROR
 */
export function readTarget(text: string): BlacklistTarget {
  const bare = text.trim();
  if (isIP(bare) !== 0) return { target: readAddress(bare), target_type: "ip" };
  if (/[/@:]/.test(bare)) {
    throw refusal(
      "enter one IP address or one domain, without scheme, path, port, network length or mailbox",
    );
  }
  const parsed = parseDomain(bare);
  if (!parsed.ok) throw refusal(`not an IP address, and not a domain: ${parsed.message}`);
  if (LOCAL_ENDINGS.test(parsed.domain)) throw refusal(`${parsed.domain} is a name of a private network`);
  return { target: parsed.domain, target_type: "domain" };
}

function readAddress(text: string): string {
  if (text.includes("%")) throw refusal("an address with a zone index belongs to one machine's network");
  const family = isIP(text) === 6 ? "ipv6" : "ipv4";
  const { address } = new SocketAddress({ address: text, family });
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1] ?? address;
  if (!isPublicAddress(mapped)) {
    throw refusal(
      `${mapped} is private, reserved or for documentation; only public addresses are in blacklists`,
    );
  }
  return mapped;
}

function refusal(message: string): ApiError {
  return invalid({ field: "target", message: `target: ${message}` });
}
