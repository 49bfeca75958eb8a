/**
 * Suggests valid terms in place of the faulty terms of an SPF record, so that a suggested record keeps what it permits.
 * A term whose meaning would be a guess is left out, with the reason.
 */
import { isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { splitJoinedTerms } from "./spf-joined-terms.ts";
import { termsOf } from "./spf-record.ts";
import { isValidTerm, mechanisms, readTerm } from "./spf-term.ts";
import { cleanTxt, resembles } from "./txt-cleanup.ts";

/** The terms of a suggested SPF record. */
export interface RepairedTerms {
  /** Valid terms, in the order of the record. */
  readonly terms: readonly string[];
  /** The terms that were rewritten, and those that were left out. */
  readonly changes: readonly { readonly from: string; readonly to: readonly string[] }[];
  readonly leftOut: readonly { readonly term: string; readonly why: string }[];
}

/** Characters that are read: no record that receivers accept is longer. */
const MOST_CHARACTERS = 16_384;
/** The version, in correct and misspelled forms. */
const VERSION =
  /^(?:v?\s*[=:-]?\s*)?(?:spf|sfp)\s*=?\s*(?:v?[12l](?:\.[0-9])?(?:\/[a-z,]+)?)?(?![\d.])\s*[,;:.]?\s*/i;
const MEANS_SPF =
  /(?:include|ip[46]?|ipv[46]|redirect|exists|mx|a)\s*[:=]|[-~?+]\s*all\b|(?:^|\s)(?:mx|a|all)(?:\s|$)/i;

/** Whether a TXT record that receivers do not recognize was probably meant as SPF. */
export function isMeantAsSpf(text: string): boolean {
  const { plain } = cleanTxt(text.slice(0, MOST_CHARACTERS));
  return (
    /^v=spf1(?: |$)/i.test(plain) || (VERSION.test(plain) && MEANS_SPF.test(plain.replace(VERSION, " ")))
  );
}

/** Repairs the terms of an SPF record. A text that receivers do not recognize as SPF is cleaned first. */
export function repairSpf(text: string): RepairedTerms {
  const exact = /^v=spf1(?: |$)/i.test(text);
  const written = exact ? text : cleanTxt(text.slice(0, MOST_CHARACTERS)).plain;
  const found = exact ? termsOf(text) : written.replace(VERSION, "").split(" ").filter(Boolean);
  const terms: string[] = [];
  const changes: { from: string; to: string[] }[] = [];
  const leftOut: { term: string; why: string }[] = [];
  for (const term of joinedParts(found)) {
    const to = repairedTerm(term);
    const read = readTerm(term);
    if (to === null) {
      leftOut.push({ term, why: read.kind === "fault" ? read.why : "its meaning is unclear" });
      continue;
    }
    const kept = to.filter((one) => !/^v=spf1$/i.test(one));
    if (to.length !== 1 || to[0] !== term) changes.push({ from: term, to: kept });
    terms.push(...kept);
  }
  return { terms, changes, leftOut };
}

const NEEDS_ARGUMENT = /^[-+~?]?(?:include|exists|ip[46]?|ipv[46]|redirect|exp)[:=]?$/i;

/** Joins the parts of one term that blanks separate: "include: a.example", "ip4:192.0.2.0 /24", "~ all". */
function joinedParts(parts: readonly string[]): string[] {
  const terms: string[] = [];
  for (const part of parts) {
    const last = terms.at(-1);
    const isBare = !isValidTerm(part) && repairedTerm(part) === null;
    const argument = part.replace(/^[:=]/, "");
    const word = mechanismNameOf(last?.replace(/[:=]$/, "") ?? "");
    const isNetwork = argument !== "" && (isBare || addressTerm(argument) !== null || part !== argument);
    if (last === undefined) terms.push(part);
    else if (/^[-+~?]$/.test(last) && !/^[-+~?]/.test(part)) terms[terms.length - 1] = last + part;
    else if ((/^[:=/]/.test(part) || last.endsWith("/")) && isValidTerm(last + part)) {
      terms[terms.length - 1] = last + part;
    } else if (
      (NEEDS_ARGUMENT.test(last) || word === "include" || /[:=]$/.test(last)) &&
      isUnfinished(last)
    ) {
      if (isNetwork) terms[terms.length - 1] = `${last.replace(/[:=]$/, "")}:${argument}`;
      else if (argument === "") terms[terms.length - 1] = `${last.replace(/[:=]$/, "")}:`;
      else terms.push(part);
    } else terms.push(part);
  }
  return terms;
}

/** Whether a term is a mechanism without its required argument. */
function isUnfinished(term: string): boolean {
  return !isValidTerm(term) && /^[-+~?]?[a-z]+[46]?[:=]?$/i.test(term);
}

/** The valid terms that a term stands for; null if its meaning is unclear. */
function repairedTerm(term: string, depth = 0): string[] | null {
  const read = readTerm(term);
  if (read.kind === "directive") return [term];
  if (read.kind === "modifier") {
    const isMechanism = mechanisms.some((mechanism) => mechanism === read.name);
    return isMechanism ? repaired(term) : [term];
  }
  if (depth > 2) return null;
  const parts = term.split(/[,;|](?![^{]*\})/).filter(Boolean);
  if (parts.length > 1 || (parts.length === 1 && parts[0] !== term)) {
    return allRepaired(parts, depth) ?? withSharedMechanism(parts) ?? repaired(term);
  }
  const plain = cleanTxt(term)
    .plain.replace(/^[\s,;|.'"()[\]<>]+/, "")
    .replace(/[\s,;|.'"()[\]<>]+$/, "");
  if (plain === "") return [];
  if (isValidTerm(plain) && plain !== term) return repairedTerm(plain, depth + 1);
  return (
    splitJoinedTerms(plain) ??
    repaired(plain) ??
    (plain !== term ? allRepaired(plain.split(" "), depth) : null)
  );
}

/** The terms of "include:a.example,b.example", where only the first names the mechanism. */
function withSharedMechanism([first = "", ...rest]: readonly string[]): string[] | null {
  const [name] = /^[-+~?]?(?:include|a|mx|exists):/i.exec(first) ?? [];
  if (name === undefined || !isValidTerm(first)) return null;
  const terms = rest.map((part) => (isValidTerm(part) && part.includes(":") ? part : name + part));
  return terms.every(isValidTerm) ? [first, ...terms] : null;
}

function allRepaired(parts: readonly string[], depth: number): string[] | null {
  const mended = parts.map((part) => repairedTerm(part, depth + 1));
  return mended.every((one) => one !== null) ? mended.flat() : null;
}

/** Repairs the name, separator or argument of one term. */
function repaired(term: string): string[] | null {
  if (/^[-+~?]?al{2,}[.:=]?$/i.test(term)) return [`${/^[-+~?]/.exec(term)?.[0] ?? ""}all`];
  if (/^[-~?]al$/i.test(term)) return [`${term}l`];
  const address = addressTerm(term);
  if (address !== null) return [address];
  const [, signs = "", word = "", separator = "", rest = ""] =
    OTHER_SEPARATOR.exec(term) ?? /^([-+~?]*)([^:=/]*)([:=]?)(.*)$/s.exec(term) ?? [];
  const name = mechanismNameOf(word);
  const qualifier = new Set(signs).size <= 1 ? signs.slice(0, 1) : null;
  if (name === null || qualifier === null) return null;
  if (name === "redirect" || name === "exp") return repairedModifier(argumentOf(name, rest, ""));
  const candidates = [argumentOf(name, rest, qualifier)];
  if ((name === "a" || name === "mx" || name === "ptr") && separator !== "" && rest === "") {
    candidates.push(`${qualifier}${name}`);
  }
  const mended = candidates.find((one) => one !== null && isValidTerm(one));
  return mended == null ? null : [mended];
}

/** Mechanisms that need an argument, with another separator than the colon: "include;a.example", "ip4.192.0.2.1". */
const OTHER_SEPARATOR = /^([-+~?]*)(include|ip4|ip6|exists)([.;,_-])(.+)$/is;

/** A modifier has no qualifier. */
function repairedModifier(term: string | null): string[] | null {
  return term !== null && isValidTerm(term) ? [term] : null;
}

/** The mechanism or modifier that a word names, also if misspelled. */
function mechanismNameOf(written: string): string | null {
  const word = written.replace(/^[-+~?]/, "").toLowerCase();
  if (/^ip[-_]?v?[-_]?[46]?$/.test(word)) return "ip";
  const exact = [...mechanisms, "redirect", "exp"].find((known) => known === word);
  return exact ?? ["include", "redirect", "exists"].find((known) => resembles(word, known)) ?? null;
}

function argumentOf(name: string, rest: string, qualifier: string): string | null {
  const address = addressTerm(rest);
  if (address !== null && ["ip", "ip4", "ip6", "a", "mx", "include"].includes(name))
    return qualifier + address;
  if (name === "ip" || name === "ip4" || name === "ip6" || name === "all") return null;
  const separator = name === "redirect" || name === "exp" ? "=" : ":";
  const [, scheme = "", body = ""] = /^([a-z]+:\/\/)?(.*)$/is.exec(rest) ?? [];
  const bare = scheme === "" && name !== "include" ? body : body.replace(/\/.*$/s, "");
  const host = bare.replace(/^[.:<([]+|[>)\]/]+$/g, "").replace(/\.{2,}/g, ".");
  const [stem = "", prefix] = host.split(/(?=\/)/);
  const ascii = /[^\x20-\x7e]/.test(stem) ? domainToASCII(stem) : stem;
  return ascii === "" ? null : `${qualifier}${name}${separator}${ascii}${prefix ?? ""}`;
}

/** An ip4 or ip6 term for an address or a network, whatever mechanism was written before it. */
function addressTerm(text: string): string | null {
  const [, address = "", slashes, suffix] =
    /^\[?([0-9a-f:.]+)\]?(?:(\/{1,2})([\d.]+))?\/?$/i.exec(text) ?? [];
  const family = isIPv4(address) ? 4 : isIPv6(address) ? 6 : null;
  if (family === null) return null;
  const prefix = suffix?.includes(".") ? prefixOfMask(suffix) : suffix;
  if (prefix === null) return null;
  const term = `ip${family}:${address}${slashes === undefined ? "" : `/${prefix}`}`;
  return isValidTerm(term) ? term : null;
}

/** The prefix length of a network mask: "24" for 255.255.255.0; null if the text is not a mask. */
function prefixOfMask(mask: string): string | null {
  if (!isIPv4(mask)) return null;
  const bits = mask
    .split(".")
    .map((octet) => Number(octet).toString(2).padStart(8, "0"))
    .join("");
  return /^1*0*$/.test(bits) ? String(bits.replace(/0+$/, "").length) : null;
}
