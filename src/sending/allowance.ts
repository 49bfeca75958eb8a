/**
 * The meter at acceptance. A message is taken from its workspace's allowance in the statement that accepts it; one that
 * is suppressed, or the platform's own, costs nothing.
 */
import sql, { type Sql } from "sql-template-tag";
import type { NewMessage } from "../messages/store.ts";
import type { Queryable } from "../platform/database/pool.ts";
import type { ApiError } from "../platform/errors.ts";
import type { WorkspaceId } from "../platform/ids.ts";
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
 * How many of the next `wanted` emails are covered. Near a limit the account stays locked until the transaction ends, so
 * that this holds.
 */
export async function coveredOf(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  wanted: number,
  now: Date,
): Promise<{ readonly covered: number; readonly refusal: Capacity["refusal"] | null }> {
  const wide = await tx.row<{ is_wide: boolean }>(isWideSql([[workspaceId, wanted]], now));
  if (wide?.is_wide) return { covered: wanted, refusal: null };
  const { most, refusal } = await capacityOf(tx, plans, workspaceId, now);
  return { covered: Math.min(wanted, most ?? wanted), refusal };
}

/**
 * Those that are not covered, with what their callers are told. The accounts stay locked until the transaction ends, so
 * that the others are.
 */
export async function refuseUncovered(
  tx: Queryable,
  plans: Plans,
  messages: readonly NewMessage[],
  now: Date,
): Promise<ReadonlyMap<NewMessage, ApiError>> {
  const refused = new Map<NewMessage, ApiError>();
  const byWorkspace = [...Map.groupBy(messages.filter(isMetered), ({ workspaceId }) => workspaceId)];
  for (const [workspaceId, ofWorkspace] of byWorkspace.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { most, refusal } = await capacityOf(tx, plans, workspaceId, now);
    for (const message of ofWorkspace.slice(most ?? ofWorkspace.length)) {
      refused.set(message, refusalError(refusal, now));
    }
  }
  return refused;
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
): Promise<void> {
  const reading = await getReading(db, plans, workspaceId, now);
  const { most, refusal } = capacityFor(reading, "email");
  if (most === 0 && refusal !== "hourly_cap") throw refusalError(refusal, now);
}

async function capacityOf(tx: Queryable, plans: Plans, workspaceId: WorkspaceId, now: Date) {
  return capacityFor(await settle(tx, plans, workspaceId, now), "email");
}

function isMetered({ source }: NewMessage): boolean {
  return source !== "platform";
}
