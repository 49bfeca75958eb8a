/**
 * SQL that checks whether a workspace may send as an address, by its sending domains and verified senders. It runs for
 * each accepted batch.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { isActiveSql } from "./sending-domains/operator-switch-store.ts";

export interface SenderOfWorkspace {
  readonly workspaceId: WorkspaceId;
  /** Lower-case. */
  readonly email: string;
  readonly domain: string;
}

export interface SenderPermission {
  /** The domain's ownership is proved or the address is confirmed, and the operator has not switched the domain off. */
  readonly may_send: boolean;
  readonly by_domain: boolean;
}

/** One row for each requested sender; three look-ups by unique index each. */
function permissionsSql(asked: readonly SenderOfWorkspace[]): Sql {
  return sql`
    select (coalesce(own.is_verified, false) or coalesce(sender.is_verified, false))
        and ${isActiveSql(sql`asked.workspace_id`, sql`asked.domain`)} as may_send,
      coalesce(own.is_verified, false) as by_domain, asked.position
    from unnest(${asked.map((one) => one.workspaceId)}::uuid[], ${asked.map((one) => one.email)}::text[],
      ${asked.map((one) => one.domain)}::text[]) with ordinality as asked (workspace_id, email, domain, position)
    left join sending_domains as own using (workspace_id, domain)
    left join verified_senders as sender on sender.workspace_id = asked.workspace_id and sender.email = asked.email`;
}

/** For each requested sender, in the order of the request. */
export function listSenderPermissions(
  db: Queryable,
  asked: readonly SenderOfWorkspace[],
): Promise<SenderPermission[]> {
  return db.rows(
    sql`select may_send, by_domain from (${permissionsSql(asked)}) as standing order by position`,
    "sender standings",
  );
}

/** The given domains whose ownership the workspace has proved and that the operator has not switched off. */
export async function listVerifiedDomains(
  db: Queryable,
  workspaceId: WorkspaceId,
  domains: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ domain: string }>(sql`
    select domain from sending_domains
    where workspace_id = ${workspaceId} and domain = any(${domains}::text[]) and is_verified
      and ${isActiveSql(sql`sending_domains.workspace_id`, sql`sending_domains.domain`)}`);
  return rows.map(({ domain }) => domain);
}

/** Locks the domains and verified senders against deletion until the transaction ends. */
export async function lockSenders(
  tx: Queryable,
  workspaceId: WorkspaceId,
  senders: readonly Pick<SenderOfWorkspace, "email" | "domain">[],
): Promise<void> {
  const [domains, emails] = [senders.map(({ domain }) => domain), senders.map(({ email }) => email)];
  await tx.run(sql`
    select from sending_domains where workspace_id = ${workspaceId} and domain = any(${domains}::text[])
    order by domain for key share`);
  await tx.run(sql`
    select from verified_senders where workspace_id = ${workspaceId} and email = any(${emails}::text[])
    order by email for key share`);
}

/** Part of the acceptance statement: one row, whose `may_send` is true when all senders are allowed. */
export function allMaySendSql(asked: readonly SenderOfWorkspace[]): Sql {
  return sql`select coalesce(bool_and(may_send), true) as may_send from (${permissionsSql(asked)}) as standing`;
}
