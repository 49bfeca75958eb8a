/** The SQL of saved views. A caller sees those that it has saved, and all that are shared in its workspace. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export const sharedViewRoom: WorkspaceRowLimit = {
  table: sql`saved_views`,
  counted: sql`and is_shared`,
  what: "shared views",
  most: 200,
};

/** @param ownerId id of the person or the API key */
export function ownSharedViewRoom(ownerId: string): WorkspaceRowLimit {
  return {
    table: sql`saved_views`,
    counted: sql`and is_shared and owner_id = ${ownerId}`,
    what: "shared views of your own",
    most: 50,
  };
}

/** @param ownerId id of the person or the API key */
export function ownViewRoom(ownerId: string): WorkspaceRowLimit {
  return {
    table: sql`saved_views`,
    counted: sql`and not is_shared and owner_id = ${ownerId}`,
    what: "views of your own",
    most: 100,
  };
}

export interface ViewRow {
  readonly id: string;
  readonly page_name: string;
  readonly name: string;
  readonly state: string;
  readonly is_shared: boolean;
  /** Id of the person or the API key. */
  readonly owner_id: string;
  readonly owner_name: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns: Sql = sql`
  id, page_name, name, state, is_shared, owner_id, owner_name, created_at, updated_at`;

const seenBy = (workspaceId: WorkspaceId, viewer: string, page: string | undefined): Sql => sql`
  where workspace_id = ${workspaceId} and (is_shared or owner_id = ${viewer})
    ${page === undefined ? empty : sql`and page_name = ${page}`}`;

/** By name. @param viewer id of the person or the API key */
export function listViews(
  db: Queryable,
  workspaceId: WorkspaceId,
  viewer: string,
  page: string | undefined,
  { limit, offset }: Page,
): Promise<ViewRow[]> {
  return db.rows(sql`
    select ${columns} from saved_views ${seenBy(workspaceId, viewer, page)}
    order by lower(name), id limit ${limit} offset ${offset}`);
}

export async function countViews(
  db: Queryable,
  workspaceId: WorkspaceId,
  viewer: string,
  page: string | undefined,
): Promise<number> {
  const counted = await db.row<{ total: number }>(sql`
    select count(*)::int as total from saved_views ${seenBy(workspaceId, viewer, page)}`);
  return counted?.total ?? 0;
}

/** Locks the view until the transaction ends. Undefined for one that the viewer does not see. */
export function lockView(
  tx: Queryable,
  workspaceId: WorkspaceId,
  viewer: string,
  id: string,
): Promise<ViewRow | undefined> {
  return tx.row(sql`
    select ${columns} from saved_views ${seenBy(workspaceId, viewer, undefined)} and id = ${id}
    for update`);
}

export async function insertView(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, owner_id, page_name, name, state, is_shared, owner_name, created_at }: ViewRow,
): Promise<void> {
  await tx.run(sql`
    insert into saved_views
      (workspace_id, id, owner_id, owner_name, page_name, name, state, is_shared, created_at, updated_at)
    values (${workspaceId}, ${id}, ${owner_id}, ${owner_name}, ${page_name}, ${name}, ${state}, ${is_shared},
      ${created_at}, ${created_at})`);
}

export async function updateView(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, name, state, is_shared, updated_at }: ViewRow,
): Promise<void> {
  await tx.run(sql`
    update saved_views set name = ${name}, state = ${state}, is_shared = ${is_shared}, updated_at = ${updated_at}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export async function removeView(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from saved_views where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The views that a person or API key who leaves the workspace did not share: no other caller sees them. */
export async function removeUnsharedViews(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ownerId: string,
): Promise<void> {
  await tx.run(sql`
    delete from saved_views where workspace_id = ${workspaceId} and owner_id = ${ownerId} and not is_shared`);
}
