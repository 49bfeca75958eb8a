/** How the dates of an import file are read: as its sender says, or as the dates of the file suggest. */
import type { CsvFile } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/record-parser.ts";
import { DateReader } from "#platform/dates/date-reader.ts";
import {
  type DateFormat,
  type DateOrder,
  DateOrderEvidence,
  isDateOrder,
} from "#platform/dates/input-date-format.ts";
import type { Column, Columns } from "./mapping/column-mapping.ts";

/** After this many rows without any date written in numbers, the file is not read further for its date order. */
const MOST_SILENT = 20_000;

export class DateColumns {
  readonly #timeZone: string;
  readonly #format: DateFormat | null;
  readonly #evidence: ReadonlyMap<number, DateOrderEvidence>;

  private constructor(
    timeZone: string,
    format: DateFormat | null,
    evidence: ReadonlyMap<number, DateOrderEvidence>,
  ) {
    this.#timeZone = timeZone;
    this.#format = format;
    this.#evidence = evidence;
  }

  /** Reads the whole file if it has date columns and the sender does not give the order of day and month. */
  static async of(
    file: CsvFile,
    { line: headerLine }: CsvRow,
    columns: Columns,
    { timeZone, format }: { readonly timeZone: string; readonly format: DateFormat | null },
  ): Promise<DateColumns> {
    const dates = columns.custom.filter(({ field }) => field.field_type === "date");
    const evidence = new Map(dates.map(({ place }) => [place, new DateOrderEvidence()]));
    const found = new DateColumns(timeZone, format, evidence);
    if (evidence.size === 0 || isDateOrder(format)) return found;
    let rows = 0;
    for await (const batch of file.batches()) {
      rows += batch.length;
      for (const { line, cells } of batch) {
        if (line <= headerLine) continue;
        for (const [place, ofColumn] of evidence) ofColumn.note(cells[place] ?? "");
      }
      if (rows > MOST_SILENT && evidence.values().every(({ hasNumbers }) => !hasNumbers)) break;
    }
    return found;
  }

  /** The date reader of a column: by its own evidence, otherwise by the order that all other columns agree on. */
  readerOf({ place }: Column): DateReader {
    const own = this.#evidence.get(place);
    const isUndecided = own !== undefined && !own.isContradictory;
    return new DateReader({
      timeZone: this.#timeZone,
      format: this.#format,
      foundOrder: own?.order,
      orderElsewhere: isUndecided ? this.orderOfFile : undefined,
    });
  }

  /** Undefined when no date shows the order, and when dates contradict each other. */
  get orderOfFile(): DateOrder | undefined {
    if (isDateOrder(this.#format)) return this.#format;
    const all = [...this.#evidence.values()];
    const orders = new Set(all.flatMap(({ order }) => order ?? []));
    return orders.size === 1 && !all.some((one) => one.isContradictory) ? [...orders][0] : undefined;
  }
}
