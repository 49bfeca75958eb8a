/** A database that is being restored, or whose restore failed, is marked by a table: until its end only a restore uses it. */
import { raw } from "sql-template-tag";
import type { Queryable } from "./pool.ts";

const MARK = "unfinished_restore";

/** Begins a restore. */
export async function markUnfinishedRestore(db: Queryable): Promise<void> {
  await db.run(raw(`create table if not exists ${MARK} ()`));
}

/** Ends a restore, in its transaction or after one that failed and changed nothing. */
export async function endUnfinishedRestore(tx: Queryable): Promise<void> {
  await tx.run(raw(`drop table if exists ${MARK}`));
}

/** @throws Error with what to do */
export async function refuseUnfinishedRestore(db: Pick<Queryable, "rows">): Promise<void> {
  const [row] = await db.rows<{ isThere: boolean }>(
    raw(`select to_regclass('${MARK}') is not null as "isThere"`),
  );
  if (row?.isThere) {
    throw new Error(
      "a restore into this database runs or has failed: wait for it, or run `npm run -s posthaste -- restore` again; or begin with an empty database",
    );
  }
}
