/** How the dates of an import file are read: by what its sender says, or by what the dates of the file show. */
import type { CsvFile } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/records.ts";
import {
  type DateFormat,
  type DateOrder,
  DateOrderEvidence,
  isDateOrder,
} from "#platform/dates/date-format.ts";
import { DateReader } from "#platform/dates/date-reader.ts";
import type { Column, Columns } from "./column-mapping.ts";

/** Rows after which a file without any such date is not read on for it. */
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

  /** Reads the whole file where it has dates with slashes and the like, whose order its sender does not give. */
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

  /** By what the column shows itself, else by what all others that show something agree on. */
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

  /** Undefined where no date shows it, and where they contradict each other. */
  get orderOfFile(): DateOrder | undefined {
    if (isDateOrder(this.#format)) return this.#format;
    const all = [...this.#evidence.values()];
    const orders = new Set(all.flatMap(({ order }) => order ?? []));
    return orders.size === 1 && !all.some((one) => one.isContradictory) ? [...orders][0] : undefined;
  }
}
