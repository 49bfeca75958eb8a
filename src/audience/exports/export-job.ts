/** The background job that exports subscribers of a list to a CSV file. */
import { open } from "node:fs/promises";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { requireMailingList } from "#audience/mailing-lists/store.ts";
import { membersOf } from "#audience/segments/members-as-relation.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { PersonFilter } from "#audience/subscribers/person-filter.ts";
import type { Clock } from "#platform/clock.ts";
import { csvLine } from "#platform/csv/write.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { inOneSnapshot } from "#platform/database/snapshot-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { JobHandler } from "#platform/jobs/attempt.ts";
import { newFileName, storeLocal } from "#platform/jobs/files.ts";
import { exportHeader, exportRow } from "./export-row.ts";
import { listExported, listStoredNames, openExport } from "./store.ts";

/** Limit of columns for custom fields without a definition: more than any spreadsheet shows. */
const MOST_NAMES = 10_000;

export const EXPORT_JOB = "subscriber_export";

/** What to export; null means no restriction. */
export interface ExportInput {
  readonly mailing_list_id: string;
  readonly status: SubscriberStatus | null;
  readonly search: string | null;
  readonly filter: PersonFilter | null;
  readonly segment_id: string | null;
  /** Names of custom fields, in the order of their columns. */
  readonly fields: readonly string[] | null;
}

export function exportHandler({ db, clock }: { db: Database; clock: Clock }): JobHandler<ExportInput> {
  return async ({ job, report, signal, openTempFile }) => {
    const { workspaceId, input } = job;
    const called = `subscribers-${clock.now().toISOString().slice(0, 10)}.csv`;
    await requireMailingList(db, workspaceId, input.mailing_list_id);
    const wanted = await fieldsOf(db, workspaceId, input);
    // Written to the local disk first: storing parts during the transaction would take a second connection.
    await using scratch = await openTempFile();
    await using file = await open(scratch.path, "wx", 0o600);
    const { rows, fields } = await inOneSnapshot(db, async (tx) => {
      const segment = await segmentOf(tx, workspaceId, input, clock);
      const { status, search, filter, mailing_list_id: mailingListId } = input;
      const selection = { mailingListId, status, search, filter, segment };
      // If the caller names no fields, the export includes values stored under names without a definition.
      const stored =
        input.fields === null ? await listStoredNames(tx, workspaceId, selection, MOST_NAMES) : [];
      const fields = [...new Set([...wanted, ...stored])];
      const total = await openExport(tx, workspaceId, selection);
      await file.writeFile(csvLine(exportHeader(fields)));
      let processed = 0;
      for (;;) {
        signal.throwIfAborted();
        const people = await listExported(tx);
        if (people.length === 0) return { rows: processed, fields };
        await file.writeFile(people.map((person) => csvLine(exportRow(person, fields))).join(""));
        processed += people.length;
        report({ total, processed, succeeded: processed });
      }
    });
    const name = newFileName(called);
    await storeLocal(db, { workspaceId, jobId: job.id, name }, scratch.path);
    report({ total: rows, processed: rows, succeeded: rows });
    return { result: { rows, columns: exportHeader(fields) }, resultFile: name };
  };
}

async function segmentOf(tx: Queryable, workspaceId: WorkspaceId, input: ExportInput, clock: Clock) {
  if (input.segment_id === null) return null;
  return membersOf(tx, workspaceId, input.mailing_list_id, { segmentId: input.segment_id }, clock.now());
}

/** The custom fields that the caller named, or all fields in force. Fields deleted since the request are left out. */
async function fieldsOf(db: Queryable, workspaceId: WorkspaceId, input: ExportInput): Promise<string[]> {
  const inForce = await listFieldsInForce(db, workspaceId, input.mailing_list_id);
  const names = inForce.map(({ field_name }) => field_name);
  if (input.fields === null) return names;
  const isInForce = new Set(names);
  return [...new Set(input.fields)].filter((name) => isInForce.has(name));
}
