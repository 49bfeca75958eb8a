/**
 * Soft bounces in a row: an address whose mailbox is full, or whose server fails, for days is given up like one that does
 * not exist. Every delivery ends the row, unless that delivery itself bounces later (db/migrations/0019-inbound.sql).
 */
import sql from "sql-template-tag";
import { addressOf } from "#audience/suppression-lists/suppression-check.ts";
import type { MovedMessage, SuppressingMessage } from "#messages/message/outcome.ts";
import { textArray, uuidArray } from "#platform/database/array-values.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** In a row, and over at least so long. */
const ENOUGH = { failures: 5, ms: 3 * 86_400_000 };
const MOST_COUNTED = 1_000;

/** The row of an address, or what becomes of it. */
interface SoftRow {
  readonly failures: number;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  readonly deliveredMessageId: string | null;
}

/** What a batch tells of one address, in the order of time. */
interface AddressNews {
  readonly workspaceId: WorkspaceId;
  readonly address: string;
  readonly messages: readonly MovedMessage[];
}

/**
 * Counts what moved, and gives the messages whose recipients have bounced softly for long enough. First among the
 * reactions to an outcome, in the order of workspaces and addresses. An SMS says nothing of its person's mailbox.
 */
export async function countSoftBounces(
  tx: Queryable,
  moved: readonly MovedMessage[],
): Promise<SuppressingMessage[]> {
  const news = newsByAddress(
    moved.filter((message) => !message.isSms && (message.status === "delivered" || isSoft(message))),
  );
  if (news.length === 0) return [];
  await insertFirst(tx, news);
  const known = await lockRows(tx, news);
  const lost: SuppressingMessage[] = [];
  const goingOn: (AddressNews & SoftRow)[] = [];
  const ended: AddressNews[] = [];
  for (const one of news) {
    const before = known.get(keyOf(one));
    let row = before;
    for (const message of one.messages) {
      row = message.status === "delivered" ? afterDelivery(row, message) : afterFailure(row, message);
      if (row === undefined || !isBounced(message) || !isEnough(row)) continue;
      lost.push(message);
      row = undefined;
    }
    if (row !== undefined) goingOn.push({ ...one, ...row });
    else if (before !== undefined) ended.push(one);
  }
  await writeRows(tx, goingOn);
  await removeRows(tx, ended);
  return lost;
}

/** Removes up to `most` rows of addresses that nothing has been heard of since then, and says how many. */
export function removeOldSoftBounces(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from soft_bounces where ctid = any(array(
      select ctid from soft_bounces where last_failed_at < ${before} order by last_failed_at limit ${most}))`);
}

function newsByAddress(counted: readonly MovedMessage[]): AddressNews[] {
  const newsOf = (message: MovedMessage) => ({
    workspaceId: message.workspaceId,
    address: addressOf(message),
  });
  return [...Map.groupBy(counted, (message) => keyOf(newsOf(message))).values()].flatMap((messages) => {
    const inOrder = messages.toSorted((a, b) => a.time.getTime() - b.time.getTime());
    return inOrder[0] ? { ...newsOf(inOrder[0]), messages: inOrder } : [];
  });
}

function keyOf({ workspaceId, address }: Pick<AddressNews, "workspaceId" | "address">): string {
  return `${workspaceId} ${address}`;
}

function isBounced(message: MovedMessage): message is SuppressingMessage {
  return message.status === "bounced";
}

function isSoft({ status, classification, isAddressFault, isForward }: MovedMessage): boolean {
  return status === "bounced" && classification?.type === "soft" && !isAddressFault && isForward !== true;
}

function isEnough({ failures, firstFailedAt, lastFailedAt }: SoftRow): boolean {
  return failures >= ENOUGH.failures && lastFailedAt.getTime() - firstFailedAt.getTime() >= ENOUGH.ms;
}

/** The first delivery may still turn out to be none; after a second the row is over. */
function afterDelivery(row: SoftRow | undefined, { messageId }: MovedMessage): SoftRow | undefined {
  return row?.deliveredMessageId === null ? { ...row, deliveredMessageId: messageId } : undefined;
}

function afterFailure(row: SoftRow | undefined, { messageId, time }: MovedMessage): SoftRow {
  const goesOn =
    row !== undefined && (row.deliveredMessageId === null || row.deliveredMessageId === messageId);
  return {
    failures: goesOn ? Math.min(row.failures + 1, MOST_COUNTED) : 1,
    firstFailedAt: goesOn ? row.firstFailedAt : time,
    lastFailedAt: time,
    deliveredMessageId: null,
  };
}

/**
 * A row for whoever fails and has none, so that there is one to lock: two first failures at once wait for each other
 * here. Who waits here holds only rows that nobody else sees yet.
 */
async function insertFirst(tx: Queryable, news: readonly AddressNews[]): Promise<void> {
  const failing = news.flatMap(({ messages, ...one }) => {
    const first = messages.find(isBounced);
    return first ? { ...one, time: first.time } : [];
  });
  if (failing.length === 0) return;
  await tx.rows(
    sql`
    insert into soft_bounces (workspace_id, address, failures, first_failed_at, last_failed_at)
    select workspace_id, address, 0, time, time
    from unnest(${failing.map((one) => one.workspaceId)}::uuid[], ${failing.map((one) => one.address)}::text[],
      ${failing.map((one) => one.time)}::timestamptz[]) as f (workspace_id, address, time)
    order by workspace_id, address
    on conflict do nothing`,
    "insert first soft bounces",
  );
}

async function lockRows(
  tx: Queryable,
  news: readonly AddressNews[],
): Promise<Map<string, SoftRow | undefined>> {
  const rows = await tx.rows<SoftRow & Omit<AddressNews, "messages">>(
    sql`
    select s.workspace_id as "workspaceId", s.address, s.failures, s.first_failed_at as "firstFailedAt",
      s.last_failed_at as "lastFailedAt", s.delivered_message_id as "deliveredMessageId"
    from soft_bounces s
    where (s.workspace_id, s.address) in (
      select * from unnest(
        ${uuidArray(news.map((one) => one.workspaceId))}::uuid[], ${textArray(news.map((one) => one.address))}::text[]))
    order by s.workspace_id, s.address for update`,
    "lock soft bounces",
  );
  return new Map(rows.map(({ workspaceId, address, ...row }) => [keyOf({ workspaceId, address }), row]));
}

async function writeRows(tx: Queryable, rows: readonly (AddressNews & SoftRow)[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.rows(
    sql`
    insert into soft_bounces (workspace_id, address, failures, first_failed_at, last_failed_at, delivered_message_id)
    select * from unnest(
      ${rows.map((row) => row.workspaceId)}::uuid[], ${rows.map((row) => row.address)}::text[],
      ${rows.map((row) => row.failures)}::smallint[], ${rows.map((row) => row.firstFailedAt)}::timestamptz[],
      ${rows.map((row) => row.lastFailedAt)}::timestamptz[], ${rows.map((row) => row.deliveredMessageId)}::uuid[])
    order by 1, 2
    on conflict (workspace_id, address) do update
    set failures = excluded.failures, first_failed_at = excluded.first_failed_at,
      last_failed_at = excluded.last_failed_at, delivered_message_id = excluded.delivered_message_id`,
    "write soft bounces",
  );
}

async function removeRows(tx: Queryable, rows: readonly AddressNews[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(sql`
    delete from soft_bounces where (workspace_id, address) in (
      select * from unnest(${rows.map((row) => row.workspaceId)}::uuid[], ${rows.map((row) => row.address)}::text[]))`);
}
