/** What Google said about verified sending domains, and whether it takes the credentials. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { GoogleDomainStats } from "./api.ts";

export interface DueDomain {
  readonly workspace_id: WorkspaceId;
  readonly domain: string;
}

/** Verified domains that Google is to be asked about; those that were never asked about come first. */
export function listDueDomains(db: Queryable, now: Date, most: number): Promise<DueDomain[]> {
  return db.rows(sql`
    select workspace_id, domain
    from sending_domains left join postmaster_domains using (workspace_id, domain)
    where is_verified and (due_at is null or due_at <= ${now})
    order by due_at nulls first, workspace_id, domain
    limit ${most}`);
}

/** Undefined `stats`: Google does not know the domain, or not as this account's. A domain that is gone is passed by. */
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

/** What is known stays. */
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

/** Domains of the workspace that are verified now and registered at Google; those with the newest figures come first. */
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

/** Before Google has said anything: undefined. */
export async function findAuthorisation(db: Queryable): Promise<boolean | undefined> {
  const row = await db.row<{ is_authorised: boolean }>(sql`select is_authorised from postmaster_standing`);
  return row?.is_authorised;
}

export async function saveAuthorisation(db: Queryable, isAuthorised: boolean, now: Date): Promise<void> {
  await db.run(sql`
    insert into postmaster_standing (is_authorised, told_at) values (${isAuthorised}, ${now})
    on conflict (only_row) do update set is_authorised = excluded.is_authorised, told_at = excluded.told_at`);
}
