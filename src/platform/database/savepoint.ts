/** A part of a transaction that can be taken back. */
import sql from "sql-template-tag";
import type { Queryable } from "./pool.ts";

/** Which outcomes of a part are taken back. The transaction goes on in any case. */
interface TakenBack {
  /** Errors after which the part is taken back; others end the transaction. */
  readonly onFault?: (fault: unknown) => boolean;
  /** Whether the part is taken back although it has succeeded. */
  readonly always?: boolean;
}

/** @returns undefined when the part was taken back */
export async function inSavepoint<Result>(
  tx: Queryable,
  work: () => Promise<Result>,
  { onFault = () => false, always = false }: TakenBack,
): Promise<Result | undefined> {
  await tx.run(sql`savepoint part`);
  let result: Result | undefined;
  try {
    result = await work();
    if (always) await tx.run(sql`rollback to savepoint part`);
  } catch (fault) {
    if (!onFault(fault)) throw fault;
    await tx.run(sql`rollback to savepoint part`);
  }
  await tx.run(sql`release savepoint part`);
  return always ? undefined : result;
}
