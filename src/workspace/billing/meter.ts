/**
 * The meter: usage is counted in the transaction that causes it, never beyond what allowance and balance cover.
 *
 * Far from a limit, usage is only inserted into `meter_entries`, without a lock. The account stores how far the limit
 * was when the meter was last read (`email_headroom`), and the entries since then are added up. NARROW (meter-store.ts)
 * is more than all transactions that can be open at once may take (100 connections of PostgreSQL, batches of 200), so
 * that they cannot pass the limit together although none sees the others. Near a limit, with an hourly cap, and for
 * steps of campaigns, usage is taken under the lock of the account.
 *
 * The next read of the meter moves the entries into meter, ledger and balance. An entry counts in the period in which
 * it was inserted, whenever it is read, under the plan of that time. (In periods before the last one, the hour
 * decides.) A refund counts in the period in which it is made.
 */
import type { Queryable } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findAccount, lockAccount, updateHeadroom } from "./account-store.ts";
import {
  afterUse,
  type Capacity,
  capacityFor,
  hourOf,
  type MeterReading,
  type MeterRow,
  meterReadingOf,
  type UnappliedUse,
  type Use,
} from "./derive-meter-reading.ts";
import { addDailyCharge } from "./ledger-store.ts";
import { limitError } from "./limit-error.ts";
import { listEntries, listUse, saveMeter, takeEntries } from "./meter-store.ts";
import { type Account, allowancePeriod } from "./plan-of-account.ts";
import type { MeterKind, Plans } from "./plans.ts";
import { contentRoom } from "./storage-limit.ts";
import { addContents } from "./storage-store.ts";

/**
 * Reads the meter without changing it.
 * @throws ApiError NOT_FOUND when the workspace does not exist
 */
export async function getMeterReading(
  db: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<MeterReading> {
  return (await readMeter(db, plans, workspaceId, now, listEntries)).reading;
}

/**
 * Locks the account, and moves its entries into meter, ledger and balance, in the caller's transaction. The result is
 * exact until that transaction ends.
 */
export async function settleAccount(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<SettledAccount> {
  await lockAccount(tx, workspaceId);
  const { reading, steps, uses } = await readMeter(tx, plans, workspaceId, now, takeEntries);
  for (const step of steps) await write(tx, workspaceId, step, now);
  const contents = uses.map(({ last, bytes }) => ({ time: last, bytes }));
  await addContents(tx, workspaceId, contents);
  const room = await contentRoom(tx, workspaceId, reading.plan);
  await writeHeadroom(tx, workspaceId, reading, room);
  return { ...reading, contentRoom: room };
}

/** An up-to-date meter, with the bytes of contents that can still be stored; null is no limit. */
export interface SettledAccount extends MeterReading {
  readonly contentRoom: number | null;
}

/** Takes `wanted` units, or as many as are left. The account stays locked until the transaction ends. */
export async function takeUpTo(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  kind: MeterKind,
  wanted: number,
  now: Date,
): Promise<{ readonly taken: number; readonly refusal: Capacity["refusal"] }> {
  const { taken, refusal } = await takeFrom(tx, plans, workspaceId, kind, wanted, now);
  return { taken, refusal };
}

/**
 * Takes `wanted` units.
 * @throws ApiError (limitError) when fewer are left
 */
export async function takeAll(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  kind: MeterKind,
  wanted: number,
  now: Date,
): Promise<void> {
  const { taken, refusal, before } = await takeFrom(tx, plans, workspaceId, kind, wanted, now);
  if (taken < wanted) throw limitError(refusal, before, kind, now, wanted);
}

async function takeFrom(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  kind: MeterKind,
  wanted: number,
  now: Date,
) {
  const before = await settleAccount(tx, plans, workspaceId, now);
  const { most, refusal } = capacityFor(before, kind);
  const taken = Math.min(wanted, most ?? wanted);
  if (taken > 0) {
    const step = stepFrom(before, [{ kind, hour: hourOf(now), last: now, taken, given_back: 0 }]);
    await write(tx, workspaceId, step, now);
    await writeHeadroom(tx, workspaceId, step.reading, before.contentRoom);
  }
  return { taken, refusal, before };
}

/** Usage of one period, and its charges. */
interface PeriodUsage extends ReturnType<typeof afterUse> {
  readonly uses: readonly Use[];
  /** Kinds whose row has to be written. */
  readonly kinds: readonly MeterKind[];
}

/** @param rows the rows that `before` was read from */
function stepFrom(before: MeterReading, uses: readonly Use[], rows: readonly MeterRow[] = []): PeriodUsage {
  const newlyCovered = rows.filter(({ kind, covered }) => covered !== before.covered[kind]);
  const kinds = [...new Set([...uses, ...newlyCovered].map(({ kind }) => kind))];
  return { uses, kinds, ...afterUse(before, uses) };
}

/** The meter with its entries applied, period by period up to that of `now`. */
async function readMeter(
  db: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
  entriesOf: typeof listEntries,
): Promise<{
  readonly reading: MeterReading;
  readonly steps: readonly PeriodUsage[];
  readonly uses: readonly UnappliedUse[];
}> {
  const account = required(await findAccount(db, workspaceId), "Workspace");
  const uses = await entriesOf(db, workspaceId, turningPoints(account, now));
  const startOf = (time: Date) => allowancePeriod(account, time).start.getTime();
  const times = new Map([...uses.map(({ last }) => [startOf(last), last] as const), [startOf(now), now]]);
  const steps: PeriodUsage[] = [];
  let { balance } = account;
  for (const [start, time] of [...times].sort(([a], [b]) => a - b)) {
    const before = meterReadingOf({ ...account, balance }, plans, time);
    const rows = await listUse(db, workspaceId, before.period.start, before.hour);
    const ofPeriod = uses.filter(({ last }) => startOf(last) === start);
    const step = stepFrom(meterReadingOf(before.account, plans, time, rows), ofPeriod, rows);
    steps.push(step);
    balance = step.reading.account.balance;
  }
  const current = steps.find(({ reading }) => reading.period.start.getTime() === startOf(now));
  if (current === undefined) throw new Error("no period contains the present");
  return { reading: { ...current.reading, account: { ...account, balance } }, steps, uses };
}

/** Ends of the period and of the subscription; a cancelled one may end within a calendar month. */
function turningPoints(account: Account, now: Date): Date[] {
  const { start, end } = allowancePeriod(account, now);
  const subscribedUntil = account.subscription?.current_period_end ?? end;
  return [start, end, subscribedUntil].sort((a, b) => a.getTime() - b.getTime());
}

/** The caller has locked the account. */
async function write(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { reading, movements, uses, kinds }: PeriodUsage,
  now: Date,
): Promise<void> {
  await saveMeter(tx, workspaceId, reading, uses, kinds);
  for (const movement of movements) await addDailyCharge(tx, workspaceId, movement, now);
}

function writeHeadroom(
  tx: Queryable,
  workspaceId: WorkspaceId,
  reading: MeterReading,
  contents: number | null,
): Promise<void> {
  const { most } = capacityFor(reading, "email");
  const emails = reading.account.hourly_cap === null ? most : 0;
  return updateHeadroom(tx, workspaceId, { emails, contents }, reading.period.end);
}
