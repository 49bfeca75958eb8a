/** Deliverability: rates, reputation of addresses and domains, bounces by cause, and how each recipient domain takes it. */
import { type Static, Type } from "typebox";
import type { Counts, StatusCounts } from "#messages/counters/counters.ts";
import { type DomainRow, DomainStats, withShare } from "#messages/domain-stats.ts";
import { reports } from "#messages/resource.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { fraction } from "#platform/fraction.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields, windowField } from "#platform/http/request/query.ts";
import { offsetOf, Pagination, pagination } from "#platform/http/response/paging.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  countSources,
  countsByCategory,
  countsByDomain,
  countsByIp,
  countsBySender,
  totalsOfDays,
} from "#reporting/counters/days-store.ts";
import { totalsSince } from "#reporting/counters/store.ts";
import { googlePostmasterOf } from "#reporting/postmaster/report.ts";
import { attemptedOf, bouncesOf, deliveredOf, percent } from "#reporting/rates.ts";
import { scoreOf } from "#reporting/sending/health.ts";
import { type Listing, reputationOf } from "./reputation.ts";
import { Deliverability } from "./shapes.ts";

const DAY_MS = 86_400_000;
const MOST_DAYS = 90;
const MOST_REPUTATIONS = { limit: 100, offset: 0 };

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** What the workspace's blacklist monitors saw last, by target. */
  readonly findListings: (
    db: Queryable,
    workspaceId: WorkspaceId,
    targets: readonly string[],
  ) => Promise<ReadonlyMap<string, Listing>>;
  /** Whether an address of its own is active. */
  readonly hasSendingIp: (db: Queryable, workspaceId: WorkspaceId) => Promise<boolean>;
  /** Whether there are credentials for Google Postmaster Tools. */
  readonly hasGooglePostmaster: boolean;
}

export function deliverabilityEndpoints(deps: Dependencies): Endpoint[] {
  const { db, clock } = deps;
  const needs = need(reports, "read");
  return [
    endpoint({
      id: "getDeliverability",
      method: "GET",
      path: "/deliverability",
      mayTakeLong: "reading",
      summary: "Rates, reputation of sending addresses and domains, and bounces by cause",
      needs,
      query: { window_days: windowField(MOST_DAYS) },
      answer: Deliverability,
      message: "Deliverability",
      handle: ({ caller, query }) => deliverabilityOf(deps, caller.workspaceId, query.window_days),
    }),
    endpoint({
      id: "listRecipientDomains",
      method: "GET",
      path: "/deliverability/recipient-domains",
      mayTakeLong: "reading",
      summary: "How each recipient domain takes the mail, by volume",
      needs,
      query: { window_days: windowField(MOST_DAYS), ...pageFields() },
      answer: Type.Object({
        stats: Type.Array(DomainStats),
        total_row: DomainStats,
        window_days: Type.Integer({ description: "As applied." }),
        pagination: Pagination,
      }),
      message: "Recipient domains",
      async handle({ caller: { workspaceId }, query }) {
        const since = new Date(clock.now().getTime() - query.window_days * DAY_MS);
        const page = { limit: query.limit, offset: offsetOf(query) };
        const [{ rows, total }, all] = await Promise.all([
          countsByDomain(db, workspaceId, since, page),
          totalsOfDays(db, workspaceId, since),
        ]);
        const whole = domainRow("total", all);
        return {
          stats: rows.map((row) => withShare(domainRow(row.domain, row), whole.total_messages)),
          total_row: withShare(whole, whole.total_messages),
          window_days: query.window_days,
          pagination: pagination(query, total),
        };
      },
    }),
  ];
}

async function deliverabilityOf(
  { db, clock, findListings, hasSendingIp, hasGooglePostmaster }: Dependencies,
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

function overallOf(counts: Counts) {
  const total_sent = attemptedOf(counts);
  const delivered = deliveredOf(counts);
  const bounce_rate = fraction(counts.bounced, total_sent);
  // What came back within the window may have been sent before it: only how it divides counts here.
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
    return { category, count, percent: percent(count, all) };
  });
  return {
    hard: ofType("hard"),
    soft: ofType("soft"),
    block: ofType("block"),
    by_category: byCategory.toSorted((a, b) => b.count - a.count),
  };
}

function domainRow(domain: string, counts: StatusCounts): DomainRow {
  const success = deliveredOf(counts);
  const still_trying = counts.queued + counts.deferred;
  const { bounced, failed: failure } = counts;
  const total_messages = success + bounced + failure + still_trying;
  return { domain, total_messages, success, bounced, failure, still_trying };
}
