/** A database that is being restored, or whose restore failed, is marked by a table: until its end only a restore uses it. */
import { raw } from "sql-template-tag";
import { typedCommand } from "#platform/typed-command.ts";
import type { Queryable } from "./pool.ts";

const MARK = "unfinished_restore";

/** Begins a restore, under the lock of migrations. @returns whether it made the mark; another restore may have */
export async function markUnfinishedRestore(tx: Queryable): Promise<boolean> {
  if (await isRestoreUnfinished(tx)) return false;
  await tx.run(raw(`create table ${MARK} ()`));
  return true;
}

export async function isRestoreUnfinished(db: Pick<Queryable, "rows">): Promise<boolean> {
  const [row] = await db.rows<{ isThere: boolean }>(
    raw(`select to_regclass('${MARK}') is not null as "isThere"`),
  );
  return row?.isThere === true;
}

/** Ends a restore, in its transaction or after one that failed and changed nothing. */
export async function endUnfinishedRestore(tx: Queryable): Promise<void> {
  await tx.run(raw(`drop table if exists ${MARK}`));
}

/** @throws Error with what to do */
export async function refuseUnfinishedRestore(db: Pick<Queryable, "rows">): Promise<void> {
  if (await isRestoreUnfinished(db)) {
    throw new Error(
      `a restore into this database runs or has failed: wait for it, or run \`${typedCommand("restore")}\` again; or begin with an empty database`,
    );
  }
}
