/**
 * The database for requests, with short deadlines because a caller waits: a statement without an answer fails within four
 * seconds. Requests that read much (reports, exports, uploads) run with `patiently` and have the deadlines of background
 * work, except for locks. Quick requests, patient requests and background work have separate pools, so that none takes the
 * connections that accepting a message needs.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createDatabase, type Database, type Deadlines } from "./pool.ts";

const LOCK_MS = 3_000;

const REQUEST_DEADLINES: Partial<Deadlines> = {
  connectMs: 4_000,
  statementMs: 3_500,
  lockMs: LOCK_MS,
  answerMs: 4_000,
  idleTransactionMs: 10_000,
  wholeMs: 4_000,
};
const PATIENT_DEADLINES: Partial<Deadlines> = { lockMs: LOCK_MS };

const patience = new AsyncLocalStorage<true>();

/** Runs `work` with the deadlines of background work for its statements on a request database. */
export function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  return patience.run(true, work);
}

/** Connects with the first statement. `options.size` is the size of the quick pool; the patient pool has half of it. */
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
