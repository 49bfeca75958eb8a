/**
 * Finds out about addresses of one domain: the DNS once, the lists, and where a prober is given the domain's own server,
 * two addresses a conversation. Domains are remembered for some minutes, and for a day whether they take any address.
 */

import type { Resolver } from "#dns/resolver.ts";
import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import type { Prober } from "#hygiene/probe/prober.ts";
import { AsyncCache, ExpiringMap } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import { findMailHosts } from "#smtp-client/mx.ts";
import type { AddressLists } from "./address-lists.ts";
import type { IsNewDomain } from "./domain-age.ts";
import type { DomainFinding, Findings } from "./findings.ts";

export interface AddressCheckerDeps {
  readonly clock: Clock;
  readonly resolver: Resolver;
  readonly lists: AddressLists;
  /** Also of domains whose mail hosts are on private addresses. */
  readonly allowPrivateMx: boolean;
  /** Null: no server is asked. */
  readonly prober: Prober | null;
  /** Without it nobody is asked how old a domain is. */
  readonly isNewDomain?: IsNewDomain | undefined;
}

export interface CheckOptions {
  /** For the whole of a single address; for each conversation of a bulk validation. */
  readonly deadlineMs: number;
  /** The source address to ask from; the machine's choice when null. */
  readonly localAddress: string | null;
  /** Ends it after the conversation under way. */
  readonly signal?: AbortSignal;
}

export interface AddressChecker {
  /**
   * Findings in the order of the local parts (mail/address-syntax.ts), all of this domain.
   * @throws the signal's reason
   */
  examine(domain: string, locals: readonly string[], options: CheckOptions): Promise<Findings[]>;
}

const DOMAIN_MS = 600_000;
const MOST_DOMAINS = 20_000;
const CATCH_ALL_MS = 24 * 3_600_000;
const MOST_CATCH_ALLS = 50_000;
/** Of a conversation (prober.ts). */
const MOST_AT_ONCE = 2;

export function createAddressChecker({
  clock,
  resolver,
  lists,
  allowPrivateMx,
  prober,
  isNewDomain,
}: AddressCheckerDeps): AddressChecker {
  const monotonicMs = () => clock.monotonicMs();
  const domains = new AsyncCache<DomainFinding>({
    ms: DOMAIN_MS,
    most: MOST_DOMAINS,
    isKept: ({ outcome }) => outcome !== "unknown",
    now: monotonicMs,
  });
  const catchAlls = new ExpiringMap<boolean>(MOST_CATCH_ALLS, monotonicMs);

  const probe = async (
    asked: Prober,
    domain: string,
    hosts: readonly string[],
    locals: readonly string[],
    { deadlineMs, localAddress, signal }: CheckOptions,
  ): Promise<ProbeFinding[]> => {
    const findings: ProbeFinding[] = [];
    while (findings.length < locals.length) {
      signal?.throwIfAborted();
      const localparts = locals.slice(findings.length, findings.length + MOST_AT_ONCE);
      const isCatchAllKnown = catchAlls.get(domain) !== undefined;
      const question = { domain, hosts, localparts, localAddress, isCatchAllKnown };
      const found = await asked.probe(question, deadlineMs);
      // Whoever stops also ends conversations, which says nothing about the address.
      signal?.throwIfAborted();
      const told = found.find(({ isCatchAll }) => isCatchAll !== null)?.isCatchAll;
      if (told != null) catchAlls.set(domain, told, CATCH_ALL_MS);
      findings.push(...found);
      // A host that says nothing at all is not asked about each of the others.
      const silence = found.find(({ code, result }) => code === null && result !== "unaskable");
      if (silence !== undefined) while (findings.length < locals.length) findings.push(silence);
    }
    return findings;
  };

  return {
    async examine(domain, locals, options) {
      const began = performance.now();
      const found = await domains.get(domain, () => lookUpDomain(resolver, domain, allowPrivateMx));
      const left = { ...options, deadlineMs: options.deadlineMs - (performance.now() - began) };
      // Nobody knocks at a trap.
      const takesMail = found.outcome === "deliverable";
      const isAsked = prober !== null && takesMail && !lists.isHoneypot(domain);
      const [probes, isNew] = await Promise.all([
        isAsked ? probe(prober, domain, found.hosts, locals, left) : [],
        takesMail && isNewDomain !== undefined ? isNewDomain(domain) : null,
      ]);
      const isCatchAll = isAsked ? (catchAlls.get(domain) ?? null) : null;
      const checkedAt = clock.now();
      return Promise.all(
        locals.map(async (local, at) => ({
          ...(await lists.lookUp(local, domain, takesMail)),
          domain: found,
          probe: probes[at] ?? null,
          isCatchAll,
          isNewDomain: isNew,
          checkedAt,
        })),
      );
    },
  };
}

/** For all look-ups of a domain together. */
const DEADLINE_MS = 5_000;

/** Never rejects. */
export async function lookUpDomain(
  resolver: Resolver,
  domain: string,
  allowPrivate: boolean,
): Promise<DomainFinding> {
  let hasMx = false;
  const watched: Resolver = {
    ...resolver,
    async mx(name, how) {
      const answer = await resolver.mx(name, how);
      hasMx = answer.outcome === "found" && answer.records.some(({ exchange }) => exchange !== "");
      return answer;
    },
  };
  const found = await findMailHosts(watched, domain, { allowPrivate, deadlineMs: DEADLINE_MS });
  if (found.outcome === "found") {
    return { outcome: "deliverable", hasMx, hosts: found.hosts.map(({ name }) => name) };
  }
  const outcome = found.status === "deferred" ? "unknown" : "undeliverable";
  return { outcome, hasMx, hosts: [], reason: found.reason };
}
