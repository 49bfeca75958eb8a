/**
 * Figures by UTC days of what messages went to and came from: `since` is rounded down to a UTC day, and null is of all time.
 * Exact at every moment, as those of a span (store.ts).
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { type Counts, columnsSql, counters, type MessageStatusCounts } from "#messages/counters/counters.ts";
import { DAY } from "#messages/counters/deltas-store.ts";
import { type StoredStatus, storedStatuses } from "#messages/message/status.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { countersAndDeltasSql, type Paged, pageOfSums, totalSums } from "./sums-store.ts";

/** Days from the one on that `since` is in; null: all of them. */
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
    whereNotes: since === null ? empty : sql`and ${raw(DAY)} >= ${first}`,
  });
}

const messagesIn = (statuses: readonly StoredStatus[]) =>
  join(
    statuses.map((status) => sql`sum(${raw(status)})`),
    " + ",
  );
const mostMessages = sql`${messagesIn(storedStatuses)} desc`;
/** Messages that were meant for a server. */
const volume = messagesIn(
  storedStatuses.filter((status) => status !== "suppressed" && status !== "cancelled"),
);

export interface DomainCounts extends MessageStatusCounts {
  readonly domain: string;
}

/**
 * By the recipient's domain, most messages first, those that were suppressed or cancelled left out. `since` is rounded down
 * to a UTC day. Of whole weeks there are fewer rows than of their days.
 */
export function countsByDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
  page: Page,
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
  ) counted`;
  return pageOfSums(db, "domain", counted, {
    page,
    order: sql`${volume} desc, domain`,
    columns: storedStatuses,
    having: sql`having ${volume} > 0`,
  });
}

/** The UTC day that a moment is in, and the first Monday from it on. Of null none is. */
function daysSince(since: Date | null): { readonly first: Sql; readonly firstWeek: Sql } {
  const first = sql`(${since}::timestamptz at time zone 'UTC')::date`;
  return { first, firstWeek: sql`date_trunc('week', ${first} + 6)::date` };
}

/** Everything. */
export function totalsOfDays(db: Queryable, workspaceId: WorkspaceId, since: Date | null): Promise<Counts> {
  // Of senders there are fewer than of recipient domains.
  return totalSums(db, byDay(workspaceId, "report_sender_days", "from_domain", since));
}

/** By the domain in From, most messages first. */
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

/** By the address of ours that messages were last tried from, most first; one that all of them have left since is left out. */
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

/** How many addresses of ours were ever sent from, and how many domains ever stood in From. */
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

/** Bounces by what they were about, most first, without what all of them have turned out not to be. */
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
