/**
 * The DMARC policy of a domain: parses the record (RFC 7489 section 6.3, RFC 9989 section 4.7) and finds it at the
 * domain or at its organizational domain by the public suffix list.
 */
import { getDomain } from "tldts";
import { lookUpFault } from "#dns/look-up-fault.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import { isMeantAsDmarc } from "./dmarc-repair.ts";
import { findMisplaced, misplacedRecordMessage } from "./misplaced-record.ts";
import { decodedText, unrecognizedRecordMessage } from "./txt-cleanup.ts";

export type DmarcDisposition = "none" | "quarantine" | "reject";
type Alignment = "relaxed" | "strict";

/** A parsed DMARC record; missing tags have their defaults. */
export interface DmarcRecord {
  readonly policy: DmarcDisposition;
  /** For subdomains, and for subdomains that do not exist. */
  readonly subdomainPolicy: DmarcDisposition;
  readonly nonexistentPolicy: DmarcDisposition;
  readonly dkimAlignment: Alignment;
  readonly spfAlignment: Alignment;
  /** RFC 9989 "t=y": receivers apply the policy one step weaker. */
  readonly testing: boolean;
  /** Percentage of failing mail that the policy applies to, 0 to 100; RFC 9989 removed it. */
  readonly percent: number;
  /** URIs of aggregate and of failure reports. */
  readonly aggregateReports: readonly string[];
  readonly failureReports: readonly string[];
}

/** The result of checking the DMARC record of a domain. */
export interface DmarcCheck {
  readonly status: "verified" | "missing" | "mismatch" | "error";
  /** The name of the record found, or the name where the domain's own record belongs. */
  readonly host: string;
  /** Every TXT record there that begins like a DMARC record. */
  readonly found: readonly string[];
  /** The wrong name at which they were found; null for `host`. */
  readonly foundHost: string | null;
  /** The policy that applies to this domain; null unless verified. */
  readonly policy: DmarcDisposition | null;
  readonly record: DmarcRecord | null;
  readonly message: string;
}

/**
 * Finds and checks the DMARC record that applies to a domain. Like a receiver it ignores an invalid record and uses the
 * one of the organizational domain. A DNS failure gives the status "error": the check is inconclusive.
 */
export async function checkDmarc(resolver: Resolver, domain: string): Promise<DmarcCheck> {
  const name = domain.toLowerCase();
  const own = await checkAt(resolver, name);
  const parent = organisationalDomain(name);
  if (parent === name) return own.status === "missing" ? checkMisplaced(resolver, name, own) : own;
  if (own.status === "verified" || own.status === "error") return own;
  const inherited = await checkAt(resolver, parent);
  if (inherited.record !== null) {
    const message = `${inherited.message} It applies to ${name} as a subdomain.`;
    return { ...inherited, policy: inherited.record.subdomainPolicy, message };
  }
  if (inherited.status === "error") return inherited;
  if (own.status !== "missing") return own;
  return inherited.status === "mismatch" ? inherited : checkMisplaced(resolver, name, own);
}

/** Checks whether a missing record is published at a wrong name. */
async function checkMisplaced(resolver: Resolver, domain: string, missing: DmarcCheck): Promise<DmarcCheck> {
  const { host } = missing;
  const misplaced = await findMisplaced(resolver, host, [`dmarc.${domain}`, domain], isMeantAsDmarc);
  if (misplaced === null) return missing;
  const message = misplacedRecordMessage("DMARC", misplaced.host, host);
  return { ...missing, status: "mismatch", found: misplaced.texts, foundHost: misplaced.host, message };
}

/** The registrable domain (RFC 7489 section 3.2), or the name itself if it has none. */
export function organisationalDomain(domain: string): string {
  return getDomain(domain, { allowPrivateDomains: true }) ?? domain;
}

async function checkAt(resolver: Resolver, domain: string): Promise<DmarcCheck> {
  const host = `_dmarc.${domain}`;
  const answer = await resolver.txt(host);
  const found =
    answer.outcome === "found"
      ? answer.records.filter((text) => /^v[ \t\r\n]*=[ \t\r\n]*DMARC1[ \t\r\n]*(;|$)/i.test(text))
      : [];
  const conclude = (
    status: DmarcCheck["status"],
    message: string,
    record: DmarcRecord | null = null,
  ): DmarcCheck => ({
    status,
    host,
    found,
    foundHost: null,
    policy: record?.policy ?? null,
    record,
    message,
  });
  if (answer.outcome === "failed") return conclude("error", lookUpFault(host, answer));
  const [text] = found;
  if (text === undefined) {
    const texts = answer.outcome === "found" ? answer.records.map(decodedText) : [];
    const meant = texts.filter(isMeantAsDmarc);
    if (meant.length > 0)
      return { ...conclude("mismatch", unrecognizedRecordMessage("DMARC", meant)), found: meant };
    return conclude("missing", `${host} has no DMARC record.`);
  }
  if (found.length > 1)
    return conclude("mismatch", `${host} has ${found.length} DMARC records; receivers ignore them all.`);
  const invalid = ({ fault }: RecordFault) =>
    conclude("mismatch", `The DMARC record at ${host} is invalid: ${fault}.`);
  const tags = readTags(text);
  if ("fault" in tags) return invalid(tags);
  const record = recordOf(tags);
  if ("fault" in record) return invalid(record);
  const published = `${host} publishes the policy p=${record.policy}.`;
  return conclude("verified", [published, ...valueRemarks(tags)].join(" "), record);
}

const REPORT_URI = /^(?:mailto:[^\s/@:]+@[^\s@]+|https?:\S+)$/i;
const READABLE = new Map([
  ["sp", /^(?:none|quarantine|reject)$/i],
  ["np", /^(?:none|quarantine|reject)$/i],
  ["adkim", /^[rs]$/i],
  ["aspf", /^[rs]$/i],
  ["pct", /^(?:\d\d?|100)$/],
]);

interface Tag {
  /** Lower case. */
  readonly name: string;
  readonly value: string;
  /** Name and value as published. */
  readonly written: string;
}

interface RecordFault {
  readonly fault: string;
}

/** The tags of a record in order (RFC 7489 section 6.4), or the syntax error. */
function readTags(text: string): readonly Tag[] | RecordFault {
  const tags: Tag[] = [];
  const names = new Set<string>();
  for (const part of text.split(";")) {
    const written = part.trim();
    if (written === "") continue;
    const [, name, given] = /^[ \t\r\n]*([a-z]\w*)[ \t\r\n]*=(.*)$/is.exec(part) ?? [];
    const value = given?.replace(/^[ \t\r\n]+/, "").replace(/(?<![ \t\r\n])[ \t\r\n]+$/, "");
    if (name === undefined || value === undefined) return { fault: `"${written}" is not a tag with a value` };
    const key = name.toLowerCase();
    if (names.has(key)) return { fault: `the tag "${name}" occurs twice` };
    names.add(key);
    tags.push({ name: key, value, written });
  }
  return tags;
}

/**
 * One sentence for each value that receivers ignore although the record is valid. Addresses for reports must be URIs.
 */
function valueRemarks(tags: readonly Tag[]): string[] {
  return tags.flatMap(({ name, value, written }) => {
    if (name === "rua" || name === "ruf")
      return value.split(",").flatMap((uri) => uriRemark(name, uri.trim()));
    const isIgnored = READABLE.get(name)?.test(value) === false;
    return isIgnored ? `Receivers ignore "${written.slice(0, 150)}", because its value is invalid.` : [];
  });
}

function uriRemark(tag: string, uri: string): string[] {
  if (uri === "" || REPORT_URI.test(uri)) return [];
  return [
    `Receivers ignore "${uri.slice(0, 150)}" in ${tag}=: write "mailto:" in front of each address, and commas between them.`,
  ];
}

/**
 * Parses a record. "v=DMARC1" must come first and "p" must have a known value; other unknown tags or values are treated
 * as absent.
 */
export function parseDmarcRecord(text: string): DmarcRecord | RecordFault {
  const read = readTags(text);
  return "fault" in read ? read : recordOf(read);
}

function recordOf(read: readonly Tag[]): DmarcRecord | RecordFault {
  const [version] = read;
  if (version?.name !== "v" || version.value !== "DMARC1")
    return { fault: 'it does not begin with "v=DMARC1"' };
  const tags = new Map(read.map(({ name, value }) => [name, value]));
  const policy = disposition(tags.get("p"));
  if (policy === null) return { fault: 'it has no "p=none", "p=quarantine" or "p=reject"' };
  const subdomainPolicy = disposition(tags.get("sp")) ?? policy;
  return {
    policy,
    subdomainPolicy,
    nonexistentPolicy: disposition(tags.get("np")) ?? subdomainPolicy,
    dkimAlignment: alignment(tags.get("adkim")),
    spfAlignment: alignment(tags.get("aspf")),
    testing: tags.get("t")?.toLowerCase() === "y",
    percent: /^(\d\d?|100)$/.test(tags.get("pct") ?? "") ? Number(tags.get("pct")) : 100,
    aggregateReports: uris(tags.get("rua")),
    failureReports: uris(tags.get("ruf")),
  };
}

function disposition(value: string | undefined): DmarcDisposition | null {
  const word = value?.toLowerCase();
  return word === "none" || word === "quarantine" || word === "reject" ? word : null;
}

function alignment(value: string | undefined): Alignment {
  return value?.toLowerCase() === "s" ? "strict" : "relaxed";
}

/** Splits a comma-separated list of URIs and removes RFC 7489's size limits ("!10m"). */
function uris(value: string | undefined): string[] {
  const items = (value ?? "").split(",").map((uri) => uri.trim().replace(/![0-9]+[kmgt]?$/i, ""));
  return items.filter((uri) => URL.canParse(uri));
}
