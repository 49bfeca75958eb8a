/**
 * Finds the column of a suppression file that holds the entries: by its name, otherwise the column whose cells are
 * addresses. A column of domains is only used if no other column holds addresses; otherwise whole domains would be
 * suppressed by mistake.
 */
import { addressInCell } from "#audience/files/address-cell.ts";
import { isAddressName } from "#audience/files/known-column-names.ts";
import { columnKey } from "#platform/csv/find-column.ts";
import type { CsvFile } from "#platform/csv/read.ts";
import { ApiError } from "#platform/errors.ts";
import { readEntryValue } from "./entry-value.ts";

export interface EntryColumn {
  /** From 0. */
  readonly place: number;
  /** Rows up to this line are a title or the header; 0 if there is none. */
  readonly headerLine: number;
  readonly warnings: readonly string[];
}

/** How many first rows may be titles, or the header. */
const MOST_ABOVE = 10;
/** How many rows are checked for domains. */
const MOST_FOR_DOMAINS = 1_000;
/** If another column has at least this share of the addresses of the fullest column, the choice is ambiguous. */
const RIVAL_SHARE = 0.5;

/** The API's name of an entry, for addresses and domains. */
const OWN_NAME = "entryvalue";

/** Names of the column, the most specific first. */
const names: readonly ((cell: string) => boolean)[] = [
  (cell) => columnKey(cell) === "email",
  (cell) => columnKey(cell) === "emailaddress",
  isAddressName,
  (cell) => columnKey(cell) === OWN_NAME,
  (cell) => columnKey(cell) === "address",
  (cell) => columnKey(cell) === "domain",
];

/** @throws ApiError BAD_REQUEST when two columns may be meant, and for a file that cannot be read */
export async function findEntryColumn(file: Pick<CsvFile, "batches">): Promise<EntryColumn> {
  const search = new ColumnSearch();
  for await (const batch of file.batches()) {
    for (const { line, cells } of batch) search.note(line, cells);
    if (search.isSure) break;
  }
  return search.result();
}

/** The entry in a cell, without quotes or apostrophes of a spreadsheet or an export. */
function entryIn(cell: string | undefined) {
  return readEntryValue(addressInCell(cell ?? ""));
}

class ColumnSearch {
  readonly #first: { readonly line: number; readonly cells: readonly string[] }[] = [];
  readonly #addresses = new Map<number, number>();
  readonly #domains = new Map<number, number>();
  #rows = 0;
  #width = 0;
  #hasAddresses = false;
  /** The row with the column's name, and the column. */
  #named: { readonly line: number; readonly place: number; readonly cells: readonly string[] } | undefined;

  note(line: number, cells: readonly string[]): void {
    this.#rows++;
    this.#width = Math.max(this.#width, cells.length);
    for (const [place, cell] of cells.entries()) this.#noteCell(place, cell);
    if (this.#rows > MOST_ABOVE) return;
    this.#first.push({ line, cells });
    if (this.#named !== undefined || this.#hasAddresses) return;
    const place = placeOfName(cells);
    if (place !== undefined) this.#named = { line, place, cells };
  }

  #noteCell(place: number, cell: string): void {
    if (cell.includes("@") && entryIn(cell)?.type === "email") {
      this.#hasAddresses = true;
      this.#addresses.set(place, (this.#addresses.get(place) ?? 0) + 1);
    } else if (this.#rows <= MOST_FOR_DOMAINS && cell.includes(".") && entryIn(cell) !== undefined) {
      this.#domains.set(place, (this.#domains.get(place) ?? 0) + 1);
    }
  }

  /** True when more rows cannot change the result: the named column holds addresses. */
  get isSure(): boolean {
    return this.#rows > MOST_ABOVE && this.#named !== undefined && this.#addresses.has(this.#named.place);
  }

  result(): EntryColumn {
    const named = this.#named;
    const place = this.#placeOfEntries();
    const headerLine = named?.line ?? this.#lineAbove(place);
    if (place === 0 || place === named?.place) return { place, headerLine, warnings: [] };
    const header = this.#first.find(({ line }) => line === headerLine)?.cells[place]?.trim() ?? "";
    const shown = header.replaceAll("\0", "").slice(0, 100).toWellFormed() || `column ${place + 1}`;
    const what = this.#addresses.has(place) ? "addresses" : "domains";
    return {
      place,
      headerLine,
      warnings: [`No column is named email: the column "${shown}" was taken, which holds ${what}`],
    };
  }

  #placeOfEntries(): number {
    const named = this.#named?.place;
    const most = Math.max(0, ...this.#addresses.values());
    const isOwn = columnKey(this.#named?.cells[named ?? 0] ?? "") === OWN_NAME;
    if (named !== undefined && (isOwn || most === 0 || this.#addresses.has(named))) return named;
    if (most === 0) return fullest(this.#domains) ?? 0;
    const rivals = [...this.#addresses].filter(([, found]) => found >= RIVAL_SHARE * most);
    if (rivals.length > 1) throw severalColumns(rivals.map(([place]) => place + 1).sort((a, b) => a - b));
    return fullest(this.#addresses) ?? 0;
  }

  /**
   * The last of the first rows without an entry in this column, if the file is a table: its header, with an unknown
   * name.
   */
  #lineAbove(place: number): number {
    if (this.#width < 2) return 0;
    const at = this.#first.findIndex(
      ({ cells }) => cells[place]?.includes("@") || entryIn(cells[place]) !== undefined,
    );
    return at > 0 ? (this.#first[at - 1]?.line ?? 0) : 0;
  }
}

function placeOfName(cells: readonly string[]): number | undefined {
  for (const is of names) {
    const place = cells.findIndex(is);
    if (place >= 0) return place;
  }
  return undefined;
}

function fullest(counts: ReadonlyMap<number, number>): number | undefined {
  const [first] = [...counts].sort(
    ([onePlace, one], [otherPlace, other]) => other - one || onePlace - otherPlace,
  );
  return first?.[0];
}

function severalColumns(numbers: readonly number[]): ApiError {
  const columns = `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
  return new ApiError(
    "BAD_REQUEST",
    `The columns ${columns} hold addresses, and none is named email: name the one email that holds the addresses to suppress`,
  );
}
