/**
 * The database as requests see it. A caller waits for the answer, so a statement that gets none ends within four
 * seconds, and the caller is told. What reads much (reports, exports, uploads) runs with `patiently` and has the time
 * that background work has, but waits no longer for a lock. Each of the two has connections apart from each other and
 * from background work, so that neither takes the connections that accepting a message needs.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createDatabase, type Database, type Deadlines } from "./pool.ts";

const LOCK_MS = 3_000;

export const REQUEST_DEADLINES: Partial<Deadlines> = {
  connectMs: 4_000,
  statementMs: 3_500,
  lockMs: LOCK_MS,
  answerMs: 4_000,
  idleTransactionMs: 10_000,
  wholeMs: 4_000,
};
const PATIENT_DEADLINES: Partial<Deadlines> = { lockMs: LOCK_MS };

const patience = new AsyncLocalStorage<true>();

/** What `work` asks of a request database may take as long as background work. */
export function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  return patience.run(true, work);
}

/** Opens nothing until the first statement. `size` is that of the pool for quick statements; the other has half of it. */
export function createRequestDatabase(
  url: string,
  options: Omit<Parameters<typeof createDatabase>[1], "deadlines">,
): Database {
  const quick = createDatabase(url, { ...options, deadlines: REQUEST_DEADLINES });
  const patient = createDatabase(url, {
    ...options,
    size: Math.ceil(options.size / 2),
    deadlines: PATIENT_DEADLINES,
  });
  const chosen = () => (patience.getStore() ? patient : quick);
  return {
    url,
    get pool() {
      return chosen().pool;
    },
    rows: (statement, name) => chosen().rows(statement, name),
    row: (statement, name) => chosen().row(statement, name),
    run: (statement) => chosen().run(statement),
    transaction: (work, transactionOptions) => chosen().transaction(work, transactionOptions),
    connect: () => chosen().connect(),
    openSession: () => quick.openSession(),
    async close() {
      await Promise.all([quick.close(), patient.close()]);
    },
  };
}
