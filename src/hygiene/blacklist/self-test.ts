import type { Lookup, Resolver } from "#dns/resolver-interface.ts";
import { type DnsblResult, dnsblName, readDnsblAnswer } from "#mail/dns/dnsbl.ts";
import { ExpiringMap } from "#platform/cache.ts";
import type { TargetKind } from "./target.ts";
import type { Zone } from "./zones.ts";

const RESULT_MS = 30 * 60_000;
/** How long a test without an answer is cached. */
const UNANSWERED_MS = 60_000;
const MOST = 1_000;

/** Why a zone cannot be used now. */
export interface Unusable {
  readonly status: "skipped" | "timeout" | "error";
  readonly description: string;
}

export type SelfTest = (zone: Zone, kind: TargetKind) => Promise<Unusable | undefined>;

/**
 * Tests whether a zone works: it lists its test points and not every address (RFC 5782 section 5), as abandoned zones
 * do. The result is cached for 30 minutes; concurrent calls share a test.
 * @param now milliseconds
 */
export function createSelfTest(resolver: Pick<Resolver, "ipv4">, now: () => number): SelfTest {
  const results = new ExpiringMap<Promise<Unusable | undefined>>(MOST, now);
  return (zone, kind) => {
    const points = pointsOf(zone, kind);
    if (points === null) return Promise.resolve(undefined);
    const key = JSON.stringify([zone.name, points]);
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = test(resolver, zone, points);
    results.set(key, result, RESULT_MS);
    void result.then((unusable) => {
      if (unusable !== undefined && unusable.status !== "skipped") results.set(key, result, UNANSWERED_MS);
    });
    return result;
  };
}

interface Points {
  /** At least one of them has to be listed. */
  readonly listed: readonly string[];
  readonly clean: string;
}

function pointsOf({ types, self_test }: Zone, kind: TargetKind): Points | null {
  if (self_test !== undefined) return self_test;
  if (kind === "domain") return { listed: ["test"], clean: "invalid" };
  if (types.includes("ip4")) return { listed: ["127.0.0.2"], clean: "127.0.0.1" };
  return { listed: ["::ffff:127.0.0.2"], clean: "::ffff:127.0.0.1" };
}

async function test(
  resolver: Pick<Resolver, "ipv4">,
  { name, dns_name, errors }: Zone,
  points: Points,
): Promise<Unusable | undefined> {
  const ask = (point: string) => resolver.ipv4(dnsblName(point, dns_name ?? name));
  const [clean, ...listed] = await Promise.all([ask(points.clean), ...points.listed.map(ask)]);
  // A test entry may have any code, except the codes by which the zone refuses queries.
  const meanings = errors === undefined ? {} : { errors };
  const read = (answer: Lookup<string>) => readDnsblAnswer(meanings, answer);
  if (clean === undefined || isForeign(clean) || read(clean).status === "listed") {
    return failed(`it lists ${points.clean}, which must not be listed`);
  }
  const readings = listed.map(read);
  const unanswered = [read(clean), ...readings].find(hasNoAnswer);
  if (read(clean).status === "not_listed" && readings.some(({ status }) => status === "listed"))
    return undefined;
  if (listed.some(isForeign)) return failed("it answers with an address outside of 127.0.0.0/8");
  if (unanswered !== undefined) return unanswered;
  return failed(`it does not list ${points.listed.join(" or ")}, which must be listed`);
}

/** An answer outside of 127.0.0.0/8: the domain of the zone probably has another owner. */
function isForeign(answer: Lookup<string>): boolean {
  return answer.outcome === "found" && answer.records.some((code) => !code.startsWith("127."));
}

function hasNoAnswer(reading: DnsblResult): reading is DnsblResult & Unusable {
  return reading.status === "timeout" || reading.status === "error";
}

function failed(reason: string): Unusable {
  return {
    status: "skipped",
    description: `Not queried: the zone fails its self-test (RFC 5782): ${reason}`,
  };
}
