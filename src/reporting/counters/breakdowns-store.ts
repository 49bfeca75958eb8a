/**
 * Figures by UTC days, by recipient domain, sender domain, source address and bounce category. `since` is rounded down
 * to a UTC day; null means of all time. Exact at all times, like those of totals-store.ts.
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { type Counts, columnsSql, counters, type MessageStatusCounts } from "#messages/counters/counters.ts";
import { DAY } from "#messages/counters/deltas-store.ts";
import { type StoredStatus, storedStatuses } from "#messages/message/status.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { countersAndDeltasSql, type Paged, pageOfSums, totalSums } from "./sum-with-deltas-store.ts";

/** The days from `since` on; null: all days. */
function byDay(
  workspaceId: WorkspaceId,
  table: "report_sender_days" | "report_ip_days",
  key: string,
  since: Date | null,
  columns = counters as readonly string[],
) {
  const { first } = daysSince(since);
  return countersAndDeltasSql(workspaceId, table, {
    keys: [key],
    columns,
    where: since === null ? empty : sql`and day >= ${first}`,
    whereDeltas: since === null ? empty : sql`and ${raw(DAY)} >= ${first}`,
  });
}

const messagesIn = (statuses: readonly StoredStatus[]) =>
  join(
    statuses.map((status) => sql`sum(${raw(status)})`),
    " + ",
  );
const mostMessages = sql`${messagesIn(storedStatuses)} desc`;
/** Messages that were to be sent to a server. */
const volume = messagesIn(
  storedStatuses.filter((status) => status !== "suppressed" && status !== "cancelled"),
);

export interface DomainCounts extends MessageStatusCounts {
  readonly domain: string;
}

/**
 * By recipient domain, most messages first, without suppressed and cancelled messages. Whole weeks are read from weekly
 * counters: seven times fewer rows.
 * @param isShown a condition on `counted.domain`
 */
export function countsByDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
  page: Page,
  isShown: Sql | null = null,
): Promise<Paged<DomainCounts>> {
  const columns = columnsSql(["domain", ...storedStatuses]);
  const { first, firstWeek } = daysSince(since);
  const counted = sql`(
    select ${columns} from report_domain_weeks
    where workspace_id = ${workspaceId} ${since === null ? empty : sql`and week >= ${firstWeek}`}
    union all
    select ${columns} from report_domain_days
    where workspace_id = ${workspaceId} and day >= ${first} and day < ${firstWeek}
    union all
    select ${columns} from report_notes
    where workspace_id = ${workspaceId} and source_ip is null ${since === null ? empty : sql`and ${raw(DAY)} >= ${first}`}
  ) counted ${isShown === null ? empty : sql`where ${isShown}`}`;
  return pageOfSums(db, "domain", counted, {
    page,
    order: sql`${volume} desc, domain`,
    columns: storedStatuses,
    having: sql`having ${volume} > 0`,
  });
}

/** The UTC day of a time, and the first Monday from it on; null for null. */
function daysSince(since: Date | null): { readonly first: Sql; readonly firstWeek: Sql } {
  const first = sql`(${since}::timestamptz at time zone 'UTC')::date`;
  return { first, firstWeek: sql`date_trunc('week', ${first} + 6)::date` };
}

/** Figures of all messages. */
export function totalsOfDays(db: Queryable, workspaceId: WorkspaceId, since: Date | null): Promise<Counts> {
  // There are fewer senders than recipient domains.
  return totalSums(db, byDay(workspaceId, "report_sender_days", "from_domain", since));
}

/** By domain in From, most messages first. */
export function countsBySender(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
  page: Page,
): Promise<Paged<Counts & { readonly from_domain: string }>> {
  const counted = byDay(workspaceId, "report_sender_days", "from_domain", since);
  const order = sql`${mostMessages}, from_domain`;
  return pageOfSums(db, "from_domain", counted, { page, order });
}

/**
 * By our source address of the last attempt, most messages first. An address is missing when all its messages were
 * later sent from others.
 */
export function countsByIp(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
  page: Page,
): Promise<Paged<MessageStatusCounts & { readonly source_ip: string }>> {
  const counted = byDay(workspaceId, "report_ip_days", "source_ip", since, storedStatuses);
  const order = sql`${mostMessages}, source_ip`;
  return pageOfSums(db, "source_ip", counted, {
    page,
    order,
    columns: storedStatuses,
    having: sql`having ${volume} > 0`,
  });
}

/** How many source addresses and From domains were ever used. */
export async function countSources(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<{ readonly ips: number; readonly domains: number }> {
  const row = await db.row<{ ips: number; domains: number }>(sql`
    select
      (select count(distinct source_ip) from ${byDay(workspaceId, "report_ip_days", "source_ip", null, [])}) as ips,
      (select count(distinct from_domain) from ${byDay(workspaceId, "report_sender_days", "from_domain", null, [])})
        as domains`);
  return row ?? { ips: 0, domains: 0 };
}

/** Bounces by category, most first; without categories whose bounces were all reclassified. */
export function countsByCategory(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
): Promise<{ readonly bounce_type: string; readonly category: string; readonly bounces: number }[]> {
  const { first } = daysSince(since);
  return db.rows(sql`
    select bounce_type, category, sum(bounces)::bigint as bounces
    from (
      select bounce_type, category, bounces from report_category_days
      where workspace_id = ${workspaceId} ${since === null ? empty : sql`and day >= ${first}`}
      union all
      select bounce_type, category, hard_bounces + soft_bounces + block_bounces from report_notes
      where workspace_id = ${workspaceId} and category is not null
        ${since === null ? empty : sql`and ${raw(DAY)} >= ${first}`}) counted
    group by 1, 2 having sum(bounces) <> 0 order by 3 desc, 1, 2`);
}
