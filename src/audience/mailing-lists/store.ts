/** The table of mailing lists, with the member counts from their counters. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid, notFound, required } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { MailingList } from "./mailing-list.ts";

const lists = sql`
  select l.id, l.name, l.description, l.from_name, l.from_email, l.reply_to_email, l.opt_in_type,
    l.enable_open_tracking, l.enable_click_tracking, l.language, coalesce(c.active, 0) as subscriber_count,
    coalesce(c.active + c.unsubscribed + c.bounced + c.complained, 0) as total_subscribers, l.created_at, l.updated_at
  from mailing_lists l
  left join list_counters c on c.workspace_id = l.workspace_id and c.mailing_list_id = l.id`;

/** Limited because the list endpoint and the statistics return all lists at once. */
export const mailingListRoom: WorkspaceRowLimit = {
  table: sql`mailing_lists`,
  what: "mailing lists",
  most: 1_000,
};

/** Newest first. */
export function listMailingLists(db: Queryable, workspaceId: WorkspaceId): Promise<MailingList[]> {
  return db.rows(sql`${lists} where l.workspace_id = ${workspaceId} order by l.created_at desc, l.id desc`);
}

export function findMailingList(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<MailingList | undefined> {
  return db.row(sql`${lists} where l.workspace_id = ${workspaceId} and l.id = ${id}`);
}

/** The workspace of a list: for commands of the operator, which name no workspace. */
export async function findWorkspaceOfList(db: Queryable, id: string): Promise<WorkspaceId | undefined> {
  const row = await db.row<{ workspace_id: WorkspaceId }>(sql`
    select workspace_id from mailing_lists where id = ${id}`);
  return row?.workspace_id;
}

/** @throws ApiError NOT_FOUND */
export async function requireMailingList(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Pick<MailingList, "name">> {
  return required(
    await db.row(sql`select name from mailing_lists where workspace_id = ${workspaceId} and id = ${id}`),
    "Mailing list",
  );
}

/**
 * Checks the query parameter list_id: an unknown id is a validation error there, whereas in a path it is not found.
 * @throws ApiError VALIDATION_ERROR
 */
export async function requireKnownList(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  field = "list_id",
): Promise<void> {
  if (await findMailingList(db, workspaceId, id)) return;
  throw invalid({ field, message: `${field} is no mailing list of this workspace` });
}

/** Keeps the list from being deleted before this transaction ends. @returns whether it exists */
export async function shareLockMailingList(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const found = await tx.row(sql`
    select from mailing_lists where workspace_id = ${workspaceId} and id = ${id} for key share`);
  return found !== undefined;
}

/** As shareLockMailingList; transactions that change members take this lock first. @throws ApiError NOT_FOUND */
export async function lockMailingList(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  if (!(await shareLockMailingList(tx, workspaceId, id))) throw notFound("Mailing list");
}

/** Waits for transactions that change the members, and blocks new ones. @throws ApiError NOT_FOUND */
export async function lockMailingListExclusively(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<void> {
  required(
    await tx.row(sql`
    select from mailing_lists where workspace_id = ${workspaceId} and id = ${id} for update`),
    "Mailing list",
  );
}

/**
 * For transactions that start to send to the members of lists: keeps the lists from being deleted before the
 * transaction ends.
 * @returns how many of the lists exist
 * @throws ApiError CONFLICT when a list is being deleted
 */
export async function lockListsForUse(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<number> {
  const lists = await tx.rows<Pick<MailingList, "name"> & { readonly is_going: boolean }>(sql`
    select name, is_going from mailing_lists where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])
    order by id for key share`);
  const going = lists.find(({ is_going }) => is_going);
  if (going) throw new ApiError("CONFLICT", `The mailing list "${going.name}" is being deleted`);
  return lists.length;
}

/** Requires lockMailingListExclusively. From then on lockListsForUse refuses the list. */
export async function markBeingDeleted(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(
    sql`update mailing_lists set is_going = true where workspace_id = ${workspaceId} and id = ${id}`,
  );
}

export async function insertMailingList(
  db: Queryable,
  workspaceId: WorkspaceId,
  list: MailingList,
): Promise<void> {
  await db.run(sql`
    insert into mailing_lists (workspace_id, id, name, description, from_name, from_email, reply_to_email, opt_in_type,
      enable_open_tracking, enable_click_tracking, language, created_at, updated_at)
    values (${workspaceId}, ${list.id}, ${list.name}, ${list.description}, ${list.from_name}, ${list.from_email},
      ${list.reply_to_email}, ${list.opt_in_type}, ${list.enable_open_tracking}, ${list.enable_click_tracking},
      ${list.language}, ${list.created_at}, ${list.updated_at})`);
}

/** The list, with its settings locked until the transaction ends; its members may still change. */
export function lockSettings(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<MailingList | undefined> {
  return tx.row(sql`${lists} where l.workspace_id = ${workspaceId} and l.id = ${id} for no key update of l`);
}

export async function updateMailingList(
  tx: Queryable,
  workspaceId: WorkspaceId,
  list: MailingList,
): Promise<void> {
  await tx.run(sql`
    update mailing_lists
    set name = ${list.name}, description = ${list.description}, from_name = ${list.from_name},
      from_email = ${list.from_email}, reply_to_email = ${list.reply_to_email}, opt_in_type = ${list.opt_in_type},
      enable_open_tracking = ${list.enable_open_tracking}, enable_click_tracking = ${list.enable_click_tracking},
      language = ${list.language}, updated_at = ${list.updated_at}
    where workspace_id = ${workspaceId} and id = ${list.id}`);
}

/** Also deletes its custom fields (cascade). Its members and counters must have been removed. */
export async function removeMailingList(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from mailing_lists where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The counters of a list on a day with any activity. */
export interface ListDay {
  readonly mailing_list_id: string;
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly subscribed: number;
  readonly unsubscribed: number;
  readonly bounced: number;
  readonly complained: number;
  readonly sent_count: number;
  readonly delivered_count: number;
  readonly bounce_count: number;
  readonly complaint_count: number;
  readonly engaged_count: number;
}

/** The days of all lists since `from`, oldest first. */
export function listDays(db: Queryable, workspaceId: WorkspaceId, from: string): Promise<ListDay[]> {
  return db.rows(sql`
    select mailing_list_id, day::text as day, subscribed, unsubscribed, bounced, complained, sent_count,
      delivered_count, bounce_count, complaint_count, engaged_count
    from list_days where workspace_id = ${workspaceId} and day >= ${from}::date order by day`);
}
