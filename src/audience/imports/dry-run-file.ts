/** The dry run of the command line: reports what importing a local file would do. */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { findWorkspaceOfList } from "#audience/mailing-lists/store.ts";
import type { Clock } from "#platform/clock.ts";
import { createLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, required } from "#platform/errors.ts";
import { describeRead, type ImportReport, reportOf } from "./dry-run-report.ts";
import { type ImportTarget, openTarget, type ReadOptions, readImport } from "./import-reader.ts";
import { unclearFileName } from "./opt-outs/find-columns.ts";
import { previewPeople } from "./preview-people.ts";
import { ScratchLines } from "./scratch-line-file.ts";

export interface Inspection extends ReadOptions {
  readonly path: string;
  readonly updateExisting: boolean;
  readonly resubscribe: boolean;
  readonly clock: Clock;
  /** The list to compare the file with, if any. */
  readonly list: { readonly db: Database; readonly id: string } | undefined;
}

/** @throws ApiError BAD_REQUEST for a file that an import would refuse; NOT_FOUND for an unknown list */
export async function inspectFile(inspection: Inspection): Promise<ImportReport> {
  const { path, list, clock } = inspection;
  const place = list && { db: list.db, mailingListId: list.id, ...(await ownerOf(list)) };
  const folder = await mkdtemp(join(tmpdir(), "posthaste-inspect-"));
  try {
    const people = join(folder, "people");
    await using copy = await open(people, "wx", 0o600);
    const sinks = {
      people: new ScratchLines(copy),
      errors: new ScratchLines(),
      errorRows: new ScratchLines(),
    };
    const signal = new AbortController().signal;
    const target = place?.target ?? nothingKnown;
    const read = await readImport(target, path, sinks, inspection, clock.now(), signal);
    const { examples, plan, optOuts } = read;
    const name = basename(path);
    const unclear = unclearFileName(name, optOuts, inspection);
    if (unclear !== undefined) throw new ApiError("BAD_REQUEST", unclear);
    const updateExisting = inspection.updateExisting && !plan.is_guessed;
    const { resubscribe } = inspection;
    const preview =
      place &&
      (await previewPeople(
        { ...place, path: people, updateExisting, resubscribe, examples, takeTurn: createLimiter(1), signal },
        plan,
      ));
    return reportOf(read, name, await describeRead(read), preview);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ownerOf({ db, id }: { readonly db: Database; readonly id: string }) {
  const workspaceId = required(await findWorkspaceOfList(db, id), "Mailing list");
  const fields = await listFieldsInForce(db, workspaceId, id);
  return { workspaceId, target: await openTarget(db, workspaceId, fields) };
}

/** The target without a list. */
const nothingKnown: ImportTarget = {
  fields: [],
  timeZone: "UTC",
  holdersOf: async () => new Set<string>(),
};
