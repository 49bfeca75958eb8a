/**
 * Moves old days of the message log to a tablespace on cheaper storage. They are read and dropped there like all others.
 * PostgreSQL locks a table or index while it copies its file: meanwhile statements that need it wait.
 */
import type { Database } from "#platform/database/pool.ts";
import { firstIdAt } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { hasTablespace, listPartitionsOutside, movePartition } from "./archive-store.ts";
import { changeEach } from "./change-each.ts";

export interface Archive {
  readonly tablespace: string;
  /** Age of a day, counted from its end, at which it is moved. */
  readonly days: number;
}

/** A call moves partitions for about this long, so that other recurring work gets its turn. */
const TURN_MS = 60_000;

/**
 * Moves partitions one after another, the oldest first. A killed call has moved whole tables and indexes only, and the next
 * one continues.
 * @throws PutBack when more is left, AggregateError when some could not be moved, Error when there is no such tablespace
 */
export async function moveOldPartitions(
  db: Database,
  { tablespace, days }: Archive,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const before = firstIdAt(new Date(now.getTime() - days * DAY_MS));
  if (!(await hasTablespace(db, tablespace))) {
    throw new Error(
      `MESSAGE_ARCHIVE_TABLESPACE: there is no tablespace ${tablespace} that the database user may create tables in`,
    );
  }
  const old = (await listPartitionsOutside(db, tablespace)).filter(({ to }) => to <= before);
  if (old.length === 0) return;
  const session = await db.openSession();
  const ends = performance.now() + TURN_MS;
  try {
    const moved = await changeEach(
      old,
      (partition) => movePartition(session, partition, tablespace),
      () => !signal.aborted && performance.now() < ends,
    );
    if (moved.length < old.length) throw new PutBack(1);
  } finally {
    await session.end();
  }
}
