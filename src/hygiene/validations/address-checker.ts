import type { Resolver } from "#dns/resolver-interface.ts";
import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import type { Prober } from "#hygiene/probe/prober.ts";
import { AsyncCache, ExpiringMap } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { findMailHosts } from "#smtp-client/mx.ts";
import type { AddressLists } from "./disposable-and-role-lists.ts";
import type { IsNewDomain } from "./domain-age.ts";
import type { DomainFinding, Findings } from "./findings.ts";

export interface AddressCheckerDeps {
  readonly clock: Clock;
  readonly resolver: Resolver;
  readonly lists: AddressLists;
  /** Accept domains whose mail hosts have private addresses. */
  readonly allowPrivateMx: boolean;
  /** Null: no mail server is asked. */
  readonly prober: Prober | null;
  /** Default: the age of domains is not looked up. */
  readonly isNewDomain?: IsNewDomain | undefined;
}

export interface CheckOptions {
  /** For a single validation as a whole; for each SMTP session of a bulk validation. */
  readonly deadlineMs: number;
  /** The source address of probes; null leaves it to the operating system. */
  readonly localAddress: string | null;
  /** Ends the check after the running SMTP session. */
  readonly signal?: AbortSignal;
}

export interface AddressChecker {
  /**
   * Checks addresses of one domain. @param locals local parts as mail/address-syntax.ts gives them
   * @returns findings in the order of the local parts
   * @throws the signal's reason
   */
  check(domain: string, locals: readonly string[], options: CheckOptions): Promise<Findings[]>;
}

const DOMAIN_MS = 600_000;
const MOST_DOMAINS = 20_000;
const CATCH_ALL_MS = DAY_MS;
const MOST_CATCH_ALLS = 50_000;
/** Addresses per SMTP session (prober.ts). */
const PER_SESSION = 2;

/**
 * Collects findings about addresses: the DNS of their domain, the lists, and the answers of the domain's mail server if there
 * is a prober. The DNS of a domain is cached for ten minutes, and for a day whether it is a catch-all.
 */
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
      const localparts = locals.slice(findings.length, findings.length + PER_SESSION);
      const isCatchAllKnown = catchAlls.get(domain) !== undefined;
      const question = { domain, hosts, localparts, localAddress, isCatchAllKnown };
      const found = await asked.probe(question, deadlineMs);
      // A stop also ends SMTP sessions, whose results then say nothing about the address.
      signal?.throwIfAborted();
      const told = found.find(({ isCatchAll }) => isCatchAll !== null)?.isCatchAll;
      if (told != null) catchAlls.set(domain, told, CATCH_ALL_MS);
      findings.push(...found);
      // A host that does not answer is not asked about the other addresses.
      const unanswered = found.find(({ code, result }) => code === null && result !== "unaskable");
      if (unanswered !== undefined) while (findings.length < locals.length) findings.push(unanswered);
    }
    return findings;
  };

  return {
    async check(domain, locals, options) {
      const began = performance.now();
      const found = await domains.get(domain, () => lookUpDomain(resolver, domain, allowPrivateMx));
      const left = { ...options, deadlineMs: options.deadlineMs - (performance.now() - began) };
      // Servers of spam traps are not asked.
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

/** For all DNS look-ups of a domain together. */
const DNS_DEADLINE_MS = 5_000;

/** What the DNS says about a domain, by the rules of mail delivery (smtp-client/mx.ts). Never rejects. */
async function lookUpDomain(
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
  const found = await findMailHosts(watched, domain, { allowPrivate, deadlineMs: DNS_DEADLINE_MS });
  if (found.outcome === "found") {
    return { outcome: "deliverable", hasMx, hosts: found.hosts.map(({ name }) => name) };
  }
  const outcome = found.status === "deferred" ? "unknown" : "undeliverable";
  return { outcome, hasMx, hosts: [], reason: found.reason };
}
