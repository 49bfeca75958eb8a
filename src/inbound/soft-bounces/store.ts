/**
 * Soft bounces in a row: an address whose mailbox is full, or whose server fails, for days is given up like one that does
 * not exist. Every delivery ends the row, unless that delivery itself bounces later (db/migrations/0019-inbound.sql).
 */
import sql from "sql-template-tag";
import { addressOf } from "../../audience/suppression-lists/judge.ts";
import type { LostMessage, MovedMessage } from "../../messages/outcome.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

/** In a row, and over at least so long. */
const ENOUGH = { failures: 5, ms: 3 * 86_400_000 };
const MOST_COUNTED = 1_000;

interface SoftRow {
  readonly workspace_id: WorkspaceId;
  readonly address: string;
  readonly failures: number;
  readonly first_failed_at: Date;
  readonly delivered_message_id: string | null;
}

/**
 * Counts what moved, and gives the messages whose recipients have bounced softly for long enough. First among the
 * reactions to an outcome, in the order of workspaces and addresses.
 */
export async function countSoftBounces(
  tx: Queryable,
  moved: readonly MovedMessage[],
): Promise<LostMessage[]> {
  const counted = moved.filter((message) => message.status === "delivered" || isSoft(message));
  if (counted.length === 0) return [];
  const known = await lockRows(tx, counted);
  const lost: LostMessage[] = [];
  for (const message of counted.toSorted(byAddress)) {
    const row = known.get(keyOf(message));
    if (message.status === "delivered") {
      if (row !== undefined) known.set(keyOf(message), await noteDelivery(tx, row, message));
    } else {
      const failed = await insertFailure(tx, message, row);
      const lasted = message.time.getTime() - failed.first_failed_at.getTime();
      const isLost = failed.failures >= ENOUGH.failures && lasted >= ENOUGH.ms && isBounced(message);
      if (isLost) {
        lost.push(message);
        await removeRow(tx, failed);
      }
      known.set(keyOf(message), isLost ? undefined : failed);
    }
  }
  return lost;
}

/** Rows of addresses that nothing has been heard of since then. */
export async function removeOldSoftBounces(db: Queryable, before: Date): Promise<void> {
  await db.run(sql`delete from soft_bounces where last_failed_at < ${before}`);
}

function isBounced(message: MovedMessage): message is LostMessage {
  return message.status === "bounced";
}

function isSoft({ status, classification, isAddressFault }: MovedMessage): boolean {
  return status === "bounced" && classification?.type === "soft" && !isAddressFault;
}

function keyOf(message: MovedMessage): string {
  return `${message.workspaceId} ${addressOf(message)}`;
}

function byAddress(a: MovedMessage, b: MovedMessage): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

async function lockRows(
  tx: Queryable,
  messages: readonly MovedMessage[],
): Promise<Map<string, SoftRow | undefined>> {
  const rows = await tx.rows<SoftRow>(
    sql`
    select s.workspace_id, s.address, s.failures, s.first_failed_at, s.delivered_message_id
    from soft_bounces s
    where (s.workspace_id, s.address) in (
      select * from unnest(${messages.map(({ workspaceId }) => workspaceId)}::uuid[], ${messages.map(addressOf)}::text[]))
    order by s.workspace_id, s.address for update`,
    "lock soft bounces",
  );
  return new Map(rows.map((row) => [`${row.workspace_id} ${row.address}`, row]));
}

/** The first delivery may still turn out to be none; after a second the row is over. */
async function noteDelivery(
  tx: Queryable,
  row: SoftRow,
  { messageId }: MovedMessage,
): Promise<SoftRow | undefined> {
  const { workspace_id, address, delivered_message_id } = row;
  if (delivered_message_id !== null) {
    await removeRow(tx, row);
    return undefined;
  }
  await tx.run(sql`
    update soft_bounces set delivered_message_id = ${messageId}
    where workspace_id = ${workspace_id} and address = ${address}`);
  return { ...row, delivered_message_id: messageId };
}

async function removeRow(tx: Queryable, { workspace_id, address }: SoftRow): Promise<void> {
  await tx.run(sql`delete from soft_bounces where workspace_id = ${workspace_id} and address = ${address}`);
}

async function insertFailure(
  tx: Queryable,
  message: MovedMessage,
  row: SoftRow | undefined,
): Promise<SoftRow> {
  const { workspaceId, messageId, time } = message;
  const goesOn =
    row !== undefined && (row.delivered_message_id === null || row.delivered_message_id === messageId);
  const failures = goesOn ? Math.min(row.failures + 1, MOST_COUNTED) : 1;
  const first_failed_at = goesOn ? row.first_failed_at : time;
  const address = addressOf(message);
  await tx.run(sql`
    insert into soft_bounces (workspace_id, address, failures, first_failed_at, last_failed_at)
    values (${workspaceId}, ${address}, ${failures}, ${first_failed_at}, ${time})
    on conflict (workspace_id, address) do update
    set failures = excluded.failures, first_failed_at = excluded.first_failed_at,
      last_failed_at = excluded.last_failed_at, delivered_message_id = null`);
  return { workspace_id: workspaceId, address, failures, first_failed_at, delivered_message_id: null };
}
