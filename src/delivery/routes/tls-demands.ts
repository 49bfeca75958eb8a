/**
 * What those who take the mail demand of TLS: the hosts by DANE (RFC 7672), where a validating resolver was named, and
 * the domain by MTA-STS (RFC 8461). DANE goes first (RFC 8461 section 2).
 */

import type { Lookup } from "#dns/resolver.ts";
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

/** What is asked for DANE; the answers say whether DNSSEC vouches for them. */
export interface DaneLookups {
  readonly tlsa: (name: string) => Promise<Lookup<TlsaRecord>>;
  readonly cname: (name: string) => Promise<Lookup<string>>;
}

/** The hosts of a domain that may be spoken to, each with what TLS with it has to prove; or why there is none. */
export async function withTlsDemands(
  hosts: readonly MailHost[],
  {
    domain,
    policy,
    dane,
  }: { readonly domain: string; readonly policy: StsPolicy | null; readonly dane: DaneLookups | null },
): Promise<readonly MailHost[] | Unroutable> {
  const demands = await Promise.all(
    hosts.map(async (host) => stronger(await daneOf(host, dane), stsOf(domain, host, policy))),
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
  // "Cryptographic failure": the domain's owner may mend it while the message waits.
  const reason = obstacles.map(({ obstacle }) => obstacle).join("; ");
  const silence = unansweredFlags(preferredFailure(obstacles) ?? {});
  return { outcome: "unroutable", status: "deferred", enhanced: "4.7.5", reason, ...silence };
}

/** Why a host is left alone. */
interface Obstacle {
  readonly obstacle: string;
  /** A look-up had no answer from our own DNS server. */
  readonly isUnanswered?: true;
  readonly othersAnswered?: true;
}

/**
 * DANE, where the host has it. One without a usable record asks for encryption alone (RFC 7672 section 2.2): whoever
 * publishes such a record must not lower what a policy in force asks for, nor does a policy in testing lower this.
 */
function stronger(
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
 * RFC 7672 section 2.2.2: the names whose TLSA records count for a host, the first that has any. An alias leads to the
 * name of its addresses first; where DNSSEC ends on the way there, it has only its own.
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

/** Section 2.1.1: what cannot be had may be withheld by somebody on the path. */
function withheld(what: string, failure: LookupFailure): Obstacle {
  return { obstacle: `DANE: ${what} failed: ${failure.reason}`, ...unansweredFlags(failure) };
}

function stsOf(domain: string, { name }: MailHost, policy: StsPolicy | null): TlsDemand | Obstacle | null {
  if (policy === null) return null;
  const isNamed = namesHost(policy, name);
  if (policy.mode === "testing") return { by: "mta-sts-testing", isNamed };
  return isNamed ? { by: "mta-sts" } : { obstacle: `the MTA-STS policy of ${domain} does not name ${name}` };
}
