/** Transactions that only read, and in which every statement sees the database as it is at the first one. */
import { raw } from "sql-template-tag";
import type { Database, Transaction } from "./pool.ts";

/** Runs `work` in such a transaction: what one statement reads fits what an earlier one counted. */
export function inOneSnapshot<Result>(
  db: Database,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (tx) => {
    await tx.run(raw("set transaction isolation level repeatable read, read only"));
    return work(tx);
  });
}
