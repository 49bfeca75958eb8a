/** The table of MTA-STS policies, which the delivery machines share. */
import sql from "sql-template-tag";
import type { StsMode, StsPolicy } from "#mail/dns/mta-sts.ts";
import type { Queryable } from "#platform/database/pool.ts";

/** Beyond these the one goes that was fetched longest ago; those in use are fetched anew every day. */
const MOST_POLICIES = 10_000;

/** A policy as it was fetched. */
export interface FetchedStsPolicy {
  readonly domain: string;
  /** Of the DNS record that announced it. */
  readonly id: string;
  readonly policy: StsPolicy;
  readonly fetchedAt: Date;
}

const expiry = sql`fetched_at + max_age_seconds * interval '1 second'`;

/** The policy of a domain, if there is one that has not reached its age. */
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

/** In the place of what the domain had, unless another machine has fetched a later one; the expired go. */
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
  // What another machine is just working at is left to it: nobody waits for anybody here. Counted first, sorted only then.
  await db.run(sql`
    delete from sts_policies where domain in (
      select domain from sts_policies
      where ${expiry} <= ${fetchedAt}
        or (select count(*) from sts_policies) > ${most}
          and domain in (select domain from sts_policies order by fetched_at desc, domain offset ${most})
      for update skip locked)`);
}
