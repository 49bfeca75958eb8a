/** Opens an import file: its format, its header, and the mapping of its columns. */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { Encoding } from "#platform/csv/encodings.ts";
import { type CsvFile, openCsv } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/record-parser.ts";
import { ApiError } from "#platform/errors.ts";
import { type Columns, headerAmong, readColumns } from "./column-mapping.ts";

export interface Table {
  readonly file: CsvFile;
  /** The row with the headers; rows above it are skipped. */
  readonly header: CsvRow;
  readonly columns: Columns;
  /** Warnings for the sender about how the file was read. */
  readonly warnings: readonly string[];
}

/** @throws ApiError BAD_REQUEST for a file that is not CSV, or has no column of addresses */
export async function openTable(
  path: string,
  encoding: Encoding | undefined,
  fields: readonly CustomField[],
): Promise<Table> {
  const file = await openCsv(path, encoding);
  const rows = await firstRows(file);
  const at = headerAmong(rows);
  const header = rows[at];
  if (header === undefined) throw new ApiError("BAD_REQUEST", "The file is empty");
  const behind = rows.slice(at + 1).map(({ cells }) => cells);
  const columns = readColumns(header.cells, fields, behind);
  const above = at === 0 ? [] : [`The header is on line ${header.line}: the lines above it were skipped`];
  return { file, header, columns, warnings: [...file.warnings, ...above, ...columns.warnings] };
}

const MOST_FIRST = 100;

/** The first rows of the file. */
async function firstRows(file: CsvFile): Promise<CsvRow[]> {
  const rows: CsvRow[] = [];
  for await (const batch of file.batches()) {
    rows.push(...batch);
    if (rows.length >= MOST_FIRST) break;
  }
  return rows.slice(0, MOST_FIRST);
}
