/**
 * The meter at acceptance. A message is taken from its workspace's allowance in the statement that accepts it; one that
 * is suppressed, or the platform's own, costs nothing.
 */
import sql, { type Sql } from "sql-template-tag";
import {
  addressOf,
  findSuppressions,
  type Recipient,
} from "#audience/suppression-lists/suppression-check.ts";
import type { NewMessage } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import { uuidArray } from "#platform/database/array-values.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { tryLockAccount } from "#workspace/billing/account-store.ts";
import { limitError } from "#workspace/billing/limit-error.ts";
import type { OnLimit } from "#workspace/billing/limit-notices.ts";
import { getMeterReading, settleAccount } from "#workspace/billing/meter.ts";
import { type Capacity, capacityFor } from "#workspace/billing/meter-reading.ts";
import {
  addEntriesSql,
  addStoredEntriesSql,
  isFarFromLimitsSql,
  type RequestedUsage,
} from "#workspace/billing/meter-store.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { requireBytes, storageRefusal } from "#workspace/billing/storage-limit.ts";

/** Whether all of them are so far from their limits that none needs to be asked. */
export function areCoveredSql(messages: readonly NewMessage[], now: Date): Sql {
  return isFarFromLimitsSql(askedOf(messages), now);
}

function askedOf(messages: readonly NewMessage[]): RequestedUsage[] {
  const byWorkspace = Map.groupBy(messages.filter(isMetered), ({ workspaceId }) => workspaceId);
  return [...byWorkspace].map(([workspaceId, all]) => ({
    workspaceId,
    quantity: all.length,
    bytes: storedBytes(all),
  }));
}

/**
 * Takes what the statement's `log` accepts, and notes the bytes of its contents.
 * @param isPlain all of the messages are accepted or none, and none is a submission
 */
export function takeAcceptedSql(messages: readonly NewMessage[], now: Date, isPlain: boolean): Sql {
  const isTaken = sql`status = 'queued' and source <> 'platform'`;
  if (isPlain) {
    const asked = askedOf(messages);
    return addStoredEntriesSql(
      sql`(
        select workspace_id, count(*)::int as quantity, min(asked.bytes) as bytes
        from log join unnest(${uuidArray(asked.map(({ workspaceId }) => workspaceId))}::uuid[],
          ${asked.map(({ bytes }) => bytes)}::bigint[]) as asked (workspace_id, bytes) using (workspace_id)
        where ${isTaken} group by workspace_id) accepted`,
      now,
    );
  }
  return addStoredEntriesSql(
    sql`(
      select workspace_id, sum(quantity)::int as quantity, sum(bytes)::bigint as bytes
      from (
        select log.workspace_id, content_id, count(*) as quantity, max(bytes) as bytes
        from log join unnest(${uuidArray(messages.map(({ id }) => id))}::uuid[],
          ${uuidArray(messages.map(contentIdOf))}::uuid[], ${messages.map(contentBytes)}::bigint[])
          as c (id, content_id, bytes) using (id)
        where ${isTaken} group by log.workspace_id, content_id) contents
      group by workspace_id) accepted`,
    now,
  );
}

/** Takes what a step of a campaign or an autoresponder made: one for each row of `mail`. */
export function takeBulkMailSql(workspaceId: WorkspaceId, now: Date): Sql {
  const made = sql`(select ${workspaceId}::uuid as workspace_id, count(*)::int as quantity from mail) made`;
  return addEntriesSql("email", made, now);
}

/**
 * How many of the next `wanted` emails are covered. Where there is a limit the account stays locked until the transaction
 * ends, so that this holds: a step takes thousands, which nobody may note blindly.
 */
export async function coveredByAllowance(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  wanted: number,
  now: Date,
): Promise<{ readonly covered: number; readonly refusal: Capacity["refusal"] | null }> {
  const asked = { workspaceId, quantity: Number.MAX_SAFE_INTEGER, bytes: 0 };
  if (await isWide(tx, asked, now)) return { covered: wanted, refusal: null };
  const { most, refusal } = await capacityOf(tx, plans, workspaceId, now);
  return { covered: Math.min(wanted, most ?? wanted), refusal };
}

/** What becomes of messages that are about to be accepted; the others are covered until the transaction ends. */
export interface Uncovered {
  readonly refused: ReadonlyMap<NewMessage, ApiError>;
  /** Somebody else holds the account at this moment: ask again. Nobody waits for it, others would have to as well. */
  readonly busy: ReadonlySet<NewMessage>;
}

/** Suppressed recipients cost nothing, and are never refused. */
export async function findUncovered(
  tx: Queryable,
  plans: Plans,
  messages: readonly NewMessage[],
  now: Date,
): Promise<Uncovered> {
  const refused = new Map<NewMessage, ApiError>();
  const busy = new Set<NewMessage>();
  const byWorkspace = [...Map.groupBy(messages.filter(isMetered), ({ workspaceId }) => workspaceId)];
  for (const [workspaceId, ofWorkspace] of byWorkspace.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const asked = { workspaceId, quantity: ofWorkspace.length, bytes: storedBytes(ofWorkspace) };
    if (await isWide(tx, asked, now)) continue;
    if (!(await tryLockAccount(tx, workspaceId))) {
      for (const message of ofWorkspace) busy.add(message);
      continue;
    }
    const reading = await settleAccount(tx, plans, workspaceId, now);
    const { most, refusal } = capacityFor(reading, "email");
    const room = reading.contentRoom;
    const isCovered = most === null || most >= asked.quantity;
    if (isCovered && (room === null || room >= asked.bytes)) continue;
    const verdicts = await findSuppressions(tx, ofWorkspace.map(recipientOf));
    const costing = ofWorkspace.filter((_, at) => verdicts[at] === undefined);
    const covered = most === null ? costing : costing.slice(0, most);
    for (const message of costing.slice(covered.length)) {
      refused.set(message, limitError(refusal, reading, "email", now));
    }
    const limit = reading.plan.storage.bytes;
    if (room === null || limit === null) continue;
    for (const message of beyondRoom(covered, room)) {
      const stored = { used: limit - room, added: contentBytes(message), limit };
      refused.set(message, storageRefusal("bytes", reading.plan.name, stored));
    }
  }
  return { refused, busy };
}

/** Those for whose content there is no room beside those before them. */
function beyondRoom(messages: readonly NewMessage[], room: number): NewMessage[] {
  const stored = new Set<string>();
  let left = room;
  return messages.filter((message) => {
    const id = contentIdOf(message);
    if (stored.has(id)) return false;
    const bytes = contentBytes(message);
    if (bytes > left) return true;
    stored.add(id);
    left -= bytes;
    return false;
  });
}

/** Recipients of one submission share its content. */
function contentIdOf({ id, submission }: NewMessage): string {
  return submission?.id ?? id;
}

/** Octets of a message's content, as they are stored: attachments in base64. */
function contentBytes({ html, text, attachments, submission }: NewMessage): number {
  const attached = attachments.reduce((sum, { content }) => sum + content.length, 0);
  return (
    Buffer.byteLength(html ?? "") + Buffer.byteLength(text ?? "") + attached + (submission?.raw.length ?? 0)
  );
}

/** Of messages of one workspace. */
function storedBytes(messages: readonly NewMessage[]): number {
  const contents = new Map(messages.map((message) => [contentIdOf(message), message]));
  return [...contents.values()].reduce((sum, message) => sum + contentBytes(message), 0);
}

async function isWide(db: Queryable, asked: RequestedUsage, now: Date): Promise<boolean> {
  const row = await db.row<{ is_wide: boolean }>(isFarFromLimitsSql([asked], now));
  return row?.is_wide === true;
}

/** As suppression judges it. */
export function recipientOf(message: NewMessage): Recipient {
  const { workspaceId, domain } = message;
  return { workspaceId, address: addressOf(message), domain };
}

/**
 * Before a campaign is sent: an hourly cap only slows it down.
 * @throws ApiError PLAN_LIMIT_REACHED or INSUFFICIENT_BALANCE when nothing covers one message more
 */
export async function requireOneMore(
  db: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
  onLimit?: OnLimit,
): Promise<void> {
  const reading = await getMeterReading(db, plans, workspaceId, now);
  const { most, refusal } = capacityFor(reading, "email");
  if (most !== 0 || refusal === "hourly_cap") return;
  onLimit?.(workspaceId, refusal);
  throw limitError(refusal, reading, "email", now);
}

/** Whether one message would be accepted. @throws ApiError as requireOneMore does, also when its content has no room */
export async function requireAcceptable(
  db: Queryable,
  deps: { readonly plans: Plans; readonly clock: Clock },
  message: NewMessage,
): Promise<void> {
  await requireOneMore(db, deps.plans, message.workspaceId, deps.clock.now());
  await requireBytes(deps, db, message.workspaceId, contentBytes(message));
}

async function capacityOf(tx: Queryable, plans: Plans, workspaceId: WorkspaceId, now: Date) {
  return capacityFor(await settleAccount(tx, plans, workspaceId, now), "email");
}

function isMetered({ source }: NewMessage): boolean {
  return source !== "platform";
}
