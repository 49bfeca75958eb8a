/** Opens an import file: its format, its header, and the mapping of its columns. */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { Encoding } from "#platform/csv/encodings.ts";
import { type CsvFile, openCsv } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/record-parser.ts";
import { ApiError } from "#platform/errors.ts";
import { type Columns, hasAddress, headerAmong, readColumns } from "./mapping/column-mapping.ts";
import { hasNamedColumns } from "./mapping/find-places.ts";
import { mapColumns } from "./mapping/map-columns.ts";
import type { ImportMapping } from "./mapping/mapping.ts";

/** How the sender says that the table is laid out; null or absent: as the file itself shows. */
export interface LayoutChoice {
  readonly encoding?: Encoding | null;
  /** False: the first row is already a person. */
  readonly has_header?: boolean | null;
  /** Which field each column is for. */
  readonly mapping?: ImportMapping | null;
  /** The rest of the file is missing: a row that is cut off at its end is left out. */
  readonly is_beginning?: boolean | null;
}

/** The file and its header, before its columns have a meaning. */
export interface Layout {
  readonly file: CsvFile;
  readonly hasHeader: boolean;
  /** The row with the headers; rows above it are skipped. Without one: line 0, a blank cell for each column. */
  readonly header: CsvRow;
  /** Up to a hundred rows after the header. */
  readonly beginning: readonly CsvRow[];
  /** Warnings for the sender about how the file was read. */
  readonly warnings: readonly string[];
}

export interface Table extends Layout {
  readonly columns: Columns;
}

/** @throws ApiError BAD_REQUEST for a file that is not CSV, or is empty */
export async function openLayout(path: string, choice: LayoutChoice): Promise<Layout> {
  const file = await openCsv(path, choice.encoding ?? undefined, choice.is_beginning ?? false);
  const rows = await firstRows(file);
  const [first] = rows;
  if (first === undefined) throw new ApiError("BAD_REQUEST", "The file is empty");
  const { warnings } = file;
  if (!hasHeader(first, choice)) {
    const header = { line: 0, cells: first.cells.map(() => "") };
    return { file, hasHeader: false, header, beginning: rows, warnings };
  }
  const at = headerAt(rows, choice);
  const header = rows[at] ?? first;
  const above = at === 0 ? [] : [`The header is on line ${header.line}: the lines above it were skipped`];
  const beginning = rows.slice(at + 1);
  return { file, hasHeader: true, header, beginning, warnings: [...warnings, ...above] };
}

/**
 * @throws ApiError BAD_REQUEST for a file that is not CSV, or has no column of addresses; VALIDATION_ERROR for a mapping that
 * does not fit the file or the list
 */
export async function openTable(
  path: string,
  choice: LayoutChoice,
  fields: readonly CustomField[],
): Promise<Table> {
  return tableOf(await openLayout(path, choice), choice, fields);
}

/** Gives the columns of the layout their meaning. @throws as openTable */
export function tableOf(layout: Layout, { mapping }: LayoutChoice, fields: readonly CustomField[]): Table {
  const { header, beginning, warnings } = layout;
  const columns = mapping
    ? mapColumns(header.cells, fields, mapping)
    : readColumns(
        header.cells,
        fields,
        beginning.map(({ cells }) => cells),
      );
  return { ...layout, columns, warnings: [...warnings, ...columns.warnings] };
}

/** A mapping by positions alone also fits a file whose first row is a person. */
function hasHeader({ cells }: CsvRow, { has_header, mapping }: LayoutChoice): boolean {
  if (has_header !== undefined && has_header !== null) return has_header;
  const isByPosition = mapping?.every(({ column }) => typeof column === "number") === true;
  return !isByPosition || !hasAddress(cells);
}

/** The index of the header: the first row that has all columns of the mapping, if one has. */
function headerAt(rows: readonly CsvRow[], { mapping }: LayoutChoice): number {
  const isByPosition = !mapping || mapping.every(({ column }) => typeof column === "number");
  if (isByPosition) return headerAmong(rows);
  const at = headerAmong(rows, (cells) => hasNamedColumns(cells, mapping));
  return at === 0 && !hasNamedColumns(rows[0]?.cells ?? [], mapping) ? headerAmong(rows) : at;
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
