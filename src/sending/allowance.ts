/**
 * The meter at acceptance. A message is taken from its workspace's allowance in the statement that accepts it; one that
 * is suppressed, or the platform's own, costs nothing.
 */
import sql, { type Sql } from "sql-template-tag";
import { addressOf, judgeRecipients, type Recipient } from "../audience/suppression-lists/judge.ts";
import type { NewMessage } from "../messages/store.ts";
import type { Queryable } from "../platform/database/pool.ts";
import type { ApiError } from "../platform/errors.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import { tryLockAccount } from "../workspace/billing/account-store.ts";
import type { OnLimit } from "../workspace/billing/limit-notices.ts";
import { getReading, settle } from "../workspace/billing/meter.ts";
import { isWideSql, noteUseSql } from "../workspace/billing/meter-store.ts";
import type { Plans } from "../workspace/billing/plans.ts";
import { type Capacity, capacityFor } from "../workspace/billing/reading.ts";
import { refusalError } from "../workspace/billing/refusal.ts";

/** Whether all of them are so far from their limits that none needs to be asked. */
export function areCoveredSql(messages: readonly NewMessage[], now: Date): Sql {
  const byWorkspace = Map.groupBy(messages.filter(isMetered), ({ workspaceId }) => workspaceId);
  return isWideSql(
    [...byWorkspace].map(([id, all]) => [id, all.length] as const),
    now,
  );
}

/** Takes what the statement's `log` accepts. */
export function takeAcceptedSql(now: Date): Sql {
  const accepted = sql`(
    select workspace_id, count(*)::int as quantity from log
    where status = 'queued' and source <> 'platform' group by workspace_id) accepted`;
  return noteUseSql("email", accepted, now);
}

/** Takes what a step of a campaign or an autoresponder made: one for each row of `mail`. */
export function takeMadeSql(workspaceId: WorkspaceId, now: Date): Sql {
  const made = sql`(select ${workspaceId}::uuid as workspace_id, count(*)::int as quantity from mail) made`;
  return noteUseSql("email", made, now);
}

/**
 * How many of the next `wanted` emails are covered. Where there is a limit the account stays locked until the transaction
 * ends, so that this holds: a step takes thousands, which nobody may note blindly.
 */
export async function coveredOf(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  wanted: number,
  now: Date,
): Promise<{ readonly covered: number; readonly refusal: Capacity["refusal"] | null }> {
  if (await isWide(tx, workspaceId, Number.MAX_SAFE_INTEGER, now)) return { covered: wanted, refusal: null };
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
    if (await isWide(tx, workspaceId, ofWorkspace.length, now)) continue;
    if (!(await tryLockAccount(tx, workspaceId))) {
      for (const message of ofWorkspace) busy.add(message);
      continue;
    }
    const { most, refusal } = await capacityOf(tx, plans, workspaceId, now);
    if (most === null || most >= ofWorkspace.length) continue;
    const verdicts = await judgeRecipients(tx, ofWorkspace.map(recipientOf));
    const costing = ofWorkspace.filter((_, at) => verdicts[at] === undefined);
    for (const message of costing.slice(most)) refused.set(message, refusalError(refusal, now));
  }
  return { refused, busy };
}

async function isWide(
  db: Queryable,
  workspaceId: WorkspaceId,
  quantity: number,
  now: Date,
): Promise<boolean> {
  const row = await db.row<{ is_wide: boolean }>(isWideSql([[workspaceId, quantity]], now));
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
  const reading = await getReading(db, plans, workspaceId, now);
  const { most, refusal } = capacityFor(reading, "email");
  if (most !== 0 || refusal === "hourly_cap") return;
  onLimit?.(workspaceId, refusal);
  throw refusalError(refusal, now);
}

async function capacityOf(tx: Queryable, plans: Plans, workspaceId: WorkspaceId, now: Date) {
  return capacityFor(await settle(tx, plans, workspaceId, now), "email");
}

function isMetered({ source }: NewMessage): boolean {
  return source !== "platform";
}
