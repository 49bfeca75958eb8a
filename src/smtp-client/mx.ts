/**
 * Finds the hosts that accept the mail of a domain (RFC 5321 section 5.1): its MX hosts by preference, hosts of equal
 * preference in random order, or the domain itself if it has no MX. A null MX (RFC 7505) or a name that does not exist
 * bounces the message. If the DNS does not answer, the message is deferred.
 *
 * Anyone can publish any MX, so hosts without public addresses are not used: a zone must not point us at this machine,
 * its network or a cloud's metadata service.
 */
import { isIP } from "node:net";
import type { Lookup, LookupOptions, MxRecord, Resolver } from "#dns/resolver-interface.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";
import type { TlsDemand } from "./tls.ts";

const MOST_HOSTS = 10;
const MOST_ADDRESSES = 30;

/** A host that accepts mail for a domain, with the requirements of TLS. */
export interface MailHost {
  readonly name: string;
  /** In the order to try them; never empty. */
  readonly addresses: readonly string[];
  /** Set if DNSSEC validates the host's name. */
  readonly proof?: HostProof;
  /**
   * What TLS with this host has to prove. Without a demand any certificate is accepted, and clear text if the host has
   * no TLS.
   */
  readonly tls?: TlsDemand;
  /**
   * Clear text is not allowed: the host's own lane requires TLS, even if the lane of the recipient's domain does not.
   */
  readonly isTlsRequired?: boolean;
}

/** What else DNSSEC validates about a host. */
export interface HostProof {
  /** DNSSEC validates the addresses, too. */
  readonly hasSecureAddresses: boolean;
  /** The name that has the addresses, if the host's own name is an alias. */
  readonly aliasOf?: string;
}

/** No host to connect to. */
export interface Unroutable {
  readonly outcome: "unroutable";
  /**
   * `bounced`: the address cannot receive mail. `failed`: our policy forbids the hosts. `deferred`: the DNS gave no
   * result.
   */
  readonly status: "bounced" | "failed" | "deferred";
  /** RFC 3463, with the additions of RFC 7505. */
  readonly enhanced: string;
  readonly reason: string;
  /** With `deferred`: our own DNS servers did not answer at all. This is not the domain's fault and not an attempt. */
  readonly isUnanswered?: true;
  /**
   * With `isUnanswered`: the servers answered other look-ups meanwhile. The name is looked up again soon, and that
   * counts as an attempt.
   */
  readonly othersAnswered?: true;
}

/** No host of the domain can be connected to. */
export interface NoMailHosts extends Unroutable {
  /** The host names by preference; missing if there are none, or if the DNS does not return them now. */
  readonly hostNames?: readonly string[];
}

export type MailHosts = { readonly outcome: "found"; readonly hosts: readonly MailHost[] } | NoMailHosts;

export interface MailHostOptions {
  /** Also use hosts on private and loopback addresses. */
  readonly allowPrivate: boolean;
  /** Returns a number from 0 to below 1; orders hosts of equal preference. */
  readonly random?: (() => number) | undefined;
  /** Deadline of all look-ups together. Without it, each look-up has only the resolver's own deadline. */
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
  const lookBy = (how: LookupOptions): HostLookups => ({
    mx: (name) => Promise.race([resolver.mx(name, how), late]),
    addresses: (name) =>
      Promise.all([
        Promise.race([resolver.ipv4(name, how), late]),
        Promise.race([resolver.ipv6(name, how), late]),
      ]),
  });
  try {
    const answer = await findHosts(lookBy({}), domain, options);
    // A bounce suppresses the address, and servers sometimes deny a name by mistake, so the name is looked up twice.
    return isAbsence(answer) ? await findHosts(lookBy({ isFresh: true }), domain, options) : answer;
  } finally {
    clearTimeout(timer);
  }
}

/** One name for a set of hosts, whatever their order: domains with the same hosts share connections. */
export function siteName(hostNames: readonly string[]): string {
  return [...new Set(hostNames)].sort().join(",");
}

/** The DNS look-ups that findMailHosts needs, under one deadline. */
export interface HostLookups {
  readonly mx: (name: string) => Promise<Lookup<MxRecord>>;
  readonly addresses: (name: string) => Promise<[Lookup<string>, Lookup<string>]>;
}

async function findHosts(look: HostLookups, domain: string, options: MailHostOptions): Promise<MailHosts> {
  const answer = await look.mx(domain);
  if (answer.outcome === "failed") return lookupFailed(domain, answer);
  if (answer.outcome === "absent" && answer.reason === "nxdomain")
    return unroutable("bounced", "5.1.2", `the domain ${domain} does not exist`);

  const isImplicit = answer.outcome === "absent";
  const records = isImplicit ? [{ preference: 0, exchange: domain }] : answer.records;
  const exchanges = orderedExchanges(records, options.random ?? Math.random);
  if (exchanges.length === 0)
    return unroutable("bounced", "5.1.10", `the domain ${domain} accepts no mail (null MX)`);

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
  const none = unroutableReason(domain, candidates, isImplicit);
  return none.status === "bounced" ? none : { ...none, hostNames: candidates.map(({ name }) => name) };
}

/**
 * The records to look up, in the order to try them. The first ten by preference and name, so that a site keeps its
 * hosts.
 */
function orderedExchanges(records: readonly MxRecord[], random: () => number): MxRecord[] {
  const byPreference = records
    .filter(({ exchange }) => exchange !== "")
    .toSorted((a, b) => a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1));
  // For a host that is listed twice, the entry with the best preference is kept.
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

/** A host and the result of its look-up. */
export interface HostCandidate {
  readonly name: string;
  readonly usable: readonly string[];
  readonly forbidden: readonly string[];
  readonly failure: LookupFailure | null;
  readonly proof: HostProof;
}

/** Looks up a mail host and decides which of its addresses may be used. */
export async function lookUpHost(
  look: Pick<HostLookups, "addresses">,
  exchange: string,
  allowPrivate: boolean,
): Promise<HostCandidate> {
  const isLiteral = isIP(exchange) !== 0;
  const lookups: readonly Lookup<string>[] = isLiteral ? [] : await look.addresses(exchange);
  // IPv4 first: few machines have an IPv6 route and a reputation in IPv6.
  const found = lookups.flatMap((lookup) => (lookup.outcome === "found" ? lookup.records : []));
  const addresses = isLiteral ? [exchange] : found;
  // RFC 5321 section 5.1: an MX names a host. An address in its place has not passed the checks of a host name.
  const mayUse = (address: string) => allowPrivate || (!isLiteral && isPublicAddress(address));
  const isProven = (lookup: Lookup<string>) => lookup.outcome !== "found" || lookup.isSecure === true;
  const [aliasOf] = lookups.flatMap((lookup) => ("aliasOf" in lookup ? [lookup.aliasOf] : []));
  return {
    name: exchange,
    usable: addresses.filter(mayUse),
    forbidden: addresses.filter((address) => !mayUse(address)),
    failure: preferredFailure(lookups.filter((lookup) => lookup.outcome === "failed")),
    proof: {
      hasSecureAddresses: !isLiteral && lookups.every(isProven),
      ...(aliasOf !== undefined && { aliasOf }),
    },
  };
}

function unroutableReason(
  domain: string,
  candidates: readonly HostCandidate[],
  isImplicit: boolean,
): Unroutable {
  const failure = preferredFailure(candidates.flatMap((candidate) => candidate.failure ?? []));
  if (failure !== null) return lookupFailed(domain, failure);
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

/** Chooses the failure to report. A failure without an answer is preferred, because another look-up may succeed. */
export function preferredFailure<Failure extends Silence>(failures: readonly Failure[]): Failure | null {
  const unanswered = failures.filter(({ isUnanswered }) => isUnanswered);
  return unanswered.find(({ othersAnswered }) => !othersAnswered) ?? unanswered[0] ?? failures[0] ?? null;
}

function lookupFailed(domain: string, failure: LookupFailure): Unroutable {
  const result = unroutable("deferred", "4.4.3", `DNS look-up for ${domain} failed: ${failure.reason}`);
  return { ...result, ...unansweredFlags(failure) };
}

/** The fields of a failure that say whether our own servers did not answer. */
export function unansweredFlags({ isUnanswered, othersAnswered }: Silence): Silence {
  return { ...(isUnanswered && { isUnanswered }), ...(othersAnswered && { othersAnswered }) };
}

function unroutable(status: Unroutable["status"], enhanced: string, reason: string): Unroutable {
  return { outcome: "unroutable", status, enhanced, reason };
}
