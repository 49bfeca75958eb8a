/** The file of refused rows: which line, which column, what stands there, and why it is refused. */
import { csvLine } from "../../platform/csv/write.ts";
import type { LineFile } from "../../platform/jobs/line-file.ts";
import type { Refusal } from "./row.ts";

/** Rows listed; more are only counted. Whoever has so many has another problem than single rows. */
const MOST_LISTED = 100_000;
const LONGEST_VALUE = 200;

export interface Refusals {
  /** `line` is that of the import file. */
  refuse(line: number, refusal: Refusal): void;
  /** Rows refused, listed or not. */
  readonly count: number;
}

export function createRefusals(file: LineFile): Refusals {
  file.add(csvLine(["Line", "Column", "Value", "Reason"]));
  let count = 0;
  return {
    refuse(line, { column, value, reason }) {
      count++;
      const shown = value.replaceAll("\0", "").slice(0, LONGEST_VALUE).toWellFormed();
      if (count <= MOST_LISTED) file.add(csvLine([String(line), column, shown, reason]));
    },
    get count() {
      return count;
    },
  };
}
