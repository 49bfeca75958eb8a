/** SQL of DKIM keys. Private keys are read only sealed, and only for signing. */
import sql from "sql-template-tag";
import type { Failures } from "#identity/dns-checks/state-after-check.ts";
import type { DomainOfWorkspace } from "#identity/sending-domains/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface DkimKey {
  readonly id: string;
  readonly domain: string;
  readonly selector: string;
  readonly bits: number;
  /** Base64 of the SubjectPublicKeyInfo, as in the p= tag. */
  readonly public_key: string;
  readonly is_automatic: boolean;
  /** When its record was first seen in the DNS; null while it is not there. */
  readonly verified_at: Date | null;
  readonly created_at: Date;
}

/** A key with its consecutive failed automatic checks. */
export interface CheckedDkimKey extends DkimKey {
  readonly failed_checks: Failures | null;
}

export interface NewDkimKey {
  readonly id: string;
  readonly domain: string;
  readonly selector: string;
  readonly bits: number;
  readonly publicKey: string;
  /** PEM of the private key, sealed for this id. */
  readonly sealedKey: Buffer;
  readonly isAutomatic: boolean;
  readonly createdAt: Date;
}

const columns = sql`id, domain, selector, bits, public_key, is_automatic, verified_at, created_at`;

/**
 * The signing key of a domain first: the newest whose record has been seen; without one, the automatic key; without
 * that, the newest. (Ids grow with time.)
 */
const signingOrder = sql`dkim_keys.verified_at is not null desc,
  dkim_keys.verified_at is null and is_automatic desc, dkim_keys.id desc`;

/** Newest first. */
export function listDkimKeys(db: Queryable, workspaceId: WorkspaceId): Promise<DkimKey[]> {
  return db.rows(sql`
    select ${columns} from dkim_keys where workspace_id = ${workspaceId} order by created_at desc, id desc`);
}

/** The keys of one domain, the one that signs first. */
export function listDkimKeysOfDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<CheckedDkimKey[]> {
  return db.rows(sql`
    select ${columns}, failed_checks from dkim_keys
    where workspace_id = ${workspaceId} and domain = ${domain}
    order by ${signingOrder}`);
}

/** Since when no record of the verified keys is found, if it is so now (ISO 8601). @param keys as before the check of `now` */
export function failingSince(keys: readonly CheckedDkimKey[], now: Date): string {
  const times = keys
    .filter((key) => key.verified_at !== null)
    .map((key) => key.failed_checks?.since ?? now.toISOString());
  return times.toSorted().at(-1) ?? now.toISOString();
}

export function findDkimKey(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<DkimKey | undefined> {
  return db.row(sql`select ${columns} from dkim_keys where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The new key, or undefined when the domain has one with that selector. */
export function insertDkimKey(
  db: Queryable,
  workspaceId: WorkspaceId,
  key: NewDkimKey,
): Promise<DkimKey | undefined> {
  return db.row(sql`
    insert into dkim_keys
      (workspace_id, id, domain, selector, bits, public_key, private_key, is_automatic, created_at)
    values (${workspaceId}, ${key.id}, ${key.domain}, ${key.selector}, ${key.bits}, ${key.publicKey},
      ${key.sealedKey}, ${key.isAutomatic}, ${key.createdAt})
    on conflict (workspace_id, domain, selector) do nothing
    returning ${columns}`);
}

/** Stores the result of a check; a key that stays verified keeps its first date. */
export async function updateDkimKeyVerification(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  state: { readonly verified: boolean; readonly failures: Failures | null; readonly now: Date },
): Promise<void> {
  const failedChecks = state.failures && JSON.stringify(state.failures);
  await db.run(sql`
    update dkim_keys
    set verified_at = case when ${state.verified} then coalesce(verified_at, ${state.now}) end,
      failed_checks = ${failedChecks}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export async function removeDkimKey(db: Queryable, workspaceId: WorkspaceId, id: string): Promise<boolean> {
  const removed = await db.run(sql`
    delete from dkim_keys where workspace_id = ${workspaceId} and id = ${id}`);
  return removed > 0;
}

export interface SealedSigningKey {
  /** All three are null when a domain has no key. */
  readonly id: string | null;
  readonly selector: string | null;
  readonly private_key: Buffer | null;
}

/**
 * The signing key of each requested domain, in the order of the request. A key whose record was never seen signs only
 * for a domain whose ownership is proved.
 */
export function listSigningKeys(
  db: Queryable,
  asked: readonly DomainOfWorkspace[],
): Promise<SealedSigningKey[]> {
  return db.rows(
    sql`
    select key.id, key.selector, key.private_key
    from unnest(${asked.map((one) => one.workspaceId)}::uuid[], ${asked.map((one) => one.domain)}::text[])
      with ordinality as asked (workspace_id, domain, position)
    left join lateral (
      select dkim_keys.id, selector, private_key
      from dkim_keys join sending_domains as own using (workspace_id, domain)
      where workspace_id = asked.workspace_id and domain = asked.domain
        and (dkim_keys.verified_at is not null or own.is_verified)
      order by ${signingOrder}
      limit 1
    ) as key on true
    order by asked.position`,
    "signing keys",
  );
}
