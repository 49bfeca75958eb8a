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
import {
  type Headroom,
  listAccounts,
  lockAccount,
  lockFreeAccounts,
  updateHeadrooms,
} from "./account-store.ts";
import {
  afterUse,
  type Capacity,
  capacityFor,
  hourOf,
  type MeterReading,
  type MeterRow,
  meterReadingOf,
  type Use,
} from "./derive-meter-reading.ts";
import { addDailyCharges } from "./ledger-store.ts";
import { limitError } from "./limit-error.ts";
import {
  listEntries,
  listUse,
  type MeterSplit,
  saveMeters,
  takeEntries,
  type WorkspaceUse,
} from "./meter-store.ts";
import { type Account, allowancePeriod } from "./plan-of-account.ts";
import type { MeterKind, Plans } from "./plans.ts";
import { listContentRooms } from "./storage-limit.ts";
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
  const [meter] = await readMeters(db, plans, [workspaceId], now, listEntries);
  return required(meter, "Workspace").reading;
}

/**
 * Locks the account, and moves its entries into meter, ledger and balance, in the caller's transaction. The result is
 * exact until that transaction ends.
 * @throws ApiError NOT_FOUND when the workspace does not exist
 */
export async function settleAccount(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<SettledAccount> {
  await lockAccount(tx, workspaceId);
  const settled = await settleLocked(tx, plans, [workspaceId], now);
  return required(settled.get(workspaceId), "Workspace");
}

/**
 * Settles several accounts with the same number of statements as one. An account that another transaction has locked is
 * left out: that transaction settles it, or the next call does. So the call waits for no account, and others wait for it
 * only shortly.
 */
export async function settleFreeAccounts(
  tx: Queryable,
  plans: Plans,
  workspaceIds: readonly WorkspaceId[],
  now: Date,
): Promise<void> {
  const locked = await lockFreeAccounts(tx, workspaceIds);
  if (locked.length > 0) await settleLocked(tx, plans, locked, now);
}

/** The caller has locked the accounts. */
async function settleLocked(
  tx: Queryable,
  plans: Plans,
  workspaceIds: readonly WorkspaceId[],
  now: Date,
): Promise<Map<WorkspaceId, SettledAccount>> {
  const meters = await readMeters(tx, plans, workspaceIds, now, takeEntries);
  await write(
    tx,
    meters.flatMap(({ steps }) => steps),
    now,
  );
  const contents = meters.flatMap(({ workspaceId, uses }) =>
    uses.map(({ last, bytes }) => ({ workspaceId, time: last, bytes })),
  );
  await addContents(tx, contents);
  const rooms = await listContentRooms(
    tx,
    new Map(meters.map(({ workspaceId, reading }) => [workspaceId, reading.plan])),
  );
  const settled = new Map(
    meters.map(({ workspaceId, reading }) => [
      workspaceId,
      { ...reading, contentRoom: rooms.get(workspaceId) ?? null },
    ]),
  );
  await updateHeadrooms(
    tx,
    [...settled].map(([workspaceId, account]) => headroomOf(workspaceId, account)),
  );
  return settled;
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
    const step = stepFrom(workspaceId, before, [
      { kind, hour: hourOf(now), last: now, taken, given_back: 0 },
    ]);
    await write(tx, [step], now);
    await updateHeadrooms(tx, [
      headroomOf(workspaceId, { ...step.reading, contentRoom: before.contentRoom }),
    ]);
  }
  return { taken, refusal, before };
}

/** Usage of one period, and its charges. */
interface PeriodUsage extends ReturnType<typeof afterUse> {
  readonly workspaceId: WorkspaceId;
  readonly uses: readonly Use[];
  /** Kinds whose row has to be written. */
  readonly kinds: readonly MeterKind[];
}

/** @param rows the rows that `before` was read from */
function stepFrom(
  workspaceId: WorkspaceId,
  before: MeterReading,
  uses: readonly Use[],
  rows: readonly MeterRow[] = [],
): PeriodUsage {
  const newlyCovered = rows.filter(({ kind, covered }) => covered !== before.covered[kind]);
  const kinds = [...new Set([...uses, ...newlyCovered].map(({ kind }) => kind))];
  return { workspaceId, uses, kinds, ...afterUse(before, uses) };
}

/** A workspace's meter with its entries applied, period by period up to the present. */
interface UpdatedMeter {
  readonly workspaceId: WorkspaceId;
  readonly reading: MeterReading;
  readonly steps: readonly PeriodUsage[];
  readonly uses: readonly WorkspaceUse[];
}

/** The meters of the workspaces; none for a workspace that does not exist. */
async function readMeters(
  db: Queryable,
  plans: Plans,
  workspaceIds: readonly WorkspaceId[],
  now: Date,
  entriesOf: typeof listEntries,
): Promise<UpdatedMeter[]> {
  const accounts = [...(await listAccounts(db, workspaceIds))];
  const entries = await entriesOf(
    db,
    accounts.map(([workspaceId, account]) => ({ workspaceId, moments: turningPoints(account, now) })),
  );
  const usesOf = Map.groupBy(entries, ({ workspace_id: workspaceId }) => workspaceId);
  const meters = accounts.map(([workspaceId, account]) => {
    const uses = usesOf.get(workspaceId) ?? [];
    return { workspaceId, account, uses, times: timesOf(account, uses, now) };
  });
  const periods = meters.flatMap(({ workspaceId, account, times }) =>
    times.map((time) => ({ workspaceId, start: startOf(account, time), hour: hourOf(time) })),
  );
  const rowsOf = Map.groupBy(await listUse(db, periods), ({ place }) => place);
  let place = 0;
  return meters.map(({ workspaceId, account, uses, times }) => {
    const steps: PeriodUsage[] = [];
    let { balance } = account;
    for (const time of times) {
      place += 1;
      const rows = rowsOf.get(place) ?? [];
      const start = startOf(account, time).getTime();
      const ofPeriod = uses.filter(({ last }) => startOf(account, last).getTime() === start);
      const before = meterReadingOf({ ...account, balance }, plans, time, rows);
      const step = stepFrom(workspaceId, before, ofPeriod, rows);
      steps.push(step);
      balance = step.reading.account.balance;
    }
    const present = startOf(account, now).getTime();
    const current = steps.find(({ reading }) => reading.period.start.getTime() === present);
    if (current === undefined) throw new Error("no period contains the present");
    return { workspaceId, steps, uses, reading: { ...current.reading, account: { ...account, balance } } };
  });
}

/** A time of each period that has usage, and the present; in order. */
function timesOf(account: Account, uses: readonly Use[], now: Date): Date[] {
  const times = new Map(uses.map(({ last }) => [startOf(account, last).getTime(), last]));
  times.set(startOf(account, now).getTime(), now);
  return [...times].sort(([a], [b]) => a - b).map(([, time]) => time);
}

function startOf(account: Account, time: Date): Date {
  return allowancePeriod(account, time).start;
}

/** Ends of the period and of the subscription, in order; a cancelled one may end within a calendar month. */
function turningPoints(account: Account, now: Date): MeterSplit["moments"] {
  const { start, end } = allowancePeriod(account, now);
  const until = account.subscription?.current_period_end ?? end;
  if (until < start) return [until, start, end];
  return until < end ? [start, until, end] : [start, end, until];
}

/** The caller has locked the accounts. */
async function write(tx: Queryable, steps: readonly PeriodUsage[], now: Date): Promise<void> {
  await saveMeters(tx, steps);
  const charges = steps.flatMap(({ workspaceId, movements }) =>
    movements.map((movement) => ({ workspaceId, ...movement })),
  );
  await addDailyCharges(tx, charges, now);
}

function headroomOf(workspaceId: WorkspaceId, { contentRoom, ...reading }: SettledAccount): Headroom {
  const { most } = capacityFor(reading, "email");
  const emails = reading.account.hourly_cap === null ? most : 0;
  return { workspaceId, emails, contents: contentRoom, until: reading.period.end };
}
