/** Records checks in the history, and charges them. */
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  type Capacity,
  capacityFor,
  type MeterReading,
  quotaOf,
} from "#workspace/billing/derive-meter-reading.ts";
import { limitError } from "#workspace/billing/limit-error.ts";
import { getMeterReading, takeUpTo } from "#workspace/billing/meter.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { type CheckRow, insertCheck } from "./check-store.ts";
import type { Checked, Checker, ZoneStatus } from "./checker.ts";

export interface CheckDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly checker: Checker;
}

const KIND = "blacklist_check";

/** The part of a history row that follows from the answers. A check in which no zone answered costs nothing. */
export function outcomeOf({
  listed_count,
  total_checked,
  results,
}: Checked): Pick<CheckRow, "status" | "listed_count" | "total_checked" | "cost" | "result"> {
  const isAnswered = results.some(({ status }) => status === "listed" || status === "not_listed");
  const result: Record<string, ZoneStatus> = Object.fromEntries(results.map((one) => [one.zone, one.status]));
  const status = listed_count > 0 ? "listed" : isAnswered ? "clean" : "error";
  return { status, listed_count, total_checked, cost: isAnswered ? 1 : 0, result };
}

/** Why neither allowance nor balance covers one more check; null when one does. */
export async function findCheckRefusal(
  { db, plans, clock }: CheckDeps,
  workspaceId: WorkspaceId,
): Promise<Capacity["refusal"] | null> {
  const reading = await getMeterReading(db, plans, workspaceId, clock.now());
  const { most, refusal } = capacityFor(reading, KIND);
  return most === 0 ? refusal : null;
}

/**
 * Refuses a check that is not covered, before any zone is queried.
 * @throws ApiError PLAN_LIMIT_REACHED or INSUFFICIENT_BALANCE
 */
export async function requireCheck(deps: CheckDeps, workspaceId: WorkspaceId): Promise<void> {
  const refusal = await findCheckRefusal(deps, workspaceId);
  if (refusal !== null) throw await refusalOfCheck(deps.db, deps, workspaceId, refusal);
}

async function refusalOfCheck(
  db: Queryable,
  { plans, clock }: CheckDeps,
  workspaceId: WorkspaceId,
  refusal: Capacity["refusal"],
): Promise<ApiError> {
  const now = clock.now();
  return limitError(refusal, await getMeterReading(db, plans, workspaceId, now), KIND, now);
}

/**
 * Charges a check in the transaction that records it. Nothing is reserved before the check, so a crash requires no
 * refund.
 * @returns why it was not charged; null when it was
 */
export async function chargeCheck(
  tx: Queryable,
  { plans }: Pick<CheckDeps, "plans">,
  workspaceId: WorkspaceId,
  cost: number,
  now: Date,
): Promise<Capacity["refusal"] | null> {
  if (cost === 0) return null;
  const { taken, refusal } = await takeUpTo(tx, plans, workspaceId, KIND, cost, now);
  return taken === cost ? null : refusal;
}

/** The plan's allowance of checks in this period. */
export interface CheckAllowance {
  readonly used: number;
  /** Null: no limit. */
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resets_at: Date;
}

/**
 * Records and charges a manual check.
 * @throws ApiError PLAN_LIMIT_REACHED or INSUFFICIENT_BALANCE
 */
export function recordManualCheck(
  deps: CheckDeps,
  workspaceId: WorkspaceId,
  checked: Checked,
): Promise<{ readonly allowance: CheckAllowance; readonly checkedAt: Date }> {
  const { db, clock, plans } = deps;
  return db.transaction(
    async (tx) => {
      const now = clock.now();
      const { target, target_type } = checked;
      const outcome = outcomeOf(checked);
      const refusal = await chargeCheck(tx, { plans }, workspaceId, outcome.cost, now);
      if (refusal !== null) throw await refusalOfCheck(tx, deps, workspaceId, refusal);
      await insertCheck(tx, workspaceId, {
        ...outcome,
        target,
        target_type,
        check_type: "manual",
        monitor_id: null,
        created_at: now,
      });
      return { allowance: allowanceOf(await getMeterReading(tx, plans, workspaceId, now)), checkedAt: now };
    },
    { mayRepeat: true },
  );
}

function allowanceOf(reading: MeterReading): CheckAllowance {
  const { used, allowance: limit } = quotaOf(reading, KIND);
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { used, limit, remaining, resets_at: reading.period.end };
}
