/**
 * The address pattern of an inbound route: a local part with at most one `*`, and a domain. `support@acme.example` also takes
 * mail with a tag (`support+1042@acme.example`).
 */
import { comparable, domainOf, parseAddress, withoutTag } from "#mail/address.ts";

export interface AddressPattern {
  /** Lower case. */
  readonly local_part: string;
  /** Lower-case A-labels. */
  readonly domain: string;
}

export type ReadPattern = ({ readonly ok: true } & AddressPattern) | { readonly ok: false; message: string };

/** In characters. */
export const LONGEST_PATTERN = 320;
const MARK = "*";

/** Parses a pattern as people type it. A refusal is a sentence for the person who typed the text. */
export function readPattern(text: string): ReadPattern {
  const parsed = parseAddress(text);
  if (!parsed.ok) return parsed;
  const { domain } = parsed;
  const local_part = comparable(parsed.local);
  if (local_part.startsWith('"')) return refuse("Enter a part before the @ that needs no quotes.");
  if (local_part.split(MARK).length > 2) return refuse("Enter at most one * before the @.");
  return { ok: true, local_part, domain };
}

/** Whether mail to the local part is for the pattern. @param local in lower case */
export function matchesLocalPart(pattern: string, local: string): boolean {
  const [prefix = "", suffix] = pattern.split(MARK);
  if (suffix === undefined) return local === prefix || untagged(local) === prefix;
  return local.length >= prefix.length + suffix.length && local.startsWith(prefix) && local.endsWith(suffix);
}

/** The tag of an address without its domain: "1042" of `support+1042`; null without one. */
export function tagOf(local: string): string | null {
  const base = untagged(local);
  return base.length === local.length ? null : local.slice(base.length + 1);
}

/** The address in the spelling that patterns are compared with. @param address a valid address, as given in RCPT */
export function comparableAddress(address: string): AddressPattern {
  const domain = domainOf(address);
  const local = address.slice(0, address.length - domain.length - 1);
  return { local_part: comparable(local), domain };
}

const untagged = (local: string) => withoutTag(`${local}@`).slice(0, -1);

const refuse = (message: string): ReadPattern => ({ ok: false, message });
