import { createResolver } from "#dns/network-resolver.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import { type DnsblResult, dnsblName, readDnsblAnswer, readDnsblReason } from "#mail/dns/dnsbl.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { Config } from "#platform/config/config.ts";
import { createSelfTest, type SelfTest } from "./self-test.ts";
import { type BlacklistTarget, kindOf, type TargetKind } from "./target.ts";
import { isAsked, readZones, type Zone } from "./zones.ts";

export const zoneStatuses = ["listed", "not_listed", "skipped", "timeout", "error"] as const;
export type ZoneStatus = (typeof zoneStatuses)[number];

export interface ZoneResult {
  readonly zone: string;
  readonly status: ZoneStatus;
  readonly description: string;
  /** Where to ask for removal of a listing. */
  readonly delisting_info: string | null;
}

export interface Checked extends BlacklistTarget {
  /** Zones that were queried: all except the skipped ones. */
  readonly total_checked: number;
  readonly listed_count: number;
  /** Listed first, then by name. */
  readonly results: ZoneResult[];
}

export interface Checker {
  check(target: BlacklistTarget): Promise<Checked>;
  /** Names of the zones that list targets of this kind. */
  zonesFor(target: BlacklistTarget): string[];
}

export interface CheckPace {
  /** The time for a zone's self-test, answer and reason together. */
  readonly zoneMs: number;
  /** The time for the whole check. */
  readonly checkMs: number;
  /** Zones queried at a time. */
  readonly zonesAtOnce: number;
}

/** A call may take six seconds; half a second is left for the rest of it. */
const PACE: CheckPace = { zoneMs: 5_000, checkMs: 5_500, zonesAtOnce: 20 };
const TRIES = 4;
const MOST_KEPT = 50_000;

export interface CheckerOptions {
  readonly resolver: Pick<Resolver, "ipv4" | "txt">;
  readonly zones: readonly Zone[];
  readonly clock: Clock;
  /** How long an answer is cached. */
  readonly keptMs: number;
  readonly pace?: CheckPace;
}

/** @param servers DNS_SERVERS */
export function createZonesResolver(servers: readonly string[]): Resolver {
  return createResolver({ servers, timeoutMs: PACE.zoneMs, tries: TRIES, isFresh: true });
}

/** A checker with the operator's DNS servers and zones. @param keptMs as in CheckerOptions */
export function checkerFor(
  { DNS_SERVERS: servers, BLACKLIST_ZONES_FILE: file }: Config,
  clock: Clock,
  keptMs: number,
): Checker {
  return createChecker({ resolver: createZonesResolver(servers), zones: readZones(file), clock, keptMs });
}

/**
 * Checks targets against all zones of the catalogue. A check ends in time whatever the zones do, and distinguishes "not listed"
 * from "no answer".
 */
export function createChecker({ resolver, zones, clock, keptMs, pace = PACE }: CheckerOptions): Checker {
  const now = () => clock.monotonicMs();
  const kept = { ms: keptMs, most: MOST_KEPT, now };
  const sources: Sources = {
    resolver,
    selfTest: createSelfTest(resolver, now),
    readings: new AsyncCache({
      ...kept,
      isKept: ({ status }) => status === "listed" || status === "not_listed",
    }),
    reasons: new AsyncCache({ ...kept, isKept: (reason) => reason !== null }),
  };
  return {
    zonesFor: (target) => zones.filter((zone) => isAsked(zone, kindOf(target))).map(({ name }) => name),
    async check(target) {
      const kind = kindOf(target);
      const end = performance.now() + pace.checkMs;
      const results: ZoneResult[] = [];
      const waiting = zones.values();
      const askOneByOne = async () => {
        for (const zone of waiting) {
          const ms = Math.min(pace.zoneMs, end - performance.now());
          results.push(resultOf(zone, target, await askInTime(sources, zone, target, kind, ms)));
        }
      };
      await Promise.all(Array.from({ length: pace.zonesAtOnce }, askOneByOne));
      return {
        target: target.target,
        target_type: target.target_type,
        total_checked: results.filter(({ status }) => status !== "skipped").length,
        listed_count: results.filter(({ status }) => status === "listed").length,
        results: results.sort(inOrder),
      };
    },
  };
}

interface Sources {
  readonly resolver: Pick<Resolver, "ipv4" | "txt">;
  readonly selfTest: SelfTest;
  readonly readings: AsyncCache<DnsblResult>;
  readonly reasons: AsyncCache<string | null>;
}

interface Finding {
  readonly status: ZoneStatus;
  readonly description: string | null;
}

/** The finding at the deadline counts: a listing whose reason did not arrive is still a listing. */
async function askInTime(
  sources: Sources,
  zone: Zone,
  target: BlacklistTarget,
  kind: TargetKind,
  ms: number,
): Promise<Finding> {
  if (zone.enabled === false)
    return { status: "skipped", description: `Not queried, switched off: ${zone.description}` };
  if (!isAsked(zone, kind))
    return { status: "skipped", description: `Not queried: the zone does not list ${nouns[kind]}` };
  let known: Finding = { status: "timeout", description: "no answer in time" };
  if (ms <= 0) return known;
  const ask = async (): Promise<Finding> => {
    const unusable = await sources.selfTest(zone, kind);
    if (unusable !== undefined) return unusable;
    const name = dnsblName(target.target, zone.dns_name ?? zone.name);
    const { resolver, readings, reasons } = sources;
    const reading = await readings.get(name, async () => readDnsblAnswer(zone, await resolver.ipv4(name)));
    known = reading;
    if (reading.status !== "listed") return reading;
    const reason = await reasons.get(name, async () => readDnsblReason(await resolver.txt(name)));
    return reason === null ? reading : { ...reading, description: `${reading.description} – ${reason}` };
  };
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([ask(), late.then(() => known)]);
  } finally {
    clearTimeout(timer);
  }
}

const nouns: Readonly<Record<TargetKind, string>> = {
  ip4: "IPv4 addresses",
  ip6: "IPv6 addresses",
  domain: "domains",
};

function resultOf(zone: Zone, { target }: BlacklistTarget, { status, description }: Finding): ZoneResult {
  const isListed = status === "listed";
  return {
    zone: zone.name,
    status,
    description: description === null ? zone.description : sentence(description),
    delisting_info: (isListed && zone.delisting?.replaceAll("{target}", target)) || null,
  };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function inOrder(a: ZoneResult, b: ZoneResult): number {
  const rank = ({ status }: ZoneResult) => (status === "listed" ? 0 : 1);
  return rank(a) - rank(b) || (a.zone < b.zone ? -1 : 1);
}
