/** The deliverability report: rates of a window, reputation of each sending address and domain, bounces by category. */
import type { Static } from "typebox";
import { PAUSED_AT } from "#audience/mailing-lists/stats-from-daily-counters.ts";
import type { Counts, MessageStatusCounts } from "#messages/counters/counters.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { fraction } from "#platform/fraction.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import {
  countSources,
  countsByCategory,
  countsByIp,
  countsBySender,
} from "#reporting/counters/breakdowns-store.ts";
import { attemptedOf, bouncesOf, deliveredOf, percentOf } from "#reporting/counters/rates.ts";
import { totalsSince } from "#reporting/counters/totals-store.ts";
import { googlePostmasterOf } from "#reporting/google-postmaster/report.ts";
import { scoreOf } from "#reporting/sending/health.ts";
import type { Deliverability } from "./shapes.ts";

/** Addresses, and domains, in one report: those with the most messages. */
const MOST_REPUTATIONS = { limit: 100, offset: 0 };

/** The last result of the blacklist monitor of an address or domain. */
export interface BlacklistStatus {
  readonly last_listed_count: number;
  readonly last_checked_at: Date;
}

export interface DeliverabilityDeps {
  readonly db: Queryable;
  readonly clock: Clock;
  /** Finds the last results of the workspace's blacklist monitors, by target. */
  readonly findListings: (
    db: Queryable,
    workspaceId: WorkspaceId,
    targets: readonly string[],
  ) => Promise<ReadonlyMap<string, BlacklistStatus>>;
  /** Whether the workspace has an active sending IP. */
  readonly hasSendingIp: (db: Queryable, workspaceId: WorkspaceId) => Promise<boolean>;
  /** Whether there are credentials for Google Postmaster Tools. */
  readonly hasGooglePostmaster: boolean;
}

export async function deliverabilityOf(
  { db, clock, findListings, hasSendingIp, hasGooglePostmaster }: DeliverabilityDeps,
  workspaceId: WorkspaceId,
  window_days: number,
): Promise<Static<typeof Deliverability>> {
  const now = clock.now();
  const since = new Date(now.getTime() - window_days * DAY_MS);
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS);
  const [[counts, day, week, month], ips, domains, ever] = await Promise.all([
    totalsSince(db, workspaceId, [since, before(1), before(7), before(30)]),
    countsByIp(db, workspaceId, since, MOST_REPUTATIONS),
    countsBySender(db, workspaceId, since, MOST_REPUTATIONS),
    countSources(db, workspaceId),
  ]);
  if (!counts || !day || !week || !month) throw new Error("a span has no totals");
  const [listings, categories, hasOwn, google_postmaster] = await Promise.all([
    findListings(db, workspaceId, [
      ...ips.rows.map(({ source_ip }) => source_ip),
      ...domains.rows.map(({ from_domain }) => from_domain),
    ]),
    countsByCategory(db, workspaceId, since),
    hasSendingIp(db, workspaceId),
    googlePostmasterOf(db, workspaceId, hasGooglePostmaster),
  ]);
  return {
    overall_metrics: {
      total_sent_24h: attemptedOf(day),
      total_sent_7d: attemptedOf(week),
      total_sent_30d: attemptedOf(month),
      ...overallOf(counts),
      ip_count: ever.ips,
      domain_count: ever.domains,
    },
    ip_reputations: ips.rows.map(({ source_ip, ...ofIp }) => ({
      ip: source_ip,
      ...reputationOf(ofIp, listings.get(source_ip)),
    })),
    domain_reputations: domains.rows.map(({ from_domain, ...ofDomain }) => ({
      domain: from_domain,
      ...reputationOf(ofDomain, listings.get(from_domain)),
    })),
    bounce_breakdown: breakdownOf(categories),
    google_postmaster,
    sends_via_shared_pool: !hasOwn,
    window_days,
    last_updated: now,
  };
}

/**
 * The score is 0 to 100: a bounce rate at which sending is paused costs half of it, a complaint rate at which sending is
 * paused the other half.
 */
function reputationOf(counts: MessageStatusCounts, listing: BlacklistStatus | undefined) {
  const sent = attemptedOf(counts);
  const delivered = deliveredOf(counts);
  const rates = {
    delivery_rate: fraction(delivered, sent),
    bounce_rate: fraction(counts.bounced, sent),
    complaint_rate: fraction(counts.complained, delivered),
  };
  const lost = (rate: keyof typeof PAUSED_AT) => 50 * Math.min(1, rates[rate] / PAUSED_AT[rate]);
  return {
    sent,
    delivered,
    bounced: counts.bounced,
    complained: counts.complained,
    ...rates,
    score: Math.round(100 - lost("bounce_rate") - lost("complaint_rate")),
    blacklist_listed_count: listing?.last_listed_count ?? null,
    last_checked_at: listing?.last_checked_at ?? null,
  };
}

function overallOf(counts: Counts) {
  const total_sent = attemptedOf(counts);
  const delivered = deliveredOf(counts);
  const bounce_rate = fraction(counts.bounced, total_sent);
  // Bounces of the window may belong to messages sent before it, so only their split by type is used.
  const bounceRateOf = (bounces: number) => bounce_rate * fraction(bounces, bouncesOf(counts));
  return {
    total_sent,
    delivered,
    delivery_rate: fraction(delivered, total_sent),
    bounce_rate,
    hard_bounce_rate: bounceRateOf(counts.hard_bounces),
    soft_bounce_rate: bounceRateOf(counts.soft_bounces),
    complaint_rate: fraction(counts.complained, delivered),
    open_rate: fraction(counts.unique_opens, delivered),
    click_rate: fraction(counts.unique_clicks, delivered),
    health_score: scoreOf(counts),
  };
}

function breakdownOf(
  rows: Awaited<ReturnType<typeof countsByCategory>>,
): Static<typeof Deliverability>["bounce_breakdown"] {
  const sum = (some: typeof rows) => some.reduce((total, { bounces }) => total + bounces, 0);
  const ofType = (type: string) => sum(rows.filter(({ bounce_type }) => bounce_type === type));
  const all = sum(rows);
  const byCategory = [...Map.groupBy(rows, ({ category }) => category)].map(([category, ofCategory]) => {
    const count = sum(ofCategory);
    return { category, count, percent: percentOf(count, all) };
  });
  return {
    hard: ofType("hard"),
    soft: ofType("soft"),
    block: ofType("block"),
    by_category: byCategory.toSorted((a, b) => b.count - a.count),
  };
}
