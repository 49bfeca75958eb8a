/**
 * Who sent a received mail, as far as DNS proves it: SPF (RFC 7208) and DMARC (RFC 9989) by mailauth, and the DKIM signatures
 * that the parsing thread has verified. Each
 * kind of look-up has a deadline, after which its outcome is `temperror`.
 */
import { dmarc } from "mailauth/lib/dmarc/index.js";
import { spf } from "mailauth/lib/spf/index.js";
import type { NetworkResolver } from "#dns/network-resolver.ts";
import type { Lookup, MxRecord } from "#dns/resolver-interface.ts";
import type { KeyRecords, VerifiedSignatures } from "#inbound/parsing/verify-signatures.ts";
import { domainInALabels, domainOf } from "#mail/address.ts";
import { inTime } from "#platform/in-time.ts";

export const spfResults = ["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"] as const;
export const dmarcResults = ["pass", "fail", "none", "temperror", "permerror"] as const;

export interface Authentication {
  readonly spf: (typeof spfResults)[number];
  /** The domain that SPF was checked for: of the envelope sender, or of EHLO if that is the null sender. */
  readonly spf_domain: string;
  readonly dkim: VerifiedSignatures["signatures"];
  readonly dmarc: (typeof dmarcResults)[number];
  /** The policy that applies to mail that fails; null without a record. */
  readonly dmarc_policy: string | null;
}

/** For the look-ups of the keys, for those of SPF, and for those of DMARC: they follow each other. */
export const LOOK_UP_MS = 15_000;

export type MailResolver = Pick<NetworkResolver, "txt" | "mx" | "ipv4" | "ipv6" | "cname" | "ptr">;

export interface SendingClient {
  readonly remote_ip: string;
  readonly helo: string;
  readonly mail_from: string;
}

/** The records of DKIM keys, by their names. */
export async function findKeyRecords(resolver: MailResolver, names: readonly string[]): Promise<KeyRecords> {
  const records = names.map(async (name) => {
    const answer = await inTime(LOOK_UP_MS, resolver.txt(name), late).catch(() => null);
    return [name, foundOf(answer)] as const;
  });
  return Object.fromEntries(await Promise.all(records));
}

/**
 * @param hostname the name of this server, for macros of SPF
 * @param from the address in From as it is shown: a domain that mailauth reads differently does not pass
 */
export async function authenticate(
  resolver: MailResolver,
  hostname: string,
  { remote_ip, helo, mail_from }: SendingClient,
  { signatures, headerFrom, fromFields }: VerifiedSignatures,
  from: string | null,
): Promise<Authentication> {
  const look = lookUp(resolver);
  const asking = spf({
    ip: remote_ip,
    helo,
    sender: mail_from,
    mta: hostname,
    resolver: look,
    maxElapsedTime: LOOK_UP_MS,
  });
  const checked = await inTime(LOOK_UP_MS, asking, late).catch(() => null);
  const spfResult = spfResults.find((known) => known === checked?.status.result) ?? "temperror";
  const spf_domain = mail_from === "" ? helo : domainOf(mail_from);
  const passed = signatures.filter(({ result }) => result === "pass");
  const asked = dmarc({
    headerFrom: [...headerFrom],
    fromFields,
    spfDomains: spfResult === "pass" ? [spf_domain] : [],
    dkimDomains: passed.map(({ domain }) => ({ domain })),
    resolver: look,
  });
  const policy = await inTime(LOOK_UP_MS, asked, late).catch(() => null);
  const isShown = policy && isSameDomain(policy.status.header?.from, from);
  const result = policy === false ? "none" : isShown ? policy.status.result : "permerror";
  return {
    spf: spfResult,
    spf_domain: spf_domain.slice(0, 253),
    dkim: signatures,
    dmarc: policy === null ? "temperror" : (dmarcResults.find((known) => known === result) ?? "temperror"),
    dmarc_policy: policy === false ? null : (policy?.policy ?? null),
  };
}

const late = () => new Error("no answer in time");

function isSameDomain(evaluated: string | undefined, from: string | null): boolean {
  const plain = (domain: string) => domainInALabels(domain).toLowerCase().replace(/\.$/, "");
  return evaluated !== undefined && from !== null && plain(evaluated) === plain(domainOf(from));
}

function foundOf(answer: Lookup<string> | null): readonly string[] | null {
  if (answer === null || answer.outcome === "failed") return null;
  return answer.outcome === "found" ? answer.records : [];
}

type LookUp = (name: string, type: string) => Promise<string[] | string[][]>;

/** Look-ups in the form of Node.js's resolver, as mailauth wants them. */
function lookUp(resolver: MailResolver): LookUp {
  return async (name, type) => {
    switch (type) {
      case "TXT":
        return recordsOf(await resolver.txt(name)).map((record) => [record]);
      case "MX":
        return mxRecords(recordsOf(await resolver.mx(name)));
      case "A":
        return recordsOf(await resolver.ipv4(name));
      case "AAAA":
        return recordsOf(await resolver.ipv6(name));
      case "CNAME":
        return recordsOf(await resolver.cname(name));
      case "PTR":
        return recordsOf(await resolver.ptr(name));
      default:
        throw Object.assign(new Error(`no look-up of ${type}`), { code: "ENOTIMP" });
    }
  };
}

/** As Node.js gives them, which the types of mailauth do not say. */
function mxRecords(records: readonly MxRecord[]): string[] {
  return records.map(({ exchange, preference: priority }) => ({ exchange, priority })) as unknown as string[];
}

/** @throws an Error with a code of Node.js's resolver */
function recordsOf<Data>(answer: Lookup<Data>): Data[] {
  if (answer.outcome === "found") return [...answer.records];
  const code =
    answer.outcome === "failed" ? "ETIMEOUT" : answer.reason === "nxdomain" ? "ENOTFOUND" : "ENODATA";
  throw Object.assign(new Error(`DNS look-up: ${code}`), { code });
}
