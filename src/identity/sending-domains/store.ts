/** SQL of sending domains and of the claims on them. */
import { randomBytes } from "node:crypto";
import sql, { type Sql } from "sql-template-tag";
import { leaseForRecheck, type RecheckLease } from "#identity/dns-checks/recheck-store.ts";
import type { Failures } from "#identity/dns-checks/state-after-check.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { isActiveSql } from "./operator-switch-store.ts";

/** A domain as the API shows it. */
export interface SendingDomain {
  readonly id: string;
  /** Lower-case A-labels. */
  readonly domain: string;
  /** Ownership is proved. */
  readonly is_verified: boolean;
  readonly spf_verified: boolean;
  readonly dkim_verified: boolean;
  readonly dmarc_verified: boolean;
  readonly verified_at: Date | null;
  /** False when the operator switched the domain off. */
  readonly is_active: boolean;
  readonly custom_return_path: boolean;
  readonly return_path_verified: boolean;
  readonly dmarc_ingestion: boolean;
  readonly checked_at: Date | null;
  readonly created_at: Date;
}

/** A domain of a workspace, for queries about many. */
export interface DomainOfWorkspace {
  readonly workspaceId: WorkspaceId;
  readonly domain: string;
}

/** Checks whose failures are counted in the domain's row; those of a DKIM key are in its own row. */
export const countedChecks = ["ownership", "spf", "dmarc", "return_path"] as const;
export type CountedCheck = (typeof countedChecks)[number];

/** Checks that a domain can pass and later lose. */
export const losableChecks = ["ownership", "spf", "dkim", "dmarc", "return_path"] as const;
export type LosableCheck = (typeof losableChecks)[number];

/** A domain with the data of its checks. */
export interface CheckedDomain extends SendingDomain {
  readonly verification_token: string;
  readonly dmarc_token: string;
  readonly failed_checks: Readonly<Partial<Record<CountedCheck, Failures>>>;
  /** Verifications that the domain had and lost, with the time since when the record was not found, ISO 8601. */
  readonly lost_checks: Readonly<Partial<Record<LosableCheck, string>>>;
}

const columns = sql`id, domain, is_verified, spf_verified, dkim_verified, dmarc_verified, verified_at,
  custom_return_path, return_path_verified, dmarc_ingestion, checked_at, created_at,
  ${isActiveSql(sql`sending_domains.workspace_id`, sql`sending_domains.domain`)} as is_active`;
const checkedColumns = sql`${columns}, verification_token, dmarc_token, failed_checks, lost_checks`;

/** 128 bits in lower-case hexadecimal: DNS panels and mail addresses may change the case. */
const TOKEN_OCTETS = 16;
const newToken = () => randomBytes(TOKEN_OCTETS).toString("hex");

/** A page lists all of them at once. */
export const sendingDomainRoom: WorkspaceRowLimit = {
  table: sql`sending_domains`,
  what: "sending domains",
  most: 1_000,
};

/** Newest first. */
export function listSendingDomains(db: Queryable, workspaceId: WorkspaceId): Promise<SendingDomain[]> {
  return db.rows(sql`
    select ${columns} from sending_domains
    where workspace_id = ${workspaceId}
    order by created_at desc, id desc`);
}

export function findSendingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<CheckedDomain | undefined> {
  return findDomain(db, sql`workspace_id = ${workspaceId} and id = ${id}`);
}

export function findSendingDomainByName(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<CheckedDomain | undefined> {
  return findDomain(db, sql`workspace_id = ${workspaceId} and domain = ${domain}`);
}

/** Locks the domain against changes, deletion and changes of its keys until the transaction ends. */
export function lockSendingDomain(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<CheckedDomain | undefined> {
  return findDomain(tx, sql`workspace_id = ${workspaceId} and domain = ${domain} for update`);
}

function findDomain(db: Queryable, condition: Sql): Promise<CheckedDomain | undefined> {
  return db.row(sql`select ${checkedColumns} from sending_domains where ${condition}`);
}

/** The new row; undefined when the workspace already has the domain. */
export function insertSendingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  now: Date,
): Promise<SendingDomain | undefined> {
  return db.row(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, created_at)
    values (${workspaceId}, ${newId()}, ${domain}, ${newToken()}, ${newToken()}, ${now})
    on conflict (workspace_id, domain) do nothing
    returning ${columns}`);
}

/** Switches the domain's own return path on or off; the next check finds out whether its record exists. */
export function updateCustomReturnPath(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  enabled: boolean,
): Promise<CheckedDomain | undefined> {
  return db.row(sql`
    update sending_domains
    set custom_return_path = ${enabled}, return_path_verified = return_path_verified and ${enabled}
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${checkedColumns}`);
}

export function updateDmarcIngestion(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  enabled: boolean,
): Promise<CheckedDomain | undefined> {
  return db.row(sql`
    update sending_domains set dmarc_ingestion = ${enabled}
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${checkedColumns}`);
}

/** Stores the result of a check; a flag that stays set keeps its first date. */
export async function updateDomainVerification(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  standing: {
    readonly verified: Readonly<Record<CountedCheck, boolean>>;
    readonly failedChecks: CheckedDomain["failed_checks"];
    readonly now: Date;
  },
): Promise<void> {
  const { verified, failedChecks, now } = standing;
  await tx.run(sql`
    update sending_domains
    set is_verified = ${verified.ownership}, spf_verified = ${verified.spf}, dmarc_verified = ${verified.dmarc},
      return_path_verified = custom_return_path and ${verified.return_path},
      verified_at = case when ${verified.ownership} then coalesce(verified_at, ${now}) end,
      dmarc_verified_at = case when ${verified.dmarc} then coalesce(dmarc_verified_at, ${now}) end,
      failed_checks = ${JSON.stringify(failedChecks)}, checked_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export async function updateLostChecks(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  lost: CheckedDomain["lost_checks"],
): Promise<void> {
  const lostChecks = JSON.stringify(lost);
  await tx.run(sql`
    update sending_domains set lost_checks = ${lostChecks}::jsonb
    where workspace_id = ${workspaceId} and id = ${id} and lost_checks <> ${lostChecks}::jsonb`);
}

/**
 * Sets `dkim_verified` from the domain's keys: one whose record was seen is enough. Its date stays when that key is
 * deleted.
 * @param lostSince when the records were first not found (ISO 8601), if the flag is lost by a check; null if no loss is recorded
 */
export function updateDkimVerified(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  lostSince: string | null,
): Promise<SendingDomain | undefined> {
  return tx.row(sql`
    update sending_domains
    set dkim_verified = seen.since is not null,
      dkim_verified_at = case when seen.since is not null then coalesce(dkim_verified_at, seen.since) end,
      lost_checks = case
        when seen.since is not null then lost_checks - 'dkim'
        when dkim_verified and ${lostSince}::text is not null
          then lost_checks || jsonb_build_object('dkim', ${lostSince}::text)
        else lost_checks end
    from (
      select min(verified_at) as since from dkim_keys where workspace_id = ${workspaceId} and domain = ${domain}
    ) as seen
    where workspace_id = ${workspaceId} and domain = ${domain}
    returning ${columns}`);
}

/**
 * Deletes the domain with its keys and remaining reports (by foreign key).
 * @returns its name
 */
export async function removeSendingDomain(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<string | undefined> {
  const removed = await tx.row<{ domain: string }>(sql`
    delete from sending_domains where workspace_id = ${workspaceId} and id = ${id} returning domain`);
  return removed?.domain;
}

/** Leases domains for the daily re-check (recheck-store.ts). */
export function leaseDueDomains(
  db: Queryable,
  due: RecheckLease,
): Promise<(CheckedDomain & { readonly workspace_id: WorkspaceId })[]> {
  const isActive = isActiveSql(sql`leased.workspace_id`, sql`leased.domain`);
  return leaseForRecheck(db, sql`sending_domains`, sql`leased.*, ${isActive} as is_active`, due);
}

/**
 * Claims a domain for the workspace that proved ownership; false when another workspace has claimed it. Repeated calls
 * change nothing.
 */
export async function insertDomainClaim(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  now: Date,
): Promise<boolean> {
  const held = await tx.run(sql`
    insert into domain_claims (domain, workspace_id, claimed_at) values (${domain}, ${workspaceId}, ${now})
    on conflict (domain) do update set workspace_id = excluded.workspace_id
    where domain_claims.workspace_id = excluded.workspace_id`);
  return held > 0;
}

/** Removes the claim of this workspace on the domain. */
export async function removeDomainClaim(
  tx: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<void> {
  await tx.run(sql`delete from domain_claims where domain = ${domain} and workspace_id = ${workspaceId}`);
}

/** The workspace that proved ownership of a domain. */
export async function findDomainHolder(db: Queryable, domain: string): Promise<WorkspaceId | undefined> {
  const claim = await db.row<{ workspace_id: WorkspaceId }>(sql`
    select workspace_id from domain_claims where domain = ${domain}`);
  return claim?.workspace_id;
}

/** The nearest claimed domain at or above a name, and its workspace. */
export function findClaimOver(
  db: Queryable,
  name: string,
): Promise<{ readonly domain: string; readonly workspace_id: WorkspaceId } | undefined> {
  const labels = name.split(".");
  const above = labels.slice(0, -1).map((_, at) => labels.slice(at).join("."));
  return db.row(sql`
    select domain, workspace_id from domain_claims where domain = any(${above})
    order by length(domain) desc limit 1`);
}

/** For each requested domain, in order, whether its own return path is switched on and verified. */
export async function listCustomReturnPaths(
  db: Queryable,
  asked: readonly DomainOfWorkspace[],
): Promise<boolean[]> {
  const rows = await db.rows<{ is_ready: boolean }>(
    sql`
    select coalesce(own.is_verified and own.custom_return_path and own.return_path_verified, false) as is_ready
    from unnest(${asked.map((one) => one.workspaceId)}::uuid[], ${asked.map((one) => one.domain)}::text[])
      with ordinality as asked (workspace_id, domain, position)
    left join sending_domains as own using (workspace_id, domain)
    order by asked.position`,
    "custom return paths",
  );
  return rows.map((row) => row.is_ready);
}

/** A domain whose DMARC reports are collected. */
export interface ReportedDomain {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly domain: string;
}

/** The domain whose reports go to the address with this token, while their collection is on. */
export function findDomainByReportToken(db: Queryable, token: string): Promise<ReportedDomain | undefined> {
  return db.row(sql`
    select workspace_id, id, domain from sending_domains where dmarc_token = ${token} and dmarc_ingestion`);
}

/** The verification of a domain, without the times of its checks. */
export interface DomainStanding {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly domain: string;
  readonly is_verified: boolean;
  readonly spf_verified: boolean;
  readonly dkim_verified: boolean;
  readonly dmarc_verified: boolean;
  readonly return_path_verified: boolean;
  readonly is_active: boolean;
  /** The number of all domains of the workspace. */
  readonly total: number;
}

/** The `most` newest domains of each workspace. */
export function listDomainStandings(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<DomainStanding[]> {
  return db.rows(
    sql`
    select d.* from unnest(${[...workspaceIds]}::uuid[]) as w (workspace_id)
    cross join lateral (
      select workspace_id, id, domain, is_verified, spf_verified, dkim_verified, dmarc_verified, return_path_verified,
        ${isActiveSql(sql`sending_domains.workspace_id`, sql`sending_domains.domain`)} as is_active,
        (count(*) over ())::int as total
      from sending_domains where sending_domains.workspace_id = w.workspace_id
      order by created_at desc, id desc limit ${most}) d`,
    "domain standings",
  );
}
