/** Adds the entries of a file to a suppression list, in one transaction. */

import { addressInCell } from "#audience/files/address-cell.ts";
import type { Encoding } from "#platform/csv/encodings.ts";
import { openCsv } from "#platform/csv/read.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { requireRows, rowLimit, type StorageDeps } from "#workspace/billing/storage-limit.ts";
import { EntryTally } from "./add-entries.ts";
import { type EntriesOf, insertEntries, refreshStatistics } from "./entry-store.ts";
import { findEntryColumn } from "./find-entry-column.ts";
import { managedByService } from "./remove-in-steps.ts";
import { lockSuppressionList } from "./store.ts";
import type { AddedEntries } from "./suppression-list.ts";

const BATCH = 5_000;

export interface ImportedFile {
  readonly path: string;
  /** The encoding that the caller names, if any. */
  readonly encoding: Encoding | undefined;
  readonly createdBy: string;
}

/**
 * Reads the file as CSV, or as one entry a line. The column is found by name or content (find-entry-column.ts); the header
 * may be missing. Values that exist already or are repeated count as duplicates; invalid values are only counted.
 * @throws ApiError NOT_FOUND, PLAN_LIMIT_REACHED, FORBIDDEN for the system list; BAD_REQUEST for a file without a valid
 * entry
 */
export async function importEntries(
  deps: StorageDeps & { readonly db: Database },
  list: EntriesOf,
  { path, encoding, createdBy }: ImportedFile,
): Promise<AddedEntries> {
  const { db, clock } = deps;
  const file = await openCsv(path, encoding);
  const { place, headerLine, warnings } = await findEntryColumn(file);
  const origin = { createdBy, createdAt: clock.now() };
  return db.transaction(async (tx) => {
    const limit = await rowLimit(deps, tx, list.workspaceId, "suppression_entries");
    const { is_system } = await lockSuppressionList(tx, list.workspaceId, list.listId);
    if (is_system) throw managedByService();
    const tally = new EntryTally();
    // One batch is stored while the next is read.
    let storing = Promise.resolve(0);
    const store = async () => {
      tally.added += await storing;
      storing = insertEntries(tx, list, tally.takeValues(), origin);
      // The error is thrown where `storing` is awaited; this prevents an unhandled rejection until then.
      storing.catch(() => {});
    };
    for await (const { line, cells } of file.rows()) {
      if (line <= headerLine) continue;
      // Without the apostrophe that an export of subscribers puts before formulas.
      const text = addressInCell(cells[place] ?? "");
      if (file.isBroken(text)) tally.refuse(text);
      else tally.read(text);
      if (tally.waiting === BATCH) await store();
    }
    if (tally.isEmpty) throw new ApiError("BAD_REQUEST", `The file holds ${tally.nothing}`);
    await store();
    tally.added += await storing;
    await requireRows(tx, list.workspaceId, limit, tally.added);
    await refreshStatistics(tx, tally.added);
    return withWarnings(tally.result(), [...file.warnings, ...warnings]);
  });
}

function withWarnings(result: AddedEntries, warnings: readonly string[]): AddedEntries {
  if (warnings.length === 0) return result;
  return { ...result, message: [result.message, ...warnings].join(". "), warnings: [...warnings] };
}
