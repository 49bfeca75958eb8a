/**
 * What those who take the mail demand of TLS: the hosts by DANE (RFC 7672), where a validating resolver was named, and
 * the domain by MTA-STS (RFC 8461). DANE goes first (RFC 8461 section 2).
 */
import { isUsable, type TlsaRecord } from "../mail/dane.ts";
import { namesHost, type StsPolicy } from "../mail/mta-sts.ts";
import type { Lookup } from "../mail/resolver.ts";
import type { MailHost, Unroutable } from "./mx.ts";
import type { TlsDemand } from "./smtp-tls.ts";

/** How TLSA records are asked for; the answer says whether DNSSEC vouches for it. */
export type FindTlsa = (name: string) => Promise<Lookup<TlsaRecord>>;

/** The hosts of a domain that may be spoken to, each with what TLS with it has to prove; or why there is none. */
export async function withTlsDemands(
  hosts: readonly MailHost[],
  {
    domain,
    policy,
    findTlsa,
  }: { readonly domain: string; readonly policy: StsPolicy | null; readonly findTlsa: FindTlsa | null },
): Promise<readonly MailHost[] | Unroutable> {
  const demands = await Promise.all(
    hosts.map(async (host) => stronger(await daneOf(host, findTlsa), stsOf(domain, host, policy))),
  );
  const obstacles: string[] = [];
  const left = hosts.flatMap((host, index) => {
    const tls = demands[index] ?? null;
    if (tls === null) return [host];
    if (!("obstacle" in tls)) return [{ ...host, tls }];
    obstacles.push(tls.obstacle);
    return [];
  });
  if (left.length > 0) return left;
  // "Cryptographic failure": the domain's owner may mend it while the message waits.
  return { outcome: "unroutable", status: "deferred", enhanced: "4.7.5", reason: obstacles.join("; ") };
}

/** Why a host is left alone. */
interface Obstacle {
  readonly obstacle: string;
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

async function daneOf(
  { name, isSecure }: MailHost,
  findTlsa: FindTlsa | null,
): Promise<TlsDemand | Obstacle | null> {
  if (findTlsa === null || !isSecure) return null;
  const found = await findTlsa(`_25._tcp.${name}`);
  // RFC 7672 section 2.1.1: what cannot be had may be withheld by somebody on the path.
  if (found.outcome === "failed") {
    return { obstacle: `DANE: the TLSA look-up for ${name} failed: ${found.reason}` };
  }
  if (found.outcome === "absent" || !found.isSecure) return null;
  return { by: "dane", records: found.records.filter(isUsable) };
}

function stsOf(domain: string, { name }: MailHost, policy: StsPolicy | null): TlsDemand | Obstacle | null {
  if (policy === null) return null;
  const isNamed = namesHost(policy, name);
  if (policy.mode === "testing") return { by: "mta-sts-testing", isNamed };
  return isNamed ? { by: "mta-sts" } : { obstacle: `the MTA-STS policy of ${domain} does not name ${name}` };
}
