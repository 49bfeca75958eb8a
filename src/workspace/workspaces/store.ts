/** SQL of workspaces. `updateWorkspace` writes whole rows, so callers lock the row first. */
import sql, { empty } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, nilId, type WorkspaceId } from "#platform/ids.ts";
import type { Workspace } from "./workspace.ts";

/**
 * The workspace of the mails about accounts. It has no keys and no members: the message log of a workspace shows the content of
 * its mails, and a link to a new password is only for its recipient.
 */
export const installationWorkspaceId = asWorkspaceId(nilId);

/** @param options.mayExist keeps a workspace that has the id */
export async function insertWorkspace(
  db: Queryable,
  workspace: Workspace,
  { mayExist = false } = {},
): Promise<void> {
  await db.run(sql`
    insert into workspaces (id, name, timezone, plan, hourly_cap, notify_email, default_sender, retry_hours,
      tracks_transactional, is_suspended, own_hourly_cap, requires_second_factor, language, language_field, created_at,
      updated_at)
    values (${workspace.id}, ${workspace.name}, ${workspace.timezone}, ${workspace.plan}, ${workspace.hourly_cap},
      ${workspace.notify_email}, ${workspace.default_sender}, ${workspace.retry_hours},
      ${workspace.tracks_transactional}, ${workspace.is_suspended}, ${workspace.own_hourly_cap},
      ${workspace.requires_second_factor}, ${workspace.language}, ${workspace.language_field},
      ${workspace.created_at}, ${workspace.updated_at})
    ${mayExist ? sql`on conflict (id) do nothing` : empty}`);
}

export function findWorkspace(db: Queryable, workspaceId: WorkspaceId): Promise<Workspace | undefined> {
  return db.row(sql`select * from workspaces where id = ${workspaceId}`);
}

/** Locks the workspace against changes by others until the transaction ends. */
export function lockWorkspace(tx: Queryable, workspaceId: WorkspaceId): Promise<Workspace | undefined> {
  return tx.row(sql`select * from workspaces where id = ${workspaceId} for no key update`);
}

/** All workspaces of the installation, oldest first. */
export function listWorkspaces(db: Queryable): Promise<Workspace[]> {
  return db.rows(
    sql`select * from workspaces where id <> ${installationWorkspaceId} order by created_at, id`,
  );
}

/** Of the oldest `most` workspaces of the installation. */
export async function findOldestWorkspaceIds(db: Queryable, most: number): Promise<WorkspaceId[]> {
  const rows = await db.rows<{ id: WorkspaceId }>(sql`
    select id from workspaces where id <> ${installationWorkspaceId} order by created_at, id limit ${most}`);
  return rows.map(({ id }) => id);
}

/** The oldest workspace, locked until the transaction ends. */
export function findFirstWorkspace(tx: Queryable): Promise<Workspace | undefined> {
  return tx.row(sql`
    select * from workspaces where id <> ${installationWorkspaceId}
    order by created_at, id limit 1 for no key update`);
}

export async function updateWorkspace(tx: Queryable, workspace: Workspace): Promise<void> {
  await tx.run(sql`
    update workspaces
    set name = ${workspace.name}, timezone = ${workspace.timezone}, plan = ${workspace.plan},
        hourly_cap = ${workspace.hourly_cap}, notify_email = ${workspace.notify_email},
        default_sender = ${workspace.default_sender}, retry_hours = ${workspace.retry_hours},
        tracks_transactional = ${workspace.tracks_transactional}, is_suspended = ${workspace.is_suspended},
        suspended_at = ${workspace.suspended_at}, own_hourly_cap = ${workspace.own_hourly_cap}, requires_second_factor = ${workspace.requires_second_factor},
        language = ${workspace.language}, language_field = ${workspace.language_field},
        updated_at = ${workspace.updated_at}
    where id = ${workspace.id}`);
}

/**
 * Whether the installation has no workspace. Holds a lock until the transaction ends, so that of several machines that
 * start at once only one creates the first workspace.
 */
export async function lockWhetherEmpty(tx: Queryable): Promise<boolean> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey("first workspace")})`);
  return !(await hasWorkspaces(tx));
}

/** Whether the installation has a workspace, as it has from its first start on. The schema may be missing. */
export async function hasWorkspaces(db: Queryable): Promise<boolean> {
  const schema = await db.row<{ is_there: boolean }>(
    sql`select to_regclass('workspaces') is not null as is_there`,
  );
  if (schema?.is_there !== true) return false;
  const answer = await db.row<{ some: boolean }>(sql`select exists (
    select from workspaces where id <> ${installationWorkspaceId}) as some`);
  return answer?.some === true;
}
