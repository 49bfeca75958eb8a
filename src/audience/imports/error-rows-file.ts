/**
 * The file with the rows of an import that have errors, as they were uploaded: to be corrected and uploaded again, with the
 * same mapping. It is UTF-8 with commas, has a header if the upload has one, and the reasons in one more column at its end.
 * The cells that a row has too many follow its reasons, so that these are under their header.
 */
import { csvLine } from "#platform/csv/write.ts";
import { REASONS } from "./mapping/column-mapping.ts";
import type { Layout } from "./open-import-file.ts";
import type { CellFault } from "./row-reader.ts";
import type { LineSink } from "./scratch-line-file.ts";

/** Rows written; a file with more errors has a general problem. */
const MOST_ROWS = 100_000;
const LONGEST_REASONS = 1_000;
/** Characters that are added to a line file at once. */
const PIECE = 500_000;

export class ErrorRowsFile {
  readonly #file: LineSink;
  readonly #columns: number;
  /** Columns without the reasons of an earlier import. */
  readonly #width: number;
  #rows = 0;

  constructor(file: LineSink, { hasHeader, header }: Pick<Layout, "hasHeader" | "header">) {
    this.#file = file;
    const { cells } = header;
    this.#columns = cells.length;
    this.#width = cells.at(-1)?.trim() === REASONS ? cells.length - 1 : cells.length;
    if (hasHeader) this.#add([...cells.slice(0, this.#width), REASONS]);
  }

  note(cells: readonly string[], faults: readonly CellFault[]): void {
    this.#rows++;
    if (this.#rows > MOST_ROWS) return;
    const reasons = faults.map(({ column, reason }) => `${column}: ${reason}`).join("; ");
    const own = Array.from({ length: this.#width }, (_, place) => cells[place] ?? "");
    const surplus = cells.slice(this.#columns);
    this.#add([...own, reasons.slice(0, LONGEST_REASONS).toWellFormed(), ...surplus]);
  }

  /** A row may be longer than what a line file takes at once. */
  #add(cells: readonly string[]): void {
    const line = csvLine(cells);
    for (let at = 0; at < line.length; ) {
      const end = at + PIECE;
      const isPair = end < line.length && isFirstOfPair.test(line.charAt(end - 1));
      const next = isPair ? end - 1 : end;
      this.#file.add(line.slice(at, next));
      at = next;
    }
  }
}

/** The first half of a character beyond the basic plane: its two halves are encoded together. */
const isFirstOfPair = /[\ud800-\udbff]/;
