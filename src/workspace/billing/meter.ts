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
 * Entries count into the period in which they are read: a second after they were written, as a rule.
 */
import type { Queryable } from "../../platform/database/pool.ts";
import { notFound } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import { findAccount, lockAccount, updateHeadroom } from "./account-store.ts";
import { addToDay } from "./ledger-store.ts";
import { addUse, listEntries, listUse, takeEntries } from "./meter-store.ts";
import type { MeterKind, Plans } from "./plans.ts";
import { type Capacity, capacityFor, hourOf, type Reading, readingOf, type Use, withUse } from "./reading.ts";

/** Reads the meter without writing it. @throws ApiError NOT_FOUND for a workspace that is not there */
export async function getReading(
  db: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<Reading> {
  const before = await readMeter(db, plans, workspaceId, now);
  return withUse(before, await listEntries(db, workspaceId)).reading;
}

/**
 * Locks the account, and brings meter, ledger and balance up to date, in the caller's transaction. What it says holds
 * until that ends.
 */
export async function settle(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<Reading> {
  await lockAccount(tx, workspaceId);
  const before = await readMeter(tx, plans, workspaceId, now);
  return write(tx, workspaceId, before, await takeEntries(tx, workspaceId), now);
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
  const before = await settle(tx, plans, workspaceId, now);
  const { most, refusal } = capacityFor(before, kind);
  const taken = Math.min(wanted, most ?? wanted);
  if (taken > 0)
    await write(tx, workspaceId, before, [{ kind, hour: hourOf(now), taken, given_back: 0 }], now);
  return { taken, refusal };
}

async function readMeter(db: Queryable, plans: Plans, workspaceId: WorkspaceId, now: Date): Promise<Reading> {
  const account = await findAccount(db, workspaceId);
  if (account === undefined) throw notFound("Workspace");
  const { period, hour } = readingOf(account, plans, now);
  return readingOf(account, plans, now, await listUse(db, workspaceId, period.start, hour));
}

/** The account is locked. */
async function write(
  tx: Queryable,
  workspaceId: WorkspaceId,
  before: Reading,
  uses: readonly Use[],
  now: Date,
): Promise<Reading> {
  const { reading, movements } = withUse(before, uses);
  await addUse(tx, workspaceId, reading.period.start, uses);
  for (const movement of movements) await addToDay(tx, workspaceId, movement, now);
  const { most } = capacityFor(reading, "email");
  const headroom = reading.account.hourly_cap === null ? most : 0;
  await updateHeadroom(tx, workspaceId, headroom, reading.period.end);
  return reading;
}
