/**
 * Whether a zone works: what it must list is listed, what it must not list is not (RFC 5782 section 5). Zones die, and
 * then list nothing or the whole world; both show here. What the test said holds for 30 minutes.
 */

import type { Lookup, Resolver } from "#dns/resolver.ts";
import { type DnsblResult, dnsblName, readDnsblAnswer } from "#mail/dns/dnsbl.ts";
import { ExpiringMap } from "#platform/cache.ts";
import type { TargetKind } from "./target.ts";
import type { Zone } from "./zones.ts";

const VERDICT_MS = 30 * 60_000;
/** A question that stayed open is asked again sooner, but not by every check. */
const OPEN_MS = 60_000;
const MOST = 1_000;

/** Why a zone is of no use at this moment. */
export interface Unusable {
  readonly status: "skipped" | "timeout" | "error";
  readonly description: string;
}

export type SelfTest = (zone: Zone, kind: TargetKind) => Promise<Unusable | undefined>;

/** Whoever asks while a test is under way shares it. @param now milliseconds */
export function createSelfTest(resolver: Pick<Resolver, "ipv4">, now: () => number): SelfTest {
  const verdicts = new ExpiringMap<Promise<Unusable | undefined>>(MOST, now);
  return (zone, kind) => {
    const points = pointsOf(zone, kind);
    if (points === null) return Promise.resolve(undefined);
    const key = JSON.stringify([zone.name, points]);
    const known = verdicts.get(key);
    if (known !== undefined) return known;
    const verdict = test(resolver, zone, points);
    verdicts.set(key, verdict, VERDICT_MS);
    void verdict.then((unusable) => {
      if (unusable !== undefined && unusable.status !== "skipped") verdicts.set(key, verdict, OPEN_MS);
    });
    return verdict;
  };
}

interface Points {
  /** One of them is enough. */
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
  // Which code a test entry has is the zone's affair; only those that refuse are none.
  const meanings = errors === undefined ? {} : { errors };
  const read = (answer: Lookup<string>) => readDnsblAnswer(meanings, answer);
  if (clean === undefined || isForeign(clean) || read(clean).status === "listed") {
    return failed(`it lists ${points.clean}, which no blacklist may`);
  }
  const readings = listed.map(read);
  const open = [read(clean), ...readings].find(isOpen);
  if (read(clean).status === "not_listed" && readings.some(({ status }) => status === "listed"))
    return undefined;
  if (listed.some(isForeign)) return failed("it answers with what is no code of a blacklist");
  if (open !== undefined) return open;
  return failed(`it does not list ${points.listed.join(" or ")}, which every blacklist must`);
}

/** An answer outside 127.0.0.0/8: of a domain that is somebody else's by now. */
function isForeign(answer: Lookup<string>): boolean {
  return answer.outcome === "found" && answer.records.some((code) => !code.startsWith("127."));
}

function isOpen(reading: DnsblResult): reading is DnsblResult & Unusable {
  return reading.status === "timeout" || reading.status === "error";
}

function failed(reason: string): Unusable {
  return { status: "skipped", description: `Not asked: the zone fails its self-test (RFC 5782): ${reason}` };
}
