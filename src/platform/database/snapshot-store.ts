/** Transactions that only read, and in which every statement sees the database as it is at the first one. */
import { raw } from "sql-template-tag";
import type { Database, Queryable } from "./pool.ts";

/** Runs statements of `work` one after the other: one reads what an earlier one counted. */
export function inOneSnapshot<Result>(
  db: Database,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (tx) => {
    await useOneSnapshot(tx);
    return work(tx);
  });
}

/** Every part of the transaction sees the database as it is at the first query. Must be the first statement. */
export async function useOneSnapshot(tx: Queryable): Promise<void> {
  await tx.run(raw("set transaction isolation level repeatable read, read only"));
}
