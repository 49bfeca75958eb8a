/**
 * The table of suppression entries. Each list stores its entry_count and a revision: every change here runs in a
 * transaction that has locked the list, and updates both.
 */
import sql, { empty, join, type Sql } from "sql-template-tag";
import { domainOf } from "#mail/address.ts";
import type { Page } from "#platform/database/page.ts";
import { type PageStart, STRIDE } from "#platform/database/page-anchors.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, newIdSeries, type WorkspaceId } from "#platform/ids.ts";
import type { EntryValue } from "./entry-value.ts";
import { entryReason, type SuppressionReason, suppressionReasons } from "./suppression-check.ts";
import type { SuppressionEntry } from "./suppression-list.ts";

/** A search returns at most this many entries. */
const MOST_FOUND = 5_000;

/** After adding at least this many entries, the planner's statistics are checked. */
const MANY = 100;
/** A table that the planner believes to have this many rows is never scanned completely. */
const LARGE = 10_000;

/** The list whose entries are meant. */
export interface EntriesOf {
  readonly workspaceId: WorkspaceId;
  readonly listId: string;
}

const entry = sql`
  e.id, e.entry_value, e.entry_type, e.normalized_value, ${entryReason(sql`e`)} as reason, e.source_message_id,
  e.created_at, e.created_by`;

const of = ({ workspaceId, listId }: EntriesOf): Sql =>
  sql`workspace_id = ${workspaceId} and suppression_list_id = ${listId}`;

/** The number of entries of a list, and a revision that increases with every change. */
export async function countEntries(
  db: Queryable,
  { workspaceId, listId }: EntriesOf,
): Promise<{ readonly entry_count: number; readonly revision: number } | undefined> {
  return db.row(sql`
    select entry_count, revision from suppression_lists where workspace_id = ${workspaceId} and id = ${listId}`);
}

/** `limit` entries from `start` on, newest first. */
export function listEntriesAt(
  db: Queryable,
  list: EntriesOf,
  { from, skip }: PageStart,
  limit: number,
): Promise<SuppressionEntry[]> {
  return db.rows(sql`
    select ${entry} from suppression_entries e
    where id in (
      select id from suppression_entries where ${of(list)} ${from === null ? empty : sql`and id <= ${from}`}
      order by id desc limit ${limit} offset ${skip})
      and ${of(list)}
    order by id desc`);
}

/** `limit` entries after an id, which need not exist any more. */
export function listEntriesAfter(
  db: Queryable,
  list: EntriesOf,
  after: string,
  limit: number,
): Promise<SuppressionEntry[]> {
  return db.rows(sql`
    select ${entry} from suppression_entries e where ${of(list)} and id < ${after} order by id desc limit ${limit}`);
}

/** Every STRIDE-th id, starting with the newest. */
export async function listEntryAnchors(db: Queryable, list: EntriesOf): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from (
      select id, row_number() over (order by id desc) as place from suppression_entries where ${of(list)}) p
    where place % ${STRIDE} = 1 order by place`);
  return rows.map((row) => row.id);
}

/**
 * Entries whose value starts with one of the texts, newest first; of more than MOST_FOUND entries, the first in
 * alphabetical order.
 */
export async function searchEntries(
  db: Queryable,
  list: EntriesOf,
  texts: readonly string[],
  page: Page,
): Promise<{ readonly entries: SuppressionEntry[]; readonly total: number }> {
  const found = texts.map(
    (text) => sql`(
      select ${entry} from suppression_entries e
      where ${of(list)} and starts_with(e.normalized_value, ${text})
      -- The order of the index: no other plan is cheaper, whatever the statistics say about the text.
      order by e.workspace_id, e.normalized_value, e.suppression_list_id limit ${MOST_FOUND})`,
  );
  const rows = await db.rows<SuppressionEntry & { readonly total: number }>(sql`
    with found as materialized (select * from (${join(found, " union all ")}) f limit ${MOST_FOUND}),
    shown as (
      select * from found ${page.after === undefined ? empty : sql`where id < ${page.after}`}
      order by id desc limit ${page.limit} offset ${page.offset})
    select counted.total, shown.* from (select count(*)::int as total from found) counted
    left join shown on true order by shown.id desc`);
  // A page behind the last one is a row with nothing but the total.
  const entries = rows
    .filter(({ id }) => id !== null)
    .map((row) => {
      const { total: _, ...entry } = row;
      return entry;
    });
  return { entries, total: rows[0]?.total ?? 0 };
}

/** The entries of active lists that suppress a normalised address, newest first. */
export function listSuppressionsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  address: string,
): Promise<SuppressingEntry[]> {
  return db.rows(sql`
    select l.id as suppression_list_id, l.name as suppression_list_name, l.suppression_scope,
      ${entryReason(sql`e`)} as reason, e.created_at
    from suppression_entries e
    join suppression_lists l on l.workspace_id = e.workspace_id and l.id = e.suppression_list_id and l.is_active
    where e.workspace_id = ${workspaceId} and e.normalized_value in (${address}, ${domainOf(address)})
    order by e.created_at desc, e.id desc`);
}

export interface SuppressingEntry {
  readonly suppression_list_id: string;
  readonly suppression_list_name: string;
  readonly suppression_scope: string;
  readonly reason: SuppressionReason;
  readonly created_at: Date;
}

/** The creator of the entries, and the time. */
export interface EntryOrigin {
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** Adds the values that are not on the list yet; the values must be distinct. @returns how many were added */
export async function insertEntries(
  tx: Queryable,
  list: EntriesOf,
  values: readonly EntryValue[],
  origin: EntryOrigin,
): Promise<number> {
  const nextId = newIdSeries();
  const added = await tx.run(sql`
    insert into suppression_entries (workspace_id, suppression_list_id, id, entry_value, normalized_value, entry_type,
      reason, created_by, created_at)
    select ${list.workspaceId}, ${list.listId}, *, 'manual', ${origin.createdBy}, ${origin.createdAt}
    from unnest(${values.map(nextId)}::uuid[], ${values.map(({ value }) => value)}::text[],
      ${values.map(({ normalized }) => normalized)}::text[], ${values.map(({ type }) => type)}::text[])
    on conflict (workspace_id, normalized_value, suppression_list_id) do nothing`);
  await moveCount(tx, list, added);
  return added;
}

/** An address to suppress after a bounce or complaint. */
export interface AddressToSuppress {
  /** Normalised. */
  readonly address: string;
  readonly reason: "hard_bounce" | "complaint";
  /** The message that bounced or was complained about; null when the status was set by a caller. */
  readonly messageId: string | null;
  readonly time: Date;
}

/** Adds addresses, which must be distinct. An existing entry gets the new reason if it is worse. */
export async function insertSuppressedAddresses(
  tx: Queryable,
  list: EntriesOf,
  lost: readonly AddressToSuppress[],
  createdBy: string,
): Promise<void> {
  const added = await tx.row<{ count: number }>(sql`
    with written as (
      insert into suppression_entries as e (workspace_id, suppression_list_id, id, entry_value, normalized_value,
        entry_type, reason, source_message_id, created_by, created_at)
      select ${list.workspaceId}, ${list.listId}, id, address, address, 'email', reason, message_id, ${createdBy}, time
      from unnest(${lost.map(() => newId())}::uuid[], ${lost.map(({ address }) => address)}::text[],
        ${lost.map(({ reason }) => reason)}::text[], ${lost.map(({ messageId }) => messageId)}::uuid[],
        ${lost.map(({ time }) => time)}::timestamptz[]) as l (id, address, reason, message_id, time)
      on conflict (workspace_id, normalized_value, suppression_list_id) do update
      set reason = excluded.reason, source_message_id = excluded.source_message_id, created_at = excluded.created_at
      where ${rank(sql`excluded.reason`)} < ${rank(sql`e.reason`)}
      -- xmax is zero for an inserted row, and set for an updated one.
      returning e.xmax = 0 as is_new
    ) select count(*) filter (where is_new) as count from written`);
  await moveCount(tx, list, added?.count ?? 0);
}

const rank = (reason: Sql) => sql`array_position(${suppressionReasons}::text[], ${reason})`;

/** Removes an entry. @returns false if it does not exist */
export async function removeEntry(tx: Queryable, list: EntriesOf, id: string): Promise<boolean> {
  const removed = await tx.run(sql`delete from suppression_entries where ${of(list)} and id = ${id}`);
  await moveCount(tx, list, -removed);
  return removed > 0;
}

/** Removes up to `limit` entries. @returns how many */
export async function removeSomeEntries(tx: Queryable, list: EntriesOf, limit: number): Promise<number> {
  const removed = await tx.run(sql`
    delete from suppression_entries
    where ${of(list)} and id in (
      select id from suppression_entries where ${of(list)} order by id limit ${limit})`);
  await moveCount(tx, list, -removed);
  return removed;
}

/** The created_by of entries that the service adds. */
export const CREATED_BY_SERVICE = "system";

/**
 * Entries that the service added for a hard bounce. An entry that a caller added is not one, even if the address
 * bounces too.
 */
const isOwnBounce = sql`reason = 'hard_bounce' and created_by = ${CREATED_BY_SERVICE}`;

/** The lists of all workspaces with entries for hard bounces, added by the service before a time. */
export function listListsWithBouncesBefore(db: Queryable, before: Date): Promise<EntriesOf[]> {
  return db.rows(sql`
    select distinct workspace_id as "workspaceId", suppression_list_id as "listId" from suppression_entries
    where ${isOwnBounce} and created_at < ${before}`);
}

/** Removes up to `limit` entries for hard bounces that the service added before a time. @returns how many */
export async function removeBouncesBefore(
  tx: Queryable,
  list: EntriesOf,
  before: Date,
  limit: number,
): Promise<number> {
  const removed = await tx.run(sql`
    delete from suppression_entries
    where ${of(list)} and id in (
      select id from suppression_entries
      where ${isOwnBounce} and created_at < ${before} and ${of(list)} limit ${limit})`);
  await moveCount(tx, list, -removed);
  return removed;
}

async function moveCount(tx: Queryable, { workspaceId, listId }: EntriesOf, added: number): Promise<void> {
  if (added === 0) return;
  await tx.run(sql`
    update suppression_lists set entry_count = entry_count + ${added}, revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${listId}`);
}

/**
 * Runs ANALYZE at the end of a transaction that made a small table large. Connections cache plans: a suppression check
 * that scans a table of ten rows would scan a million rows, too.
 */
export async function refreshStatistics(tx: Queryable, added: number): Promise<void> {
  if (added < MANY) return;
  const believed = await tx.row<{ rows: number }>(sql`
    select reltuples::int as rows from pg_class where oid = 'suppression_entries'::regclass`);
  if (believed !== undefined && believed.rows < LARGE) await tx.run(sql`analyze suppression_entries`);
}
