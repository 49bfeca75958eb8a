/** The background job that puts the people of a file on a list. */
import type { Database } from "../../platform/database/pool.ts";
import type { JobHandler, JobOutcome } from "../../platform/jobs/attempt.ts";
import { copyFile } from "../../platform/jobs/files.ts";
import { createTurns } from "../../platform/turns.ts";
import type { StorageDeps } from "../../workspace/billing/storage/storage.ts";
import { findPlan, keepPlan, type Plan } from "./plan.ts";
import { type ReadOptions, readImport } from "./read-file.ts";
import type { Written } from "./store.ts";
import { writePeople } from "./write-people.ts";

export const IMPORT_JOB = "subscriber_import";

/** What the job needs beside the file. */
export interface ImportInput extends ReadOptions {
  readonly mailing_list_id: string;
  /** As its sender calls it. */
  readonly file_name: string;
  readonly update_existing: boolean;
  readonly resubscribe: boolean;
  readonly trigger_autoresponders: boolean;
}

/** Connections that all imports of a process take together; the others of the pool are for those who wait. */
const CONNECTIONS = 2;

export function importHandler({
  db,
  clock,
  plans,
}: StorageDeps & { readonly db: Database }): JobHandler<ImportInput> {
  const takeTurn = createTurns(CONNECTIONS);
  return async ({ job, report, isCancelled, signal, hasToEnd, requireTurn, openInput, openScratch }) => {
    const { id: jobId, workspaceId, input } = job;
    const place = { workspaceId, jobId, mailingListId: input.mailing_list_id };
    const options = {
      resubscribe: input.resubscribe,
      triggerAutoresponders: input.trigger_autoresponders,
      clock,
      plans,
    };
    await using people = await openScratch();
    let readHere: string | undefined;
    const plan = (await findPlan(db, place)) ?? (await readAndKeep());
    if (plan.people_file !== readHere) {
      await copyFile(db, { workspaceId, jobId, name: plan.people_file }, people.path);
    }

    async function readAndKeep(): Promise<Plan> {
      await using upload = await openInput();
      const paths = { upload: upload.path, people: people.path };
      const read = await readImport(db, place, paths, input, clock.now(), signal);
      readHere = read.people_file;
      return keepPlan(db, place, read);
    }

    const onWritten = (written: Written) => report(progressOf(plan, written));
    const updateExisting = input.update_existing && plan.is_guessed !== true;
    const { written, isWhole } = await writePeople(
      {
        db,
        ...place,
        ...options,
        updateExisting,
        path: people.path,
        takeTurn,
        signal,
        hasToEnd,
        requireTurn,
        onWritten,
      },
      plan,
    );
    // A service that stops takes the job up again; a caller who cancels is told how far it came.
    if (!isWhole && !isCancelled()) signal.throwIfAborted();
    return { ...outcomeOf(plan, written, input), isPartial: !isWhole };
  };
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
  const { warnings = [], opt_out_columns = [] } = plan;
  const layout = { encoding, delimiter, skipped_columns, opt_out_columns, warnings };
  return {
    result: { file_name, rows, ...written, duplicates, invalid, ...layout },
    ...(errors_file !== null && { errorsFile: errors_file }),
  };
}
