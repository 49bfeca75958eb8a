/**
 * Suggests a valid record in place of a faulty DMARC record. The suggestion is never weaker and keeps the report
 * addresses.
 */
import { cleanTxt, resembles } from "./txt-cleanup.ts";

const policies = ["none", "quarantine", "reject"] as const;
type Policy = (typeof policies)[number];

/** The start of a tag; long names are also recognized without a separator before them. */
const TAG =
  /(?:^|[^a-z0-9])(policy|np|sp|p|rua|ruf|pct|adkim|aspf|fo|rf|ri|psd|t)\s*[=:]|(rua|ruf|adkim|aspf|pct)\s*=|(?:^|[;\s])(np|sp|p)\s+(?=none|quarantine|reject)/gi;
const MOST_CHARACTERS = 4_096;

/** Whether a TXT record that receivers do not recognize was probably meant as a DMARC record. */
export function isMeantAsDmarc(text: string): boolean {
  const { plain } = cleanTxt(text.slice(0, MOST_CHARACTERS));
  const [, version = ""] = /^(?:v\s*[=:]?\s*)?([a-z]+-?[a-z]*)/i.exec(plain) ?? [];
  return (
    /^d-?marc/i.test(version) ||
    resembles(version.toLowerCase(), "dmarc") ||
    /(?:^|;)\s*p\s*[=:]\s*(?:none|quarantine|reject)\b/i.test(plain)
  );
}

/**
 * Merges all published records into one: the strictest policy, all report addresses, and the first value of every other
 * tag. Null if they contain no tag.
 */
export function repairDmarc(texts: readonly string[]): string | null {
  const plain = texts.map((text) => cleanTxt(text.slice(0, MOST_CHARACTERS)).plain).join("; ");
  const found = [...plain.matchAll(TAG)];
  const tags = new Map<string, string[]>();
  for (const [at, match] of found.entries()) {
    const name = (match[1] ?? match[2] ?? match[3] ?? "").toLowerCase().replace("policy", "p");
    const value = plain.slice(match.index + match[0].length, found[at + 1]?.index);
    tags.set(name, [...(tags.get(name) ?? []), value]);
  }
  if (tags.size === 0) return null;
  const policy = strictest(tags.get("p") ?? []) ?? "none";
  const others = [...tags].flatMap(([name, values]) => {
    const value = name === "p" ? null : intendedValue(name, values);
    return value === null ? [] : [`${name}=${value}`];
  });
  return ["v=DMARC1", `p=${policy}`, ...others].join("; ");
}

function intendedValue(name: string, values: readonly string[]): string | null {
  const [first = ""] = values;
  const inFirst = (form: RegExp) => form.exec(first)?.[0].toLowerCase() ?? null;
  switch (name) {
    case "sp":
    case "np":
      return strictest(values);
    case "rua":
    case "ruf":
      return [...new Set(values.flatMap(reportUris))].join(",") || null;
    case "pct": {
      const percent = inFirst(/\d+/);
      return percent !== null && Number(percent) <= 100 ? percent : null;
    }
    case "adkim":
    case "aspf":
      return /^\W*([rs])/i.exec(first)?.[1]?.toLowerCase() ?? null;
    case "fo":
      return inFirst(/[01ds](?:\s*[:,]\s*[01ds])*/i)?.replace(/\s*[:,]\s*/g, ":") ?? null;
    case "ri":
      return inFirst(/\d+/);
    default:
      return inFirst(/[a-z]+/i);
  }
}

function strictest(values: readonly string[]): Policy | null {
  const places = values.map((value) => policies.indexOf(intendedPolicy(value) ?? "none"));
  const isSaid = values.some((value) => intendedPolicy(value) !== null);
  return isSaid ? (policies[Math.max(...places)] ?? null) : null;
}

/** Reads misspelled policies, such as "rejected", "quarentine" or "'reject'". */
function intendedPolicy(value: string): Policy | null {
  const word = /[a-z]+/i.exec(value)?.[0].toLowerCase() ?? "";
  return policies.find((policy) => resembles(word, policy) || word.startsWith(policy)) ?? null;
}

/** The e-mail addresses in a text as mailto URIs with their size limits, and its web addresses. */
function reportUris(value: string): string[] {
  const text = value.replace(/\bmail(?:to)?\s*[=:;]\s*\/*/gi, " ");
  const web = text.match(/https?:\/\/[^\s,;<>"'|]+/gi) ?? [];
  const mail = text.match(/[^\s:@,;<>"'|()/]+@[^\s@,;<>"'|()!]+(?:![0-9]+[kmgt]?)?/gi) ?? [];
  return [...mail.map((address) => `mailto:${address.replace(/\.+$/, "")}`), ...web];
}
