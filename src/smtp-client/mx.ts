/**
 * Which hosts take the mail of a domain (RFC 5321 section 5.1): its MX by preference, hosts of equal preference in
 * random order, or the domain itself where it has no MX. A null MX (RFC 7505) or a name that does not exist speaks
 * against the address; a DNS that does not answer speaks against nobody, and the message waits.
 *
 * The zone belongs to a stranger. A host whose addresses are not public is not talked to, so that nobody can point
 * us at this machine, its network or a cloud's metadata service.
 */
import { isIP } from "node:net";
import type { Lookup, LookupOptions, MxRecord, Resolver } from "#dns/resolver.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";
import type { TlsDemand } from "./tls.ts";

const MOST_HOSTS = 10;
const MOST_ADDRESSES = 30;

export interface MailHost {
  readonly name: string;
  /** In the order to try them; never empty. */
  readonly addresses: readonly string[];
  /** There where DNSSEC vouches for its name. */
  readonly proof?: HostProof;
  /** What TLS with it has to prove; without it any will do, and clear text where there is none. */
  readonly tls?: TlsDemand;
  /** Never in clear text: its own lane demands it, whatever lane its domain's mail is in. */
  readonly isTlsRequired?: boolean;
}

/** What else DNSSEC says of a host. */
export interface HostProof {
  /** It vouches for the addresses, too. */
  readonly hasSecureAddresses: boolean;
  /** The name that the addresses stand under, where the host's own is an alias. */
  readonly aliasOf?: string;
}

/** There is nobody to talk to. */
export interface Unroutable {
  readonly outcome: "unroutable";
  /** `bounced`: the address can never work. `failed`: we will not go there. `deferred`: nobody could tell us. */
  readonly status: "bounced" | "failed" | "deferred";
  /** RFC 3463, with the additions of RFC 7505. */
  readonly enhanced: string;
  readonly reason: string;
  /** Of `deferred`: our own DNS servers said nothing at all. That is no fault of the domain's, and no attempt. */
  readonly isUnanswered?: true;
  /** Of `isUnanswered`: they answered other look-ups meanwhile. It is looked up again soon, and then is an attempt. */
  readonly othersAnswered?: true;
}

/** None of the hosts of a domain can be talked to. */
export interface NoMailHosts extends Unroutable {
  /** How they are called nevertheless, the best first; left out where it has none, or DNS does not name them now. */
  readonly hostNames?: readonly string[];
}

export type MailHosts = { readonly outcome: "found"; readonly hosts: readonly MailHost[] } | NoMailHosts;

export interface MailHostOptions {
  /** Talk to hosts on private and loopback addresses, too. */
  readonly allowPrivate: boolean;
  /** From 0 to below 1, decides between hosts of equal preference. */
  readonly random?: (() => number) | undefined;
  /** For all look-ups together; without it each look-up has the resolver's own deadline and no other. */
  readonly deadlineMs?: number | undefined;
}

/** Finds the hosts in the order to try them; at most 10 hosts and 30 addresses are considered. Never rejects. */
export async function findMailHosts(
  resolver: Pick<Resolver, "mx" | "ipv4" | "ipv6">,
  domain: string,
  options: MailHostOptions,
): Promise<MailHosts> {
  const { deadlineMs } = options;
  const { promise: late, resolve } = Promise.withResolvers<Lookup<never>>();
  const overdue = () => resolve({ outcome: "failed", reason: "ETIMEOUT", isUnanswered: true });
  const timer = deadlineMs === undefined ? undefined : setTimeout(overdue, deadlineMs);
  const lookBy = (how: LookupOptions): Look => ({
    mx: (name) => Promise.race([resolver.mx(name, how), late]),
    addresses: (name) =>
      Promise.all([
        Promise.race([resolver.ipv4(name, how), late]),
        Promise.race([resolver.ipv6(name, how), late]),
      ]),
  });
  try {
    const answer = await locate(lookBy({}), domain, options);
    // A bounce suppresses the address, and servers do now and then deny a name in error: they are asked twice.
    return isAbsence(answer) ? await locate(lookBy({ isFresh: true }), domain, options) : answer;
  } finally {
    clearTimeout(timer);
  }
}

/** One name for everybody who is served by the same hosts, whatever the order: mail for one site shares connections. */
export function siteName(hostNames: readonly string[]): string {
  return [...new Set(hostNames)].sort().join(",");
}

export interface Look {
  readonly mx: (name: string) => Promise<Lookup<MxRecord>>;
  readonly addresses: (name: string) => Promise<[Lookup<string>, Lookup<string>]>;
}

async function locate(look: Look, domain: string, options: MailHostOptions): Promise<MailHosts> {
  const answer = await look.mx(domain);
  if (answer.outcome === "failed") return undecided(domain, answer);
  if (answer.outcome === "absent" && answer.reason === "nxdomain")
    return unroutable("bounced", "5.1.2", `the domain ${domain} does not exist`);

  const isImplicit = answer.outcome === "absent";
  const records = isImplicit ? [{ preference: 0, exchange: domain }] : answer.records;
  const exchanges = considered(records, options.random ?? Math.random);
  if (exchanges.length === 0)
    return unroutable("bounced", "5.1.10", `the domain ${domain} takes no mail (null MX)`);

  const candidates = await Promise.all(
    exchanges.map(({ exchange }) => lookUpHost(look, exchange, options.allowPrivate)),
  );
  const reachable = candidates.filter(({ usable }) => usable.length > 0);
  const hosts = reachable.map(({ name, usable, proof }) => ({
    name,
    addresses: usable,
    ...(answer.isSecure === true && { proof }),
  }));
  if (hosts.length > 0) return { outcome: "found", hosts: limited(hosts) };
  const none = whyNone(domain, candidates, isImplicit);
  return none.status === "bounced" ? none : { ...none, hostNames: candidates.map(({ name }) => name) };
}

/** The records worth a look, in the order to try them. The choice is by name, so that a site keeps its hosts. */
function considered(records: readonly MxRecord[], random: () => number): MxRecord[] {
  const byPreference = records
    .filter(({ exchange }) => exchange !== "")
    .toSorted((a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1));
  // Of a host listed twice the first entry, which is the last to be put in, stays.
  const once = new Map(byPreference.toReversed().map((record) => [record.exchange, record]));
  return byPreference
    .filter((record) => once.get(record.exchange) === record)
    .slice(0, MOST_HOSTS)
    .map((record) => ({ record, lot: random() }))
    .sort((a, b) => a.record.preference - b.record.preference || a.lot - b.lot)
    .map(({ record }) => record);
}

export type LookupFailure = Extract<Lookup<never>, { outcome: "failed" }>;
type Silence = Pick<LookupFailure, "isUnanswered" | "othersAnswered">;

/** A host and what came of looking it up. */
export interface Candidate {
  readonly name: string;
  readonly usable: readonly string[];
  readonly forbidden: readonly string[];
  readonly failure: LookupFailure | null;
  readonly proof: HostProof;
}

/** Which addresses of one mail host may be talked to. */
export async function lookUpHost(
  look: Pick<Look, "addresses">,
  exchange: string,
  allowPrivate: boolean,
): Promise<Candidate> {
  const isLiteral = isIP(exchange) !== 0;
  const lookups: readonly Lookup<string>[] = isLiteral ? [] : await look.addresses(exchange);
  // IPv4 first: few machines have a route and a good name in IPv6.
  const found = lookups.flatMap((lookup) => (lookup.outcome === "found" ? lookup.records : []));
  const addresses = isLiteral ? [exchange] : found;
  // RFC 5321 section 5.1: an MX names a host; one that is an address has never been through anybody's checks.
  const mayUse = (address: string) => allowPrivate || (!isLiteral && isPublicAddress(address));
  const isProven = (lookup: Lookup<string>) => lookup.outcome !== "found" || lookup.isSecure === true;
  const [aliasOf] = lookups.flatMap((lookup) => ("aliasOf" in lookup ? [lookup.aliasOf] : []));
  return {
    name: exchange,
    usable: addresses.filter(mayUse),
    forbidden: addresses.filter((address) => !mayUse(address)),
    failure: foremost(lookups.filter((lookup) => lookup.outcome === "failed")),
    proof: {
      hasSecureAddresses: !isLiteral && lookups.every(isProven),
      ...(aliasOf !== undefined && { aliasOf }),
    },
  };
}

function whyNone(domain: string, candidates: readonly Candidate[], isImplicit: boolean): Unroutable {
  const failure = foremost(candidates.flatMap((candidate) => candidate.failure ?? []));
  if (failure !== null) return undecided(domain, failure);
  const forbidden = candidates.flatMap((candidate) => candidate.forbidden);
  if (forbidden.length > 0)
    return unroutable(
      "failed",
      "5.4.4",
      `the domain ${domain} has no public mail host, only ${forbidden.join(", ")}`,
    );
  return isImplicit
    ? unroutable("bounced", "5.1.2", `the domain ${domain} has neither MX nor address`)
    : unroutable("deferred", "4.4.4", `the mail hosts of ${domain} have no addresses`);
}

function limited(hosts: readonly MailHost[]): MailHost[] {
  let left = MOST_ADDRESSES;
  return hosts.flatMap((host) => {
    const addresses = host.addresses.slice(0, left);
    left -= addresses.length;
    return addresses.length > 0 ? [{ ...host, addresses }] : [];
  });
}

function isAbsence(answer: MailHosts): boolean {
  return answer.outcome === "unroutable" && answer.enhanced === "5.1.2";
}

/** One that was not answered goes first: asked again, it may turn out well. */
export function foremost<Failure extends Silence>(failures: readonly Failure[]): Failure | null {
  const unanswered = failures.filter(({ isUnanswered }) => isUnanswered);
  return unanswered.find(({ othersAnswered }) => !othersAnswered) ?? unanswered[0] ?? failures[0] ?? null;
}

function undecided(domain: string, failure: LookupFailure): Unroutable {
  const result = unroutable("deferred", "4.4.3", `DNS look-up for ${domain} failed: ${failure.reason}`);
  return { ...result, ...silenceOf(failure) };
}

/** What a failure says about the silence of our own servers. */
export function silenceOf({ isUnanswered, othersAnswered }: Silence): Silence {
  return { ...(isUnanswered && { isUnanswered }), ...(othersAnswered && { othersAnswered }) };
}

function unroutable(status: Unroutable["status"], enhanced: string, reason: string): Unroutable {
  return { outcome: "unroutable", status, enhanced, reason };
}
