/** SQL of Google's statistics about verified sending domains, and of the last check of the credentials. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { GoogleDomainStats } from "./api.ts";

export interface DueDomain {
  readonly workspace_id: WorkspaceId;
  readonly domain: string;
}

/** Verified domains that are due for a request; new ones first. */
export function listDueDomains(db: Queryable, now: Date, most: number): Promise<DueDomain[]> {
  return db.rows(sql`
    select workspace_id, domain
    from sending_domains left join postmaster_domains using (workspace_id, domain)
    where is_verified and (due_at is null or due_at <= ${now})
    order by due_at nulls first, workspace_id, domain
    limit ${most}`);
}

/**
 * Stores statistics; undefined when Google does not know the domain, or not in this account. Does nothing for a deleted
 * domain.
 */
export async function saveStats(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  stats: GoogleDomainStats | undefined,
  dueAt: Date,
): Promise<void> {
  await db.run(sql`
    insert into postmaster_domains (workspace_id, domain, due_at, is_registered, day, spam_rate, spf_success_rate,
      dkim_success_rate, dmarc_success_rate, encryption_rate, delivery_error_rate)
    select workspace_id, domain, ${dueAt}, ${stats !== undefined}, ${stats?.date}::date,
      ${stats?.spam_rate}::double precision, ${stats?.spf_success_rate}::double precision,
      ${stats?.dkim_success_rate}::double precision, ${stats?.dmarc_success_rate}::double precision,
      ${stats?.encryption_rate}::double precision, ${stats?.delivery_error_rate}::double precision
    from sending_domains where workspace_id = ${workspaceId} and domain = ${domain} for key share
    on conflict (workspace_id, domain) do update set
      due_at = excluded.due_at, is_registered = excluded.is_registered, day = excluded.day,
      spam_rate = excluded.spam_rate, spf_success_rate = excluded.spf_success_rate,
      dkim_success_rate = excluded.dkim_success_rate, dmarc_success_rate = excluded.dmarc_success_rate,
      encryption_rate = excluded.encryption_rate, delivery_error_rate = excluded.delivery_error_rate`);
}

/** Sets the time of the next request; stored statistics stay. */
export async function updateDueAt(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  dueAt: Date,
): Promise<void> {
  await db.run(sql`
    insert into postmaster_domains (workspace_id, domain, due_at)
    select workspace_id, domain, ${dueAt}
    from sending_domains where workspace_id = ${workspaceId} and domain = ${domain} for key share
    on conflict (workspace_id, domain) do update set due_at = excluded.due_at`);
}

/** Verified domains that are registered with Google; those with the newest statistics first. */
export function listDomainStats(
  db: Queryable,
  workspaceId: WorkspaceId,
  most: number,
): Promise<(GoogleDomainStats & { readonly domain: string })[]> {
  return db.rows(sql`
    select domain, day::text as date, spam_rate, spf_success_rate, dkim_success_rate, dmarc_success_rate,
      encryption_rate, delivery_error_rate
    from postmaster_domains join sending_domains using (workspace_id, domain)
    where workspace_id = ${workspaceId} and is_registered and is_verified
    order by day desc nulls last, domain
    limit ${most}`);
}

/** Whether Google accepted the credentials at the last request; undefined before the first. */
export async function findAuthorisation(db: Queryable): Promise<boolean | undefined> {
  const row = await db.row<{ is_authorised: boolean }>(sql`select is_authorised from postmaster_standing`);
  return row?.is_authorised;
}

export async function saveAuthorisation(db: Queryable, isAuthorised: boolean, now: Date): Promise<void> {
  await db.run(sql`
    insert into postmaster_standing (is_authorised, told_at) values (${isAuthorised}, ${now})
    on conflict (only_row) do update set is_authorised = excluded.is_authorised, told_at = excluded.told_at`);
}
