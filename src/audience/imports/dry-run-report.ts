/** The result of a dry run, and of `posthaste import inspect`: what importing the file would do. */
import { MOST_SKIPPED } from "./column-mapping.ts";
import type { ReadImport } from "./import-reader.ts";
import type { ImportPreview } from "./preview-people.ts";

/** @param preview the comparison with the list; undefined without a list */
export function reportOf(read: ReadImport, fileName: string, preview?: ImportPreview) {
  const { plan, examples, optedOut, dates } = read;
  const { rows, duplicates, invalid, written_in_part, encoding, delimiter } = plan;
  const { skipped_columns, opt_out_columns, warnings } = plan;
  const { newcomers, members, ...counts } = preview ?? { newcomers: [], members: [] };
  return {
    file_name: fileName,
    dry_run: true,
    rows,
    ...counts,
    duplicates,
    invalid,
    opted_out: optedOut,
    written_in_part,
    encoding,
    delimiter,
    date_order: dates.orderOfFile ?? null,
    columns: columnsOf(read),
    skipped_columns,
    opt_out_columns,
    warnings,
    examples: { new: newcomers, known: members, opted_out: examples.optedOut, refused: examples.refused },
  };
}

export type ImportReport = ReturnType<typeof reportOf>;

/** The field that each column is mapped to, in the order of the file; null for a skipped column. */
function columnsOf({ table: { columns }, optOuts }: ReadImport) {
  const meanings = new Map<number, string>();
  const known = ["email", "first_name", "last_name", "source", "status"] as const;
  for (const { place, field } of columns.custom) meanings.set(place, `custom_fields.${field.field_name}`);
  for (const name of known) {
    const column = columns[name];
    if (column !== undefined && name !== "status") meanings.set(column.place, name);
  }
  for (const { place, meaning } of optOuts) {
    const state = meaning === "status" ? "status" : `status (${meaning})`;
    const field = meanings.get(place);
    meanings.set(place, field === undefined ? state : `${field}, ${state}`);
  }
  return columns.headers.slice(0, MOST_SKIPPED).map((header, place) => ({
    column: header || `column ${place + 1}`,
    meaning: meanings.get(place) ?? null,
  }));
}
