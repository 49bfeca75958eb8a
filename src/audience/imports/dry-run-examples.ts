/** Examples of a dry run: the first rows of each kind, with their lines. */

import { shownValue } from "./errors-file.ts";
import type { OptOutColumn } from "./opt-outs/find-columns.ts";
import { BATCH_LINES } from "./people-file-writer.ts";
import type { CellFault, ImportedPerson, ReadRow } from "./row-reader.ts";

export const MOST_EXAMPLES = 5;
const FIRST_ROOM = 1_024;

export interface Example {
  readonly line: number;
  readonly email: string;
}

export class Examples {
  /** Faults of rows; written_as is the status with which the row is imported anyway, null if the row is refused. */
  readonly refused: (CellFault & { readonly line: number; readonly written_as: string | null })[] = [];
  readonly optedOut: (Example & { readonly status: string; readonly column: string | null })[] = [];
  /** The line in the file of each accepted row, in order. */
  #lines = new Uint32Array(FIRST_ROOM);
  #taken = 0;

  noteRefused(line: number, { person, faults }: ReadRow): void {
    for (const { column, value, reason } of faults) {
      if (this.refused.length < MOST_EXAMPLES)
        this.refused.push({
          line,
          column,
          value: shownValue(value),
          reason,
          written_as: person?.status ?? null,
        });
    }
  }

  noteOptedOut(line: number, { email, status }: ImportedPerson, column: OptOutColumn | undefined): void {
    if (this.optedOut.length >= MOST_EXAMPLES) return;
    this.optedOut.push({ line, email, status: status ?? "active", column: column?.header ?? null });
  }

  noteLine(line: number): void {
    if (this.#taken === this.#lines.length) {
      const larger = new Uint32Array(2 * this.#lines.length);
      larger.set(this.#lines);
      this.#lines = larger;
    }
    this.#lines[this.#taken++] = line;
  }

  /** The line in the file of a row of a batch. @param place in the batch, from 0 */
  lineOf(batch: number, place: number): number {
    return this.#lines[batch * BATCH_LINES + place] ?? 0;
  }
}
