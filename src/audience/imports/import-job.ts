/** The background job that puts the people of a file on a list. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import type { JobHandler, JobOutcome } from "../../platform/jobs/attempt.ts";
import { INPUT_FILE } from "../../platform/jobs/files.ts";
import { createTurns } from "../../platform/turns.ts";
import { findPlan, keepPlan, type Plan } from "./plan.ts";
import { readImport } from "./read-file.ts";
import type { Written } from "./store.ts";
import { writePeople } from "./write-people.ts";

export const IMPORT_JOB = "subscriber_import";

/** What the job needs beside the file, which lies in its folder. */
export interface ImportInput {
  readonly mailing_list_id: string;
  /** As its sender calls it. */
  readonly file_name: string;
  readonly update_existing: boolean;
  readonly resubscribe: boolean;
  readonly trigger_autoresponders: boolean;
}

/** Connections that all imports of a process take together; the others of the pool are for those who wait. */
const CONNECTIONS = 2;

export function importHandler({ db, clock }: { db: Database; clock: Clock }): JobHandler<ImportInput> {
  const takeTurn = createTurns(CONNECTIONS);
  return async ({ job, report, isCancelled, signal, folder: openFolder }) => {
    const { id: jobId, workspaceId, input } = job;
    const folder = await openFolder();
    const place = { workspaceId, mailingListId: input.mailing_list_id, folder };
    const options = {
      updateExisting: input.update_existing,
      resubscribe: input.resubscribe,
      triggerAutoresponders: input.trigger_autoresponders,
      clock,
    };
    const plan = (await findPlan(folder)) ?? (await readAndKeep());

    async function readAndKeep(): Promise<Plan> {
      try {
        return await keepPlan(folder, await readImport(db, place, clock.now(), signal));
      } catch (fault) {
        if (isMissing(fault)) throw new ApiError("BAD_REQUEST", "The file is gone: import it again");
        if (fault instanceof ApiError) await rm(join(folder, INPUT_FILE), { force: true });
        throw fault;
      }
    }

    const onWritten = (written: Written) => report(progressOf(plan, written));
    const written = await writePeople({ db, ...place, ...options, jobId, takeTurn, signal, onWritten }, plan);
    // A service that stops takes the job up again; a caller who cancels is told how far it came.
    if (!isCancelled()) signal.throwIfAborted();
    await Promise.all([INPUT_FILE, plan.people_file].map((name) => rm(join(folder, name), { force: true })));
    return outcomeOf(plan, written, input);
  };
}

function isMissing(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "ENOENT";
}

function progressOf({ rows, duplicates, invalid }: Plan, written: Written) {
  const succeeded = written.created + written.updated + written.unchanged;
  return {
    total: rows,
    processed: succeeded + duplicates + invalid,
    succeeded,
    failed: invalid,
    skipped: duplicates,
    counts: { ...written, duplicates, invalid },
  };
}

function outcomeOf(plan: Plan, written: Written, { file_name }: ImportInput): JobOutcome {
  const { rows, duplicates, invalid, encoding, delimiter, skipped_columns, errors_file } = plan;
  return {
    result: { file_name, rows, ...written, duplicates, invalid, encoding, delimiter, skipped_columns },
    ...(errors_file !== null && { errorsFile: errors_file }),
  };
}
