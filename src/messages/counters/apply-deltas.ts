/** The counters take the notes in, as recurring work. Nobody waits for it: figures are counters and notes together. */
import type { Database } from "#platform/database/pool.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { foldNotes } from "./apply-deltas-store.ts";

/** A fraction of a second's work: the counters' rows are locked meanwhile, which only other folders want. */
const BATCH = 10_000;

export function foldCounters(db: Database): Recurring {
  return {
    name: "fold-report-counters",
    seconds: 2,
    async run({ signal }) {
      while (!signal.aborted && (await foldNotes(db, BATCH)) === BATCH);
    },
  };
}
