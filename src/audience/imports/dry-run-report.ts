/** The result of a dry run, and of `posthaste import inspect`: what importing the file would do. */
import { isFields } from "#platform/audit/changed-fields.ts";
import { describeColumns } from "./file-columns.ts";
import type { ReadImport } from "./import-reader.ts";
import type { ImportPreview } from "./preview-people.ts";

/** The columns of a file that was read, while it still exists. */
export function describeRead({ table, fields, optOuts, choice }: ReadImport) {
  return describeColumns(table, fields, { columns: table.columns, optOuts, choice });
}

/**
 * @param described the result of describeRead
 * @param preview the comparison with the list; undefined without a list
 */
export function reportOf(
  read: ReadImport,
  fileName: string,
  described: Awaited<ReturnType<typeof describeRead>>,
  preview?: ImportPreview,
) {
  const { plan, examples, optedOut, dates, table, choice } = read;
  const meanings = meaningsOf(read);
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
    has_header: table.hasHeader,
    header_line: table.hasHeader ? table.header.line : null,
    mapping: choice.mapping ?? null,
    columns: described.map((column) => ({ ...column, meaning: meanings.get(column.position - 1) ?? null })),
    skipped_columns,
    opt_out_columns,
    warnings,
    examples: { new: newcomers, known: members, opted_out: examples.optedOut, refused: examples.refused },
  };
}

export type ImportReport = ReturnType<typeof reportOf>;

/** The stored result of an import without the rows and cells that it quotes, for callers who may not read people. */
export function withoutQuotedValues(result: unknown): unknown {
  if (!isFields(result)) return result;
  const { examples: _, columns, ...shown } = result;
  if (!Array.isArray(columns)) return shown;
  return { ...shown, columns: columns.map(withoutSamples) };
}

function withoutSamples(column: unknown): unknown {
  if (!isFields(column)) return column;
  const { samples: _, ...shown } = column;
  return shown;
}

/** What each column is read as, by its index; a column may have two meanings. */
function meaningsOf({ table: { columns }, optOuts }: ReadImport): Map<number, string> {
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
  return meanings;
}
