/**
 * The table of suppression lists. Transactions that change the entries of a list lock it first (lockSuppressionList).
 */
import sql from "sql-template-tag";
import { shareLockSegments } from "#audience/mailing-lists/segment-locks-store.ts";
import { shareLockMailingList } from "#audience/mailing-lists/store.ts";
import { listFirstUsers } from "#audience/uses/first-users-store.ts";
import type { UserRow } from "#audience/uses/used-by.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import { required } from "#platform/errors.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { SuppressionList, SuppressionSettings } from "./suppression-list.ts";

/** The list that the service manages. */
const SYSTEM_LIST = {
  name: "Bounces and complaints",
  description: "Addresses that do not exist, or whose owners complained. Kept by the service.",
};

const lists = sql`
  select l.id, l.name, l.description, l.suppression_scope, l.mailing_list_id, l.segment_id, l.is_active,
    m.name as mailing_list_name, s.name as segment_name, l.is_system, l.entry_count, l.created_at, l.updated_at
  from suppression_lists l
  left join mailing_lists m on m.workspace_id = l.workspace_id and m.id = l.mailing_list_id
  left join segments s on s.workspace_id = l.workspace_id and s.id = l.segment_id`;

/** Limited because the endpoint returns all lists at once. */
export const suppressionListRoom: WorkspaceRowLimit = {
  table: sql`suppression_lists`,
  what: "suppression lists",
  most: 1_000,
};

/** Newest first. */
export function listSuppressionLists(db: Queryable, workspaceId: WorkspaceId): Promise<SuppressionList[]> {
  return db.rows(sql`${lists} where l.workspace_id = ${workspaceId} order by l.created_at desc, l.id desc`);
}

export function findSuppressionList(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<SuppressionList | undefined> {
  return db.row(sql`${lists} where l.workspace_id = ${workspaceId} and l.id = ${id}`);
}

/** @throws ApiError NOT_FOUND */
export async function requireSuppressionList(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<SuppressionList> {
  return required(await findSuppressionList(db, workspaceId, id), "Suppression list");
}

/** The list, locked until the transaction ends. @throws ApiError NOT_FOUND */
export async function lockSuppressionList(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<SuppressionList> {
  return required(
    await tx.row<SuppressionList>(sql`
    ${lists} where l.workspace_id = ${workspaceId} and l.id = ${id} for no key update of l`),
    "Suppression list",
  );
}

/**
 * Keeps the mailing list or segment of a scope from being deleted before the transaction ends.
 * @returns whether it exists
 */
export async function lockScope(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { mailing_list_id, segment_id }: Pick<SuppressionSettings, "mailing_list_id" | "segment_id">,
): Promise<boolean> {
  if (mailing_list_id !== null) return shareLockMailingList(tx, workspaceId, mailing_list_id);
  return segment_id === null || (await shareLockSegments(tx, workspaceId, [segment_id])) > 0;
}

export async function insertSuppressionList(
  tx: Queryable,
  workspaceId: WorkspaceId,
  list: SuppressionSettings & Pick<SuppressionList, "id">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into suppression_lists (workspace_id, id, name, description, suppression_scope, mailing_list_id, segment_id,
      is_active, created_at, updated_at)
    values (${workspaceId}, ${list.id}, ${list.name}, ${list.description}, ${list.suppression_scope},
      ${list.mailing_list_id}, ${list.segment_id}, ${list.is_active}, ${now}, ${now})`);
}

export async function updateSuppressionList(
  tx: Queryable,
  workspaceId: WorkspaceId,
  list: SuppressionSettings & Pick<SuppressionList, "id">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update suppression_lists
    set name = ${list.name}, description = ${list.description}, suppression_scope = ${list.suppression_scope},
      mailing_list_id = ${list.mailing_list_id}, segment_id = ${list.segment_id}, is_active = ${list.is_active},
      updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${list.id}`);
}

/** Locks a list that is going to be deleted. @returns false if it is deleted already */
export async function lockForRemoval(
  tx: Queryable,
  { workspaceId, listId }: { readonly workspaceId: WorkspaceId; readonly listId: string },
): Promise<boolean> {
  const found = await tx.row(sql`
    select from suppression_lists where workspace_id = ${workspaceId} and id = ${listId} for update`);
  return found !== undefined;
}

/** The list must be locked and empty. */
export async function removeSuppressionList(
  tx: Queryable,
  { workspaceId, listId }: { readonly workspaceId: WorkspaceId; readonly listId: string },
): Promise<void> {
  await tx.run(sql`delete from suppression_lists where workspace_id = ${workspaceId} and id = ${listId}`);
}

/**
 * Creates the system list of bounces and complaints if the workspace has none; its created_at is that of the workspace.
 * @returns its id
 */
export async function ensureSystemList(db: Queryable, workspaceId: WorkspaceId): Promise<string> {
  const find = () =>
    db.row<{ id: string }>(
      sql`select id from suppression_lists where workspace_id = ${workspaceId} and is_system`,
    );
  const known = await find();
  if (known !== undefined) return known.id;
  await db.run(sql`
    insert into suppression_lists (workspace_id, id, name, description, suppression_scope, is_system, created_at,
      updated_at)
    select id, ${newId()}, ${SYSTEM_LIST.name}, ${SYSTEM_LIST.description}, 'global', true, created_at, created_at
    from workspaces where id = ${workspaceId}
    on conflict (workspace_id) where is_system do nothing`);
  const made = await find();
  if (made === undefined) throw new Error(`workspace ${workspaceId} has no system suppression list`);
  return made.id;
}

/** Ids of the suppression lists whose scope is a mailing list or one of its segments. */
export async function listScopedTo(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from suppression_lists
    where workspace_id = ${workspaceId} and (mailing_list_id = ${mailingListId} or segment_id in (
      select id from segments where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}))
    order by id`);
  return rows.map((row) => row.id);
}

/** The suppression lists whose scope is one of these segments. */
export function listSuppressionOfSegments(
  db: Queryable,
  workspaceId: WorkspaceId,
  segmentIds: readonly string[],
): Promise<UserRow[]> {
  return listFirstUsers(
    db,
    sql`
    select segment_id as used_id, id, name, null::uuid as mailing_list_id, true as prevents_deletion
    from suppression_lists where workspace_id = ${workspaceId} and segment_id = any (${[...segmentIds]}::uuid[])`,
  );
}
