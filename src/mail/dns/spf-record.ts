/** The text of an SPF record (RFC 7208 sections 4.5, 4.6 and 12). A record with any syntax error counts for nothing. */
import { isIPv4, isIPv6 } from "node:net";

export interface SpfDirective {
  readonly qualifier: "+" | "-" | "~" | "?";
  readonly mechanism: "all" | "include" | "a" | "mx" | "ptr" | "ip4" | "ip6" | "exists";
  /** What stands after the colon, lower-case, a domain without the trailing dot; null when nothing does. */
  readonly value: string | null;
  /** How many bits of an address have to agree. */
  readonly prefix: { readonly ipv4: number; readonly ipv6: number };
}

export interface SpfRecord {
  /** In order, up to and including "all": nothing after it is ever read (section 5.1). */
  readonly directives: readonly SpfDirective[];
  /** Only where there is no "all" (section 6.1). */
  readonly redirect: string | null;
}

const DIRECTIVE =
  /^([-+~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::([^\s]+?))?(?:\/(\d{1,2}))?(?:\/\/(\d{1,3}))?$/i;
const IP6 = /^([-+~?]?)(ip6):([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=(\S*)$/i;

/** Whether a TXT record claims to be SPF. */
export function isSpfRecord(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/** A domain whose name depends on the mail at hand (section 7). */
export function hasMacro(domain: string): boolean {
  return domain.includes("%");
}

/** The record, or the term that is wrong. */
export function parseSpfRecord(text: string): SpfRecord | { readonly faulty: string } {
  const directives: SpfDirective[] = [];
  const modifiers = new Map<string, string>();
  for (const term of text.split(" ").slice(1)) {
    if (term === "") continue;
    const [, name, value] = MODIFIER.exec(term) ?? [];
    const directive = name === undefined ? parseDirective(term) : null;
    if (directive !== null) directives.push(directive);
    else if (name === undefined || value === undefined) return { faulty: term };
    else if (!acceptModifier(modifiers, name.toLowerCase(), value)) return { faulty: term };
  }
  const all = directives.findIndex((directive) => directive.mechanism === "all");
  if (all >= 0) return { directives: directives.slice(0, all + 1), redirect: null };
  return { directives, redirect: modifiers.get("redirect") ?? null };
}

/** "redirect" and "exp" stand once and name a domain; modifiers nobody knows are ignored (section 6). */
function acceptModifier(modifiers: Map<string, string>, name: string, value: string): boolean {
  if (name !== "redirect" && name !== "exp") return true;
  if (modifiers.has(name) || !isDomainSpec(value)) return false;
  modifiers.set(name, hostName(value));
  return true;
}

function parseDirective(term: string): SpfDirective | null {
  const [, qualifier, mechanism, value, prefix, secondPrefix] = IP6.exec(term) ?? DIRECTIVE.exec(term) ?? [];
  if (mechanism === undefined) return null;
  const directive = {
    qualifier: (qualifier || "+") as SpfDirective["qualifier"],
    mechanism: mechanism.toLowerCase() as SpfDirective["mechanism"],
    value: value === undefined ? null : hostName(value),
    prefix:
      mechanism.toLowerCase() === "ip6"
        ? { ipv4: 32, ipv6: Number(prefix ?? 128) }
        : { ipv4: Number(prefix ?? 32), ipv6: Number(secondPrefix ?? 128) },
  };
  return isWellFormed(directive, prefix, secondPrefix) ? directive : null;
}

function isWellFormed(
  { mechanism, value }: SpfDirective,
  prefix: string | undefined,
  prefix6: string | undefined,
) {
  const domain = value !== null && isDomainSpec(value);
  const plain = prefix === undefined && prefix6 === undefined;
  switch (mechanism) {
    case "all":
      return value === null && plain;
    case "include":
    case "exists":
      return domain && plain;
    case "ptr":
      return (value === null || domain) && plain;
    case "a":
    case "mx":
      return (value === null || domain) && Number(prefix ?? 0) <= 32 && Number(prefix6 ?? 0) <= 128;
    case "ip4":
      return value !== null && isIPv4(value) && Number(prefix ?? 0) <= 32 && prefix6 === undefined;
    case "ip6":
      return value !== null && isIPv6(value) && Number(prefix ?? 0) <= 128;
  }
}

/** Ends in a top-level label or in a macro (section 7.1, domain-end). */
function isDomainSpec(text: string): boolean {
  return /\.[a-z0-9-]*[a-z][a-z0-9-]*\.?$|%\{[^}]+\}$/i.test(text);
}

const hostName = (text: string): string => text.toLowerCase().replace(/\.$/, "");
