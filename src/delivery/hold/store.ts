/**
 * The hold of sending (table sending_hold): one row for the installation. While it is there, nothing leaves: delivery workers
 * lease no message, webhook deliveries wait, and campaigns and autoresponders stand still. Mail is still accepted.
 */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

export interface SendingHold {
  readonly held_at: Date;
  /** The moment of the backup, if a restore has held the sending; otherwise null. */
  readonly backup_at: Date | null;
}

/** Undefined if sending is not held. Delivery workers ask before each lease. */
export function findHold(db: Queryable): Promise<SendingHold | undefined> {
  return db.row<SendingHold>(sql`select held_at, backup_at from sending_hold`, "sending hold");
}

/** Holds the sending. A hold that exists keeps its times. @param backupAt the moment of the backup that was restored */
export async function insertHold(tx: Queryable, backupAt: Date | null): Promise<void> {
  await tx.run(sql`insert into sending_hold (backup_at) values (${backupAt}) on conflict do nothing`);
}

/**
 * Locks the hold until the transaction ends, if it is still the one that was read before.
 * @throws Error if it was ended meanwhile; another one may have begun
 */
export async function lockHold(tx: Queryable, known: SendingHold): Promise<void> {
  const hold = await tx.row<SendingHold>(sql`select held_at, backup_at from sending_hold for update`);
  if (hold?.held_at.getTime() === known.held_at.getTime()) return;
  throw new Error(
    hold === undefined
      ? "another command has released the sending meanwhile"
      : `another command has released the sending meanwhile, and it is held again since ${hold.held_at.toISOString()}`,
  );
}

/** Ends the hold, if there is one. */
export async function deleteHold(tx: Queryable): Promise<void> {
  await tx.run(sql`delete from sending_hold`);
}
