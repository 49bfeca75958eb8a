/** SQL of tracking domains. */
import sql from "sql-template-tag";
import { leaseForRecheck, type RecheckLease } from "#identity/dns-checks/recheck-store.ts";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";

export interface TrackingDomainRow {
  readonly id: string;
  /** Lower-case A-labels. */
  readonly domain: string;
  readonly is_verified: boolean;
  /** Time of verification; null when it is not verified. */
  readonly verified_at: Date | null;
  readonly checked_at: Date | null;
  /** The HTTPS error; null without one, and when it is not verified. */
  readonly https_fault: string | null;
  readonly created_at: Date;
}

const columns = sql`id, domain, is_verified, verified_at, checked_at, https_fault, created_at`;
/** Whether links use the domain. */
const isUsable = sql`is_verified and https_fault is null`;

/** The daily re-check looks up each of them. */
export const trackingDomainRoom: WorkspaceRowLimit = {
  table: sql`tracking_domains`,
  what: "tracking domains",
  most: 100,
  code: "CONFLICT",
};

/** Newest first. */
export function listTrackingDomains(db: Queryable, workspaceId: WorkspaceId): Promise<TrackingDomainRow[]> {
  return db.rows(sql`
    select ${columns} from tracking_domains where workspace_id = ${workspaceId}
    order by created_at desc, id desc`);
}

export function findTrackingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<TrackingDomainRow | undefined> {
  return db.row(sql`
    select ${columns} from tracking_domains where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The oldest usable tracking domain below a domain. */
export function findUsableBelow(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<TrackingDomainRow | undefined> {
  return db.row(sql`
    select ${columns} from tracking_domains
    where workspace_id = ${workspaceId} and ${isUsable} and right(domain, ${domain.length + 1}) = ${`.${domain}`}
    order by created_at, id limit 1`);
}

/** The oldest usable tracking domain. */
export function findUsable(db: Queryable, workspaceId: WorkspaceId): Promise<TrackingDomainRow | undefined> {
  return db.row(sql`
    select ${columns} from tracking_domains where workspace_id = ${workspaceId} and ${isUsable}
    order by created_at, id limit 1`);
}

/**
 * Whether the domain exists. In a transaction, also locks it against deletion and renaming until the transaction ends.
 */
export async function lockTrackingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const found = await db.row(sql`
    select from tracking_domains where workspace_id = ${workspaceId} and id = ${id} for key share`);
  return found !== undefined;
}

/** The new row; undefined when the workspace already has the domain. */
export function insertTrackingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
  now: Date,
): Promise<TrackingDomainRow | undefined> {
  return db.row(sql`
    insert into tracking_domains (workspace_id, id, domain, created_at)
    values (${workspaceId}, ${newId()}, ${domain}, ${now})
    on conflict (workspace_id, domain) do nothing
    returning ${columns}`);
}

/**
 * Renames the domain; a new name is not verified. Call it under lockRowLimit.
 * @returns undefined when it does not exist, or another one of the workspace has the name
 */
export function renameTrackingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  domain: string,
): Promise<TrackingDomainRow | undefined> {
  return db.row(sql`
    update tracking_domains
    set domain = ${domain}, is_verified = is_verified and domain = ${domain},
      verified_at = case when domain = ${domain} then verified_at end,
      checked_at = case when domain = ${domain} then checked_at end,
      https_fault = case when domain = ${domain} then https_fault end
    where workspace_id = ${workspaceId} and id = ${id} and not exists (
      select from tracking_domains other
      where other.workspace_id = ${workspaceId} and other.domain = ${domain} and other.id <> ${id})
    returning ${columns}`);
}

/** Serialises the verification of a name until the transaction ends. */
export async function lockTrackingName(tx: Queryable, domain: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey(`tracking domain ${domain}`)})`);
}

/** Whether another workspace has verified the name. */
export async function isVerifiedElsewhere(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<boolean> {
  const found = await db.row(sql`
    select from tracking_domains where workspace_id <> ${workspaceId} and domain = ${domain} and is_verified`);
  return found !== undefined;
}

/**
 * Clears the verification of a name in all other workspaces, because this one proved ownership of the domain above it.
 */
export async function unverifyElsewhere(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<void> {
  await db.run(sql`
    update tracking_domains set is_verified = false, verified_at = null, https_fault = null
    where workspace_id <> ${workspaceId} and domain = ${domain} and is_verified`);
}

/** The result of a check. */
export interface TrackingFindings {
  readonly isVerified: boolean;
  readonly httpsFault: string | null;
  readonly now: Date;
}

/**
 * Stores the result of a check, unless the domain was renamed during the DNS look-up. A domain that stays verified
 * keeps its date.
 */
export function updateTrackingVerified(
  db: Queryable,
  workspaceId: WorkspaceId,
  { id, domain }: Pick<TrackingDomainRow, "id" | "domain">,
  { isVerified, httpsFault, now }: TrackingFindings,
): Promise<TrackingDomainRow | undefined> {
  return db.row(sql`
    update tracking_domains
    set is_verified = ${isVerified}, checked_at = ${now}, https_fault = ${isVerified ? httpsFault : null},
      verified_at = case when ${isVerified} then coalesce(verified_at, ${now}) end
    where workspace_id = ${workspaceId} and id = ${id} and domain = ${domain}
    returning ${columns}`);
}

export async function removeTrackingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const removed = await db.run(sql`
    delete from tracking_domains where workspace_id = ${workspaceId} and id = ${id}`);
  return removed > 0;
}

/** Whether any workspace has verified the name, for requests that arrive at that host. */
export async function isTrackingDomain(db: Queryable, domain: string): Promise<boolean> {
  const found = await db.row(sql`
    select from tracking_domains where domain = ${domain} and is_verified`);
  return found !== undefined;
}

/** Leases domains for the daily re-check (recheck-store.ts). */
export function leaseDueTrackingDomains(
  db: Queryable,
  due: RecheckLease,
): Promise<(TrackingDomainRow & { readonly workspace_id: WorkspaceId })[]> {
  return leaseForRecheck(db, sql`tracking_domains`, sql`leased.*`, due);
}
