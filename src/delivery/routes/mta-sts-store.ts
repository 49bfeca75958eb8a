/** SQL of the table of MTA-STS policies, which all delivery machines share. */
import sql from "sql-template-tag";
import type { StsMode, StsPolicy } from "#mail/dns/mta-sts.ts";
import type { Queryable } from "#platform/database/pool.ts";

/** With more policies than this the oldest ones are deleted; policies in use are fetched again every day. */
const MOST_POLICIES = 10_000;

/** A fetched policy. */
export interface FetchedStsPolicy {
  readonly domain: string;
  /** The id in the DNS record that announced it. */
  readonly id: string;
  readonly policy: StsPolicy;
  readonly fetchedAt: Date;
}

const expiry = sql`fetched_at + max_age_seconds * interval '1 second'`;

/** The policy of a domain; undefined without one, or when its max_age has passed. */
export async function findStsPolicy(
  db: Queryable,
  domain: string,
  now: Date,
): Promise<FetchedStsPolicy | undefined> {
  const row = await db.row<{
    id: string;
    mode: StsMode;
    mx: string[];
    max_age_seconds: number;
    fetched_at: Date;
  }>(sql`
    select id, mode, mx, max_age_seconds, fetched_at from sts_policies where domain = ${domain} and ${expiry} > ${now}`);
  if (row === undefined) return undefined;
  const { id, mode, mx, max_age_seconds: maxAgeSeconds, fetched_at: fetchedAt } = row;
  return { domain, id, policy: { mode, mx, maxAgeSeconds }, fetchedAt };
}

/** Stores a policy unless another machine has stored a later one, and deletes expired ones. */
export async function keepStsPolicy(
  db: Queryable,
  { domain, id, policy, fetchedAt }: FetchedStsPolicy,
  most = MOST_POLICIES,
): Promise<void> {
  const { mode, mx, maxAgeSeconds } = policy;
  await db.run(sql`
    insert into sts_policies (domain, id, mode, mx, max_age_seconds, fetched_at)
    values (${domain}, ${id}, ${mode}, ${mx}::text[], ${maxAgeSeconds}, ${fetchedAt})
    on conflict (domain) do update
    set id = excluded.id, mode = excluded.mode, mx = excluded.mx, max_age_seconds = excluded.max_age_seconds,
      fetched_at = excluded.fetched_at
    where sts_policies.fetched_at <= excluded.fetched_at`);
  // Rows locked by another machine are skipped. The count comes first: it avoids the sort in nearly all cases.
  await db.run(sql`
    delete from sts_policies where domain in (
      select domain from sts_policies
      where ${expiry} <= ${fetchedAt}
        or (select count(*) from sts_policies) > ${most}
          and domain in (select domain from sts_policies order by fetched_at desc, domain offset ${most})
      for update skip locked)`);
}
