/**
 * Counts consecutive soft bounces: an address whose mailbox is full, or whose server fails, for days is suppressed like one
 * that does not exist. A delivery resets the count, unless it bounces later itself (db/migrations/0014-inbound.sql).
 */
import sql from "sql-template-tag";
import { addressOf } from "#audience/suppression-lists/suppression-check.ts";
import type { MovedMessage, SuppressingMessage } from "#messages/message/outcome.ts";
import { textArray, uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";

/** The consecutive failures that suppress an address, and the least time between the first and the last. */
const ENOUGH = { failures: 5, ms: 3 * DAY_MS };
const MOST_COUNTED = 1_000;

/** The count of an address. */
interface SoftRow {
  readonly failures: number;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  readonly deliveredMessageId: string | null;
}

/** The messages of a batch to one address, in the order of time. */
interface AddressOutcomes {
  readonly workspaceId: WorkspaceId;
  readonly address: string;
  readonly messages: readonly MovedMessage[];
}

/**
 * Counts the outcomes of a batch.
 * @returns the messages whose recipients have reached the number of soft bounces that suppresses an address
 *
 * Runs before the other reactions to outcomes, and locks rows in the order of workspaces and addresses. SMS are
 * ignored.
 */
export async function countSoftBounces(
  tx: Queryable,
  moved: readonly MovedMessage[],
): Promise<SuppressingMessage[]> {
  const outcomes = groupByAddress(
    moved.filter((message) => !message.isSms && (message.status === "delivered" || isSoft(message))),
  );
  if (outcomes.length === 0) return [];
  await insertFirst(tx, outcomes);
  const known = await lockRows(tx, outcomes);
  const lost: SuppressingMessage[] = [];
  const continued: (AddressOutcomes & SoftRow)[] = [];
  const ended: AddressOutcomes[] = [];
  for (const one of outcomes) {
    const before = known.get(keyOf(one));
    let row = before;
    for (const message of one.messages) {
      row = message.status === "delivered" ? afterDelivery(row, message) : afterFailure(row, message);
      if (row === undefined || !isBounced(message) || !isEnough(row)) continue;
      lost.push(message);
      row = undefined;
    }
    if (row !== undefined) continued.push({ ...one, ...row });
    else if (before !== undefined) ended.push(one);
  }
  await writeRows(tx, continued);
  await removeRows(tx, ended);
  return lost;
}

/** Removes up to `most` counts whose last failure was before this time. @returns how many */
export function removeOldSoftBounces(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from soft_bounces where ctid = any(array(
      select ctid from soft_bounces where last_failed_at < ${before} order by last_failed_at limit ${most}))`);
}

function groupByAddress(counted: readonly MovedMessage[]): AddressOutcomes[] {
  const addressKeyOf = (message: MovedMessage) => ({
    workspaceId: message.workspaceId,
    address: addressOf(message),
  });
  return [...Map.groupBy(counted, (message) => keyOf(addressKeyOf(message))).values()].flatMap((messages) => {
    const inOrder = messages.toSorted((a, b) => a.time.getTime() - b.time.getTime());
    return inOrder[0] ? { ...addressKeyOf(inOrder[0]), messages: inOrder } : [];
  });
}

function keyOf({ workspaceId, address }: Pick<AddressOutcomes, "workspaceId" | "address">): string {
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

/** After the first delivery the count stays, because that message may still bounce; the second one removes it. */
function afterDelivery(row: SoftRow | undefined, { messageId }: MovedMessage): SoftRow | undefined {
  return row?.deliveredMessageId === null ? { ...row, deliveredMessageId: messageId } : undefined;
}

function afterFailure(row: SoftRow | undefined, { messageId, time }: MovedMessage): SoftRow {
  const isConsecutive =
    row !== undefined && (row.deliveredMessageId === null || row.deliveredMessageId === messageId);
  return {
    failures: isConsecutive ? Math.min(row.failures + 1, MOST_COUNTED) : 1,
    firstFailedAt: isConsecutive ? row.firstFailedAt : time,
    lastFailedAt: time,
    deliveredMessageId: null,
  };
}

/**
 * Inserts a count for failing addresses that have none, so that there is a row to lock: two concurrent first failures wait
 * for each other here. At that point a transaction holds only rows that no other one sees, so that they cannot deadlock.
 */
async function insertFirst(tx: Queryable, outcomes: readonly AddressOutcomes[]): Promise<void> {
  const failing = outcomes.flatMap(({ messages, ...one }) => {
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
  outcomes: readonly AddressOutcomes[],
): Promise<Map<string, SoftRow | undefined>> {
  const rows = await tx.rows<SoftRow & Omit<AddressOutcomes, "messages">>(
    sql`
    select s.workspace_id as "workspaceId", s.address, s.failures, s.first_failed_at as "firstFailedAt",
      s.last_failed_at as "lastFailedAt", s.delivered_message_id as "deliveredMessageId"
    from soft_bounces s
    where (s.workspace_id, s.address) in (
      select * from unnest(
        ${uuidArray(outcomes.map((one) => one.workspaceId))}::uuid[], ${textArray(outcomes.map((one) => one.address))}::text[]))
    order by s.workspace_id, s.address for update`,
    "lock soft bounces",
  );
  return new Map(rows.map(({ workspaceId, address, ...row }) => [keyOf({ workspaceId, address }), row]));
}

async function writeRows(tx: Queryable, rows: readonly (AddressOutcomes & SoftRow)[]): Promise<void> {
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

async function removeRows(tx: Queryable, rows: readonly AddressOutcomes[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(sql`
    delete from soft_bounces where (workspace_id, address) in (
      select * from unnest(${rows.map((row) => row.workspaceId)}::uuid[], ${rows.map((row) => row.address)}::text[]))`);
}

/** Forgets the count of a normalised address. */
export async function removeSoftBounces(
  tx: Queryable,
  workspaceId: WorkspaceId,
  address: string,
): Promise<void> {
  await tx.run(sql`delete from soft_bounces where workspace_id = ${workspaceId} and address = ${address}`);
}
