/** The file with the faults of an import: line, column, value, and the reason. */
import { csvLine } from "#platform/csv/write.ts";
import type { CellFault, ReadRow } from "./row-reader.ts";
import type { LineSink } from "./scratch-line-file.ts";

/** Limit of faults listed; more are only counted. A file with more has a general problem. */
const MOST_LISTED = 100_000;
const LONGEST_VALUE = 200;

export class ErrorsFile {
  readonly #file: LineSink;
  #listed = 0;
  /** Refused rows, listed or not. */
  refused = 0;
  /** Rows of people who get no mail that were written without their faulty values. */
  writtenInPart = 0;

  constructor(file: LineSink) {
    this.#file = file;
    file.add(csvLine(["Line", "Column", "Value", "Reason"]));
  }

  get isEmpty(): boolean {
    return this.refused + this.writtenInPart === 0;
  }

  /** Adds a line for each fault of a row. @param line of the import file */
  note(line: number, { person, faults }: Pick<ReadRow, "person" | "faults">): void {
    if (person === undefined) this.refused++;
    else this.writtenInPart++;
    const outcome = person === undefined ? "" : `; written as ${person.status} anyway, without this value`;
    for (const { column, value, reason } of faults) {
      this.#listed++;
      if (this.#listed > MOST_LISTED) return;
      this.#file.add(csvLine([String(line), column, shownValue(value), `${reason}${outcome}`]));
    }
  }
}

/** A cell as it may be stored: shortened, without NUL and lone surrogates. */
export function shownValue(value: CellFault["value"]): string {
  return value.replaceAll("\0", "").slice(0, LONGEST_VALUE).toWellFormed();
}
