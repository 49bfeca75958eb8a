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

/**
 * Over all workspaces: domains of mail since a day that are due for a look-up. The first of each workspace, by messages, come
 * before the second ones, so that a workspace with many domains does not delay the others.
 */
export async function listDomainsToLookUp(
  db: Queryable,
  { since, now, most }: { readonly since: Date; readonly now: Date; readonly most: number },
): Promise<string[]> {
  const rows = await db.rows<{ domain: string }>(sql`
    select domain
    from workspaces w
    cross join lateral (
      select r.domain, row_number() over (
        order by sum(r.delivered + r.deferred + r.bounced + r.failed + r.complained) desc, r.domain) as place
      from report_domain_weeks r
      where r.workspace_id = w.id and r.week >= ${since}::timestamptz::date
        and not exists (select from mailbox_domains m where m.domain = r.domain and m.due_at > ${now})
      group by r.domain order by place limit ${most}) d
    group by domain order by min(place), domain limit ${most}`);
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
    insert into mailbox_domains as m (domain, provider, due_at)
    select * from unnest(${found.map(({ domain }) => domain)}::text[],
      ${found.map(({ provider }) => provider)}::text[], ${found.map(({ dueAt }) => dueAt)}::timestamptz[])
    order by 1
    on conflict (domain) do update set provider = coalesce(excluded.provider, m.provider), due_at = excluded.due_at`);
}

/** Deletes what was due before a time and was not looked up since, because no mail goes there any more. */
export async function removeUnusedProviders(db: Queryable, before: Date): Promise<void> {
  await db.run(sql`delete from mailbox_domains where due_at < ${before}`);
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
  const first = sql`(${since}::timestamptz at time zone 'UTC')::date`;
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
