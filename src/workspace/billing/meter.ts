/**
 * The meter: what is used is taken in the transaction that uses it, exactly up to what allowance and balance cover.
 *
 * Far from a limit, use is only noted (meter_entries): an insert that waits for nobody. The account says how far it was
 * when the meter was last read (`email_headroom`), and what is noted since is added up; NARROW (meter-store.ts) is
 * more than all transactions that can be open at once may take (a PostgreSQL of 100 connections, with batches of 200),
 * so that none of them, blind for the others, can pass the limit. Near it, always where an hourly cap is set, and for the
 * steps of campaigns, use is taken under the account's lock. What is noted moves meter, ledger and balance when the meter
 * is read next.
 *
 * What is noted counts in the period in which it was noted, whenever it is read, under the plan that was in force then.
 * (Of periods before the last one the hour decides.) What comes back counts in the period in which it comes back.
 */
import type { Queryable } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Account, allowancePeriod } from "./account.ts";
import { findAccount, lockAccount, updateHeadroom } from "./account-store.ts";
import { addDailyCharge } from "./ledger-store.ts";
import { limitError } from "./limit-error.ts";
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
} from "./meter-reading.ts";
import { listEntries, listUse, saveMeter, takeEntries } from "./meter-store.ts";
import type { MeterKind, Plans } from "./plans.ts";
import { contentRoom } from "./storage-limit.ts";
import { addContents } from "./storage-store.ts";

/** Reads the meter without writing it. @throws ApiError NOT_FOUND for a workspace that is not there */
export async function getMeterReading(
  db: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<MeterReading> {
  return (await readMeter(db, plans, workspaceId, now, listEntries)).reading;
}

/**
 * Locks the account, and brings meter, ledger and balance up to date, in the caller's transaction. What it says holds
 * until that ends.
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

/** A reading that is written, with the bytes of contents that can still be stored; null is no limit. */
export interface SettledAccount extends MeterReading {
  readonly contentRoom: number | null;
}

/** Takes what is asked for, or as much of it as there is. The account stays locked until the transaction ends. */
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

/** Takes all that is asked for. @throws ApiError as refusalError has it, when there is less */
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

/** What was used in a period, and what that comes to. */
interface Step extends ReturnType<typeof afterUse> {
  readonly uses: readonly Use[];
  /** Those whose row says less than the reading. */
  readonly kinds: readonly MeterKind[];
}

/** @param rows those that `before` was read from */
function stepFrom(before: MeterReading, uses: readonly Use[], rows: readonly MeterRow[] = []): Step {
  const newlyCovered = rows.filter(({ kind, covered }) => covered !== before.covered[kind]);
  const kinds = [...new Set([...uses, ...newlyCovered].map(({ kind }) => kind))];
  return { uses, kinds, ...afterUse(before, uses) };
}

/** The meter with the entries that are given: period by period, the one of `now` among them. */
async function readMeter(
  db: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
  entriesOf: typeof listEntries,
): Promise<{
  readonly reading: MeterReading;
  readonly steps: readonly Step[];
  readonly uses: readonly UnappliedUse[];
}> {
  const account = await findAccount(db, workspaceId);
  if (account === undefined) throw notFound("Workspace");
  const uses = await entriesOf(db, workspaceId, turningPoints(account, now));
  const startOf = (time: Date) => allowancePeriod(account, time).start.getTime();
  const times = new Map([...uses.map(({ last }) => [startOf(last), last] as const), [startOf(now), now]]);
  const steps: Step[] = [];
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
  if (current === undefined) throw new Error("the present is no period");
  return { reading: { ...current.reading, account: { ...account, balance } }, steps, uses };
}

/** When a period ends, or a cancelled subscription, which may be in the middle of a calendar month. */
function turningPoints(account: Account, now: Date): Date[] {
  const { start, end } = allowancePeriod(account, now);
  const subscribedUntil = account.subscription?.current_period_end ?? end;
  return [start, end, subscribedUntil].sort((a, b) => a.getTime() - b.getTime());
}

/** The account is locked. */
async function write(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { reading, movements, uses, kinds }: Step,
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
