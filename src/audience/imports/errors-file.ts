/** The file of what is wrong in an import: line, column, what the cell holds, and why it cannot be taken. */
import { csvLine } from "#platform/csv/write.ts";
import type { LineSink } from "./line-sink.ts";
import type { CellFault, ReadRow } from "./row-reader.ts";

/** Faults listed; more are only counted. A file with so many has another problem than single rows. */
const MOST_LISTED = 100_000;
const LONGEST_VALUE = 200;

export class ErrorsFile {
  readonly #file: LineSink;
  #listed = 0;
  /** Rows that were refused, listed or not. */
  refused = 0;
  /** Rows of people who get no mail that were written without the values that have faults. */
  writtenInPart = 0;

  constructor(file: LineSink) {
    this.#file = file;
    file.add(csvLine(["Line", "Column", "Value", "Reason"]));
  }

  get isEmpty(): boolean {
    return this.refused + this.writtenInPart === 0;
  }

  /** A line for each fault of a row that has some. @param line of the import file */
  note(line: number, { person, faults }: Pick<ReadRow, "person" | "faults">): void {
    if (person === undefined) this.refused++;
    else this.writtenInPart++;
    const outcome =
      person === undefined ? "" : `; written as ${person.status} all the same, without this value`;
    for (const { column, value, reason } of faults) {
      this.#listed++;
      if (this.#listed > MOST_LISTED) return;
      this.#file.add(csvLine([String(line), column, shownValue(value), `${reason}${outcome}`]));
    }
  }
}

/** A cell as a result may hold it: neither NUL nor half a character can be stored. */
export function shownValue(value: CellFault["value"]): string {
  return value.replaceAll("\0", "").slice(0, LONGEST_VALUE).toWellFormed();
}
