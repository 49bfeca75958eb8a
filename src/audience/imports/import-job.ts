/** The background job of an import. */
import { open } from "node:fs/promises";
import { listSettledFields } from "#audience/custom-fields/store.ts";
import { createLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import type { JobHandler, JobOutcome } from "#platform/jobs/attempt.ts";
import { copyFile } from "#platform/jobs/files.ts";
import { JobLineFile } from "#platform/jobs/line-file.ts";
import type { StorageDeps } from "#workspace/billing/storage-limit.ts";
import { describeRead, reportOf } from "./dry-run-report.ts";
import { findPlan, type ImportPlan, keepPlan } from "./import-plan.ts";
import { openTarget, type ReadOptions, readImport } from "./import-reader.ts";
import { previewPeople } from "./preview-people.ts";
import { ScratchLines } from "./scratch-line-file.ts";
import { writePeople } from "./write-people.ts";
import type { ImportCounts } from "./written-batches-store.ts";

export const IMPORT_JOB = "subscriber_import";

/** The parameters of the job. */
export interface ImportInput extends ReadOptions {
  readonly mailing_list_id: string;
  /** The file name that the sender gave. */
  readonly file_name: string;
  readonly update_existing: boolean;
  readonly resubscribe: boolean;
  readonly trigger_autoresponders: boolean;
  /** Whether to report only. */
  readonly dry_run: boolean;
}

/** Database connections that all imports of a process use together; the others stay free for requests. */
const CONNECTIONS = 2;

export function importHandler({
  db,
  clock,
  plans,
}: StorageDeps & { readonly db: Database }): JobHandler<ImportInput> {
  const takeTurn = createLimiter(CONNECTIONS);
  return async ({ job, report, isCancelled, signal, hasToEnd, requireTurn, openInput, openTempFile }) => {
    const { id: jobId, workspaceId, input } = job;
    const place = { workspaceId, jobId, mailingListId: input.mailing_list_id };
    const options = {
      resubscribe: input.resubscribe,
      triggerAutoresponders: input.trigger_autoresponders,
      clock,
      plans,
    };
    await using people = await openTempFile();
    if (input.dry_run) return dryRun();
    let readHere: string | undefined;
    const plan = (await findPlan(db, place)) ?? (await readAndKeep());
    if (plan.people_file !== readHere) {
      await copyFile(db, { workspaceId, jobId, name: plan.people_file }, people.path);
    }

    async function readUpload() {
      // A file that cannot be read ends the job with these.
      report({ counts: { created: 0, updated: 0, unchanged: 0, duplicates: 0, invalid: 0 } });
      await using upload = await openInput();
      const fields = await listSettledFields(db, workspaceId, place.mailingListId);
      const target = await openTarget(db, workspaceId, fields);
      const owner = { workspaceId, id: jobId };
      await using copy = await open(people.path, "wx", 0o600);
      await using lines = input.dry_run ? new ScratchLines(copy) : new JobLineFile(db, owner, "people", copy);
      await using errors = new JobLineFile(db, owner, "errors.csv");
      await using errorRows = new JobLineFile(db, owner, "rows-with-errors.csv");
      const sinks = { people: lines, errors, errorRows };
      const read = await readImport(target, upload.path, sinks, input, clock.now(), signal);
      return { read, described: input.dry_run ? await describeRead(read) : [] };
    }

    async function readAndKeep(): Promise<ImportPlan> {
      const { plan } = (await readUpload()).read;
      readHere = plan.people_file;
      return keepPlan(db, place, plan);
    }

    /** Runs from the start in each run of the job: its findings are stored in its result only. */
    async function dryRun(): Promise<JobOutcome> {
      const { read, described } = await readUpload();
      const { plan } = read;
      const onCompared = (compared: number) =>
        report(progressOf(plan, { created: 0, updated: 0, unchanged: compared }));
      const { resubscribe } = input;
      const updateExisting = input.update_existing && !plan.is_guessed;
      const preview = await previewPeople(
        {
          db,
          workspaceId,
          mailingListId: place.mailingListId,
          path: people.path,
          updateExisting,
          resubscribe,
          examples: read.examples,
          takeTurn,
          signal,
          onCompared,
        },
        plan,
      );
      report(progressOf(plan, preview));
      return { result: reportOf(read, input.file_name, described, preview), ...errorsOf(plan) };
    }

    const onWritten = (written: ImportCounts) => report(progressOf(plan, written));
    const updateExisting = input.update_existing && !plan.is_guessed;
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
    // When the service stops, the job continues later; when a caller cancels it, the result says how far it came.
    if (!isWhole && !isCancelled()) signal.throwIfAborted();
    return { ...outcomeOf(plan, written, input), isPartial: !isWhole };
  };
}

function progressOf(
  { rows, duplicates, invalid }: ImportPlan,
  { created, updated, unchanged }: ImportCounts,
) {
  const written = { created, updated, unchanged };
  const succeeded = created + updated + unchanged;
  return {
    total: rows,
    processed: succeeded + duplicates + invalid,
    succeeded,
    failed: invalid,
    skipped: duplicates,
    counts: { ...written, duplicates, invalid },
  };
}

function outcomeOf(plan: ImportPlan, written: ImportCounts, { file_name }: ImportInput): JobOutcome {
  const { rows, duplicates, invalid, encoding, delimiter, skipped_columns } = plan;
  const { warnings, opt_out_columns, written_in_part } = plan;
  const layout = { written_in_part, encoding, delimiter, skipped_columns, opt_out_columns, warnings };
  return {
    result: { file_name, dry_run: false, rows, ...written, duplicates, invalid, ...layout },
    ...errorsOf(plan),
  };
}

function errorsOf({
  errors_file,
  error_rows_file,
}: ImportPlan): Pick<JobOutcome, "errorsFile" | "errorRowsFile"> {
  return {
    ...(errors_file !== null && { errorsFile: errors_file }),
    ...(error_rows_file !== null && { errorRowsFile: error_rows_file }),
  };
}
