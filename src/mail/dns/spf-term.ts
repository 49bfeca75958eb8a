/** Parses one term of an SPF record (RFC 7208 sections 4.6.1, 5, 6 and 12): a directive, a modifier, or a fault. */
import { isIPv4, isIPv6 } from "node:net";
import { domainSpecFault, macroFault, shownCharacter } from "./spf-domain-spec.ts";

export const mechanisms = ["all", "include", "a", "mx", "ptr", "ip4", "ip6", "exists"] as const;
export type SpfMechanism = (typeof mechanisms)[number];

/** A mechanism with its qualifier and argument. */
export interface SpfDirective {
  readonly qualifier: "+" | "-" | "~" | "?";
  readonly mechanism: SpfMechanism;
  /** The text after the colon in lower case; a domain has no trailing dot. Null without an argument. */
  readonly value: string | null;
  /** How many bits of an address must match. */
  readonly prefix: { readonly ipv4: number; readonly ipv6: number };
}

export type SpfTerm =
  | { readonly kind: "directive"; readonly directive: SpfDirective }
  | { readonly kind: "modifier"; readonly name: string; readonly value: string }
  /** `why` completes "… cannot be understood: …". */
  | { readonly kind: "fault"; readonly why: string };

/** Enough for a name and its macros. */
const LONGEST_TERM = 512;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=(.*)$/is;
const DIRECTIVE = /^([-+~?]?)([a-z][a-z0-9_.-]*)(.*)$/is;
/** The argument of "a" and "mx": a domain, and a prefix length for each family. */
const HOST = /^(?::((?:[^/{]|\{[^}]*\}?)*))?(?:\/([^/]*))?(?:\/\/([^/]*))?$/s;
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,2})$/;

/** Parses one term; the result has kind "fault" for an invalid term. */
export function readTerm(term: string): SpfTerm {
  if (term.length > LONGEST_TERM) return fault(`it has ${term.length} characters`);
  const [stray] = /[^\x21-\x7e]/u.exec(term) ?? [];
  if (stray !== undefined) return fault(`${shownCharacter(stray)} is not allowed in a term`);
  const [, name, value] = MODIFIER.exec(term) ?? [];
  if (name !== undefined && value !== undefined) return readModifier(name.toLowerCase(), value);
  const [, qualifier = "", word, rest = ""] = DIRECTIVE.exec(term) ?? [];
  if (word === undefined) return fault("it is neither a mechanism nor a modifier");
  const mechanism = mechanisms.find((known) => known === word.toLowerCase());
  if (mechanism === undefined) return fault(`"${word}" is not an SPF mechanism`);
  const read = readArgument(mechanism, rest);
  if (typeof read === "string") return fault(read);
  return {
    kind: "directive",
    directive: { qualifier: (qualifier || "+") as SpfDirective["qualifier"], mechanism, ...read },
  };
}

export function isValidTerm(term: string): boolean {
  return readTerm(term).kind !== "fault";
}

/** "redirect" and "exp" name a domain. Unknown modifiers are ignored, but their macros must be valid (section 6). */
function readModifier(name: string, value: string): SpfTerm {
  const isDomain = name === "redirect" || name === "exp";
  const why = isDomain ? domainSpecFault(value) : macroFault(value);
  return why === null ? { kind: "modifier", name, value: isDomain ? hostName(value) : value } : fault(why);
}

type Argument = Pick<SpfDirective, "value" | "prefix">;
const wholeAddress = { ipv4: 32, ipv6: 128 } as const;

function readArgument(mechanism: SpfMechanism, rest: string): Argument | string {
  switch (mechanism) {
    case "all":
      return rest === "" ? { value: null, prefix: wholeAddress } : '"all" takes no argument';
    case "ip4":
    case "ip6":
      return readNetwork(mechanism, rest);
    case "a":
    case "mx":
      return readHost(rest);
    case "ptr":
      return rest === "" ? { value: null, prefix: wholeAddress } : readDomain(rest);
    case "include":
    case "exists":
      return /^[:/]/.test(rest) ? readDomain(rest) : `"${mechanism}" needs a colon and a domain`;
  }
}

function readDomain(rest: string): Argument | string {
  if (!rest.startsWith(":")) return "a prefix length is for a, mx, ip4 and ip6 only";
  const domain = rest.slice(1);
  return domainSpecFault(domain) ?? { value: hostName(domain), prefix: wholeAddress };
}

function readHost(rest: string): Argument | string {
  const parts = HOST.exec(rest);
  if (parts === null) return `"${rest}" is neither a domain nor a prefix length`;
  const [, domain, prefix4, prefix6] = parts;
  const why = domain === undefined ? null : domainSpecFault(domain);
  const wrong = why ?? prefixFault(prefix4, 32) ?? prefixFault(prefix6, 128);
  if (wrong !== null) return wrong;
  return {
    value: domain === undefined ? null : hostName(domain),
    prefix: { ipv4: Number(prefix4 ?? 32), ipv6: Number(prefix6 ?? 128) },
  };
}

function readNetwork(mechanism: "ip4" | "ip6", rest: string): Argument | string {
  if (!rest.startsWith(":")) return `"${mechanism}" needs a colon and an address`;
  const slash = rest.indexOf("/");
  const address = rest.slice(1, slash < 0 ? undefined : slash);
  const prefix = slash < 0 ? undefined : rest.slice(slash + 1);
  const isRight = mechanism === "ip4" ? isIPv4(address) : isIPv6(address) && !address.includes("%");
  if (!isRight) return `"${address}" is not an IPv${mechanism.slice(2)} address`;
  const most = mechanism === "ip4" ? 32 : 128;
  const why = prefixFault(prefix, most);
  if (why !== null) return why;
  return {
    value: address.toLowerCase(),
    prefix: { ...wholeAddress, [mechanism === "ip4" ? "ipv4" : "ipv6"]: Number(prefix ?? most) },
  };
}

function prefixFault(prefix: string | undefined, most: number): string | null {
  if (prefix === undefined || (WHOLE_NUMBER.test(prefix) && Number(prefix) <= most)) return null;
  return `"/${prefix}" is not a prefix length from 0 to ${most}`;
}

function fault(why: string): SpfTerm {
  return { kind: "fault", why };
}

const hostName = (text: string): string => text.toLowerCase().replace(/\.$/, "");
