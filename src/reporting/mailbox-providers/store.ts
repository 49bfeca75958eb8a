/** The mailbox providers of recipient domains, and figures by provider. */
import sql, { raw, type Sql } from "sql-template-tag";
import { type Counts, columnsSql, counters, sumsSql } from "#messages/counters/counters.ts";
import { DAY } from "#messages/counters/deltas-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Whether a recipient domain belongs to a provider. @param provider null: to none, because it is not looked up yet */
export const isOfProvider = (domain: Sql, provider: string | null): Sql =>
  provider === null
    ? sql`not exists (select from mailbox_domains m where m.domain = ${domain} and m.provider is not null)`
    : sql`${domain} in (select domain from mailbox_domains where provider = ${provider})`;

const dayOf = (time: Date): Sql => sql`(${time}::timestamptz at time zone 'UTC')::date`;

/**
 * Visits workspaces, those visited longest ago first, and notes the domains of their mail since the last visit that were not
 * seen for a week. New ones are due at once: the first of each workspace, by messages, before the second ones, so that a
 * workspace with many domains does not delay the others.
 * @param since the first day that is read on a first visit
 * @param visitedBefore only workspaces with no visit after this time
 * @param most workspaces, and domains of each; a workspace with more is visited again
 * @returns whether there may be more to note at once
 */
export async function noteDomains(
  db: Queryable,
  {
    now,
    since,
    visitedBefore,
    most,
  }: {
    readonly now: Date;
    readonly since: Date;
    readonly visitedBefore: Date;
    readonly most: { readonly workspaces: number; readonly domains: number };
  },
): Promise<boolean> {
  const row = await db.row<{ is_more: boolean }>(sql`
    with visited as materialized (
      select w.id, coalesce(v.unnoted_from, ${dayOf(since)}) as unnoted_from
      from workspaces w left join mailbox_domain_visits v on v.workspace_id = w.id
      where v.visited_at is null or v.visited_at <= ${visitedBefore}
      order by v.visited_at nulls first limit ${most.workspaces}
    ), found as materialized (
      select v.id as workspace_id, d.domain, d.place
      from visited v
      cross join lateral (
        select r.domain, row_number() over (
          order by sum(r.delivered + r.deferred + r.bounced + r.failed + r.complained) desc, r.domain) as place
        from report_domain_days r
        where r.workspace_id = v.id and r.day >= v.unnoted_from and not exists (
          select from mailbox_domains m where m.domain = r.domain and m.seen_at > ${now}::timestamptz - interval '7 days')
        group by r.domain order by place limit ${most.domains}) d
    ), noted as (
      insert into mailbox_domains (domain, seen_at, due_at)
      select domain, ${now}, ${now}::timestamptz - (${most.domains}::int - min(place)) * interval '1 millisecond'
      from found group by domain order by domain
      on conflict (domain) do update set seen_at = excluded.seen_at
    ), counted as (
      select v.id, v.unnoted_from, (select count(*) from found f where f.workspace_id = v.id) = ${most.domains}::int as is_more
      from visited v
    ), marked as (
      insert into mailbox_domain_visits (workspace_id, visited_at, unnoted_from)
      -- Mail of yesterday may be counted after midnight.
      select id, case when is_more then ${visitedBefore} else ${now} end::timestamptz,
        case when is_more then unnoted_from else ${dayOf(now)} - 1 end
      from counted order by id
      on conflict (workspace_id) do update
        set visited_at = excluded.visited_at, unnoted_from = excluded.unnoted_from
    )
    select count(*) = ${most.workspaces}::int or coalesce(bool_or(is_more), false) as is_more from counted`);
  return row?.is_more ?? false;
}

/** The domains that are due for a look-up, those first that have been due longest. */
export async function listDomainsToLookUp(db: Queryable, now: Date, most: number): Promise<string[]> {
  const rows = await db.rows<{ domain: string }>(sql`
    select domain from mailbox_domains where due_at <= ${now} order by due_at limit ${most}`);
  return rows.map(({ domain }) => domain);
}

export interface FoundProvider {
  readonly domain: string;
  /** Null if the DNS gave no answer: the provider found before stays. */
  readonly provider: string | null;
  readonly dueAt: Date;
}

export async function saveProviders(db: Queryable, found: readonly FoundProvider[]): Promise<void> {
  if (found.length === 0) return;
  await db.run(sql`
    update mailbox_domains m set provider = coalesce(f.provider, m.provider), due_at = f.due_at
    from unnest(${found.map(({ domain }) => domain)}::text[], ${found.map(({ provider }) => provider)}::text[],
      ${found.map(({ dueAt }) => dueAt)}::timestamptz[]) as f (domain, provider, due_at)
    where m.domain = f.domain`);
}

/** Removes up to `most` domains that are due and were not seen since a time. @returns how many */
export function removeUnseenDomains(
  db: Queryable,
  { now, since }: { readonly now: Date; readonly since: Date },
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from mailbox_domains where ctid = any (array(
      select ctid from mailbox_domains where due_at <= ${now} and seen_at < ${since} order by due_at limit ${most}))`);
}

export interface ProviderDay extends Counts {
  /** Null for domains that were not looked up yet. */
  readonly provider: string | null;
  /** A UTC day, `YYYY-MM-DD`. */
  readonly date: string;
  /** Domains of the provider in all days. */
  readonly domain_count: number;
}

/** The days with mail, by provider. @param since rounded down to a UTC day */
export function countsByProvider(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date,
): Promise<ProviderDay[]> {
  const first = dayOf(since);
  const columns = columnsSql(counters);
  return db.rows(sql`
    with by_domain as materialized (
      select m.provider, c.* from (
        select domain, day, ${columns} from report_domain_days where workspace_id = ${workspaceId} and day >= ${first}
        union all
        select domain, ${raw(DAY)}, ${columns} from report_notes
        where workspace_id = ${workspaceId} and source_ip is null and ${raw(DAY)} >= ${first}) c
      left join mailbox_domains m on m.domain = c.domain
      where c.queued + c.deferred + c.delivered + c.bounced + c.failed + c.complained <> 0
    ), domains as (
      select provider, count(distinct domain)::int as domain_count from by_domain group by provider
    ), by_day as (
      select provider, day, ${sumsSql(counters)} from by_domain group by provider, day
    )
    select b.provider, b.day::text as date, d.domain_count, ${columns}
    from by_day b join domains d on d.provider is not distinct from b.provider
    order by b.day`);
}
