/**
 * The TLS demands of receivers: of hosts by DANE (RFC 7672), if a validating resolver is configured, and of domains by MTA-STS
 * (RFC 8461). DANE takes precedence (RFC 8461 section 2).
 */

import type { Lookup } from "#dns/resolver-interface.ts";
import { isUsableTlsa, type TlsaRecord } from "#mail/dns/dane.ts";
import { namesHost, type StsPolicy } from "#mail/dns/mta-sts.ts";
import {
  type LookupFailure,
  type MailHost,
  preferredFailure,
  type Unroutable,
  unansweredFlags,
} from "#smtp-client/mx.ts";
import type { TlsDemand } from "#smtp-client/tls.ts";

/** Look-ups for DANE; their answers say whether DNSSEC has validated them. */
export interface DaneLookups {
  readonly tlsa: (name: string) => Promise<Lookup<TlsaRecord>>;
  readonly cname: (name: string) => Promise<Lookup<string>>;
}

/** The usable hosts of a domain, each with its TLS demand; or why no host is usable. */
export async function withTlsDemands(
  hosts: readonly MailHost[],
  {
    domain,
    policy,
    dane,
  }: { readonly domain: string; readonly policy: StsPolicy | null; readonly dane: DaneLookups | null },
): Promise<readonly MailHost[] | Unroutable> {
  const demands = await Promise.all(
    hosts.map(async (host) => strongerDemand(await daneOf(host, dane), stsOf(domain, host, policy))),
  );
  const obstacles: Obstacle[] = [];
  const left = hosts.flatMap((host, index) => {
    const tls = demands[index] ?? null;
    if (tls === null) return [host];
    if (!("obstacle" in tls)) return [{ ...host, tls }];
    obstacles.push(tls);
    return [];
  });
  if (left.length > 0) return left;
  // "Cryptographic failure", deferred: the owner of the domain may correct it.
  const reason = obstacles.map(({ obstacle }) => obstacle).join("; ");
  const silence = unansweredFlags(preferredFailure(obstacles) ?? {});
  return { outcome: "unroutable", status: "deferred", enhanced: "4.7.5", reason, ...silence };
}

/** Why a host must not be used. */
interface Obstacle {
  readonly obstacle: string;
  /** Our own DNS server did not answer a look-up. */
  readonly isUnanswered?: true;
  readonly othersAnswered?: true;
}

/**
 * DANE, if the host has it. Without a usable TLSA record DANE demands encryption only (RFC 7672 section 2.2); that must not
 * weaken an enforced MTA-STS policy, while a policy in testing mode does not weaken it.
 */
function strongerDemand(
  dane: TlsDemand | Obstacle | null,
  sts: TlsDemand | Obstacle | null,
): TlsDemand | Obstacle | null {
  if (dane === null) return sts;
  const provesNothing = "by" in dane && dane.by === "dane" && dane.records.length === 0;
  const isInForce = sts !== null && ("obstacle" in sts || sts.by === "mta-sts");
  return provesNothing && isInForce ? sts : dane;
}

async function daneOf(host: MailHost, dane: DaneLookups | null): Promise<TlsDemand | Obstacle | null> {
  if (dane === null) return null;
  const bases = await baseDomains(host, dane);
  if ("obstacle" in bases) return bases;
  for (const base of bases) {
    const found = await dane.tlsa(`_25._tcp.${base}`);
    if (found.outcome === "failed") return withheld(`the TLSA look-up for ${base}`, found);
    if (found.outcome === "found" && found.isSecure) {
      return { by: "dane", host: base, records: found.records.filter(isUsableTlsa) };
    }
  }
  return null;
}

/**
 * The names whose TLSA records apply to a host (RFC 7672 section 2.2.2); the first that has any counts. For an alias the
 * canonical name comes first; if DNSSEC does not cover the way to it, only the alias itself counts.
 */
async function baseDomains(
  { name, proof }: MailHost,
  dane: DaneLookups,
): Promise<readonly string[] | Obstacle> {
  if (proof === undefined) return [];
  const { hasSecureAddresses, aliasOf } = proof;
  if (hasSecureAddresses) return aliasOf === undefined ? [name] : [aliasOf, name];
  if (aliasOf === undefined) return [];
  const alias = await dane.cname(name);
  if (alias.outcome === "failed") return withheld(`the CNAME look-up for ${name}`, alias);
  return alias.outcome === "found" && alias.isSecure ? [name] : [];
}

/** A failed look-up makes the host unusable: an attacker may suppress the answer (section 2.1.1). */
function withheld(what: string, failure: LookupFailure): Obstacle {
  return { obstacle: `DANE: ${what} failed: ${failure.reason}`, ...unansweredFlags(failure) };
}

function stsOf(domain: string, { name }: MailHost, policy: StsPolicy | null): TlsDemand | Obstacle | null {
  if (policy === null) return null;
  const isNamed = namesHost(policy, name);
  if (policy.mode === "testing") return { by: "mta-sts-testing", isNamed };
  return isNamed ? { by: "mta-sts" } : { obstacle: `the MTA-STS policy of ${domain} does not name ${name}` };
}
