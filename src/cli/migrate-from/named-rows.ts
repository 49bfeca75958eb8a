/** Rows of a CSV file by the names of its columns, for files whose product is known. */
import { addressInCell } from "#audience/files/address-cell.ts";
import { headerKey } from "#audience/files/known-column-names.ts";
import { type CsvFile, openCsv } from "#platform/csv/read.ts";
import { faultInFile, type GivenFile } from "./given-files.ts";
import type { FileRow } from "./source.ts";

const MOST_SHOWN = 20;

/**
 * @param needed at least one column of these names
 * @throws Error with a sentence for a file that is no CSV, is empty or lacks the column
 */
export async function openNamedRows(file: GivenFile, needed: readonly string[]): Promise<NamedRows> {
  try {
    const csv = await openCsv(file.path);
    let header: readonly string[] = [];
    for await (const { cells } of csv.rows()) {
      header = cells.map((cell) => cell.trim());
      break;
    }
    const rows = new NamedRows(file, csv, header);
    if (rows.has(...needed)) return rows;
    const shown = header.slice(0, MOST_SHOWN).join(", ");
    throw new Error(`${file.name} has no column ${needed.join(" or ")}; it has: ${shown}`);
  } catch (fault) {
    throw faultInFile(file, fault);
  }
}

export class NamedRows {
  readonly #file: GivenFile;
  readonly #csv: CsvFile;
  readonly #header: readonly string[];
  /** By the key of a name. */
  readonly #places = new Map<string, number>();

  constructor(file: GivenFile, csv: CsvFile, header: readonly string[]) {
    this.#file = file;
    this.#csv = csv;
    this.#header = header;
    for (const [place, name] of header.entries()) {
      const key = headerKey(name);
      if (!this.#places.has(key)) this.#places.set(key, place);
    }
  }

  /** Whether the file has a column of one of these names, in any case. */
  has(...names: readonly string[]): boolean {
    return names.some((name) => this.#places.has(headerKey(name)));
  }

  /** The rows below the header that are not blank. @throws Error with a sentence that names the file */
  async *rows(): AsyncGenerator<NamedRow, void, undefined> {
    try {
      let isHeader = true;
      for await (const { line, cells } of this.#csv.rows()) {
        const isFilled = !isHeader && cells.some((cell) => cell.trim() !== "");
        isHeader = false;
        if (isFilled) yield new NamedRow({ file: this.#file.name, line }, cells, this.#header, this.#places);
      }
    } catch (fault) {
      throw faultInFile(this.#file, fault);
    }
  }
}

export class NamedRow {
  readonly fileRow: FileRow;
  readonly #cells: readonly string[];
  readonly #header: readonly string[];
  readonly #places: ReadonlyMap<string, number>;

  constructor(
    fileRow: FileRow,
    cells: readonly string[],
    header: readonly string[],
    places: ReadonlyMap<string, number>,
  ) {
    this.fileRow = fileRow;
    this.#cells = cells;
    this.#header = header;
    this.#places = places;
  }

  /** The trimmed text of the first of these columns that is filled; empty if none is. */
  of(...names: readonly string[]): string {
    for (const name of names) {
      const place = this.#places.get(headerKey(name));
      const text = place === undefined ? "" : addressInCell(this.#cells[place] ?? "");
      if (text !== "") return text;
    }
    return "";
  }

  /** Columns that are filled, with their names as the file spells them. */
  get filled(): (readonly [name: string, text: string])[] {
    return this.#header.flatMap((name, place) => {
      const text = this.#cells[place]?.trim() ?? "";
      return name === "" || text === "" ? [] : [[name, text] as const];
    });
  }
}
