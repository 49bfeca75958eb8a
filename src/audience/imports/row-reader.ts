/** Reads one row of an import file into a person for the staging table, or into faults. */

import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { FieldValue, ParsedValue } from "#audience/custom-fields/field-types.ts";
import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import { addressInCell, readAddress } from "#audience/files/address-cell.ts";
import { MOST_OCTETS } from "#audience/subscribers/check-custom-field-values.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { LONGEST_PERSON_NAME, LONGEST_SOURCE } from "#audience/subscribers/subscriber-input.ts";
import { headerTextFault } from "#mail/address.ts";
import { unguardFormula } from "#platform/csv/formulas.ts";
import { BROKEN } from "#platform/csv/read.ts";
import { type DateReader, dateFaults } from "#platform/dates/date-reader.ts";
import { type Column, type Columns, REASONS } from "./mapping/column-mapping.ts";
import type { OptOutColumn } from "./opt-outs/find-columns.ts";
import { rank, readOptOut } from "./opt-outs/read-cell.ts";

export interface ImportedPerson {
  readonly email: string;
  /** Null means "not given", here and below. */
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly source: string;
  readonly status: SubscriberStatus | null;
  /** JSON text of an object. */
  readonly custom_fields: string;
  /** Required fields without a default that are not given. Only a person with stored values may lack them. */
  readonly lacking: readonly string[];
}

/** A fault of a cell: the header of its column, its value, and why it is refused. */
export interface CellFault {
  readonly column: string;
  readonly value: string;
  readonly reason: string;
}

export interface ReadRow {
  /**
   * Undefined for a refused row. The row of a person who gets no mail is imported in spite of faults, without the
   * faulty values, because the opt-out must be stored.
   */
  readonly person: ImportedPerson | undefined;
  /** The column that says that this person gets no mail. */
  readonly decidedBy: OptOutColumn | undefined;
  /** All faults of the row. */
  readonly faults: readonly CellFault[];
}

const wantedStatus = "must be one of active, subscribed, unsubscribed, bounced, cleaned, complained";
const wantedOptOut = "must say yes or no, or when";

export interface RowRules {
  readonly columns: Columns;
  /** The fields in force on the list. */
  readonly fields: readonly CustomField[];
  /** The columns that say who gets no mail. */
  readonly optOuts: readonly OptOutColumn[];
  /** The status of all people in the file whose rows have no worse one. */
  readonly wholeStatus: SubscriberStatus | null;
  /** The date reader of a column. */
  readonly datesOf: (column: Column) => DateReader;
  /** Whether a cell has bytes that are invalid in the encoding of the file. */
  readonly isBroken: (cell: string) => boolean;
}

const noFaults: readonly CellFault[] = [];
/** The source of people whose row has none. */
const IMPORT_SOURCE = "import";
/** The values of a row whose cells are under the wrong headers. */
const nothingSaid: Omit<ImportedPerson, "email" | "status"> = {
  first_name: null,
  last_name: null,
  source: IMPORT_SOURCE,
  custom_fields: "{}",
  lacking: [],
};

/** Reads the rows of one file; compiles columns and fields once. */
export class RowReader {
  readonly #rules: RowRules;
  readonly #custom: readonly {
    readonly column: Column;
    readonly key: string;
    readonly name: string;
    readonly read: (value: unknown) => ParsedValue;
  }[];
  /** The reasons of an earlier import, if the file has them: cells that a row has too many follow them. */
  readonly #reasonsPlace: number;
  readonly #needed: ReadonlySet<string>;
  /** Required fields without a column. */
  readonly #absent: readonly string[];
  /** Headers of date columns whose day and month could not be told apart. */
  readonly ambiguousDates = new Set<string>();
  /** The faults of the current row. */
  #faults: CellFault[] = [];

  constructor(rules: RowRules) {
    const { columns, fields, datesOf } = rules;
    this.#rules = rules;
    this.#reasonsPlace = columns.headers.at(-1) === REASONS ? columns.width - 1 : Number.POSITIVE_INFINITY;
    this.#custom = columns.custom.map(({ field, ...column }) => ({
      column,
      key: JSON.stringify(field.field_name),
      name: field.field_name,
      read: fieldReader(field, datesOf(column)),
    }));
    const given = new Set(this.#custom.map(({ name }) => name));
    const isNeeded = ({ is_required, default_value }: CustomField) => is_required && default_value === null;
    this.#needed = new Set(fields.filter(isNeeded).map(({ field_name }) => field_name));
    this.#absent = [...this.#needed].filter((name) => !given.has(name));
  }

  read(given: readonly string[]): ReadRow {
    const { isBroken } = this.#rules;
    if (this.#faults.length > 0) this.#faults = [];
    const cells = given.some(isBroken) ? this.#withoutBroken(given) : given;
    const email = this.#email(cells, given);
    const surplus = this.#surplus(cells);
    const { status, decidedBy } = this.#status(cells, surplus);
    const said = surplus > 0 ? nothingSaid : this.#said(cells);
    const faults = this.#faults.length === 0 ? noFaults : this.#faults;
    const isTaken = faults.length === 0 || rank(status) > rank("active");
    const person = email !== undefined && isTaken ? { email, status, ...said } : undefined;
    return { person, decidedBy, faults };
  }

  /** Names, source and custom fields. */
  #said(cells: readonly string[]): Omit<ImportedPerson, "email" | "status"> {
    const { columns } = this.#rules;
    const first_name = this.#text(cells, columns.first_name, LONGEST_PERSON_NAME);
    const last_name = this.#text(cells, columns.last_name, LONGEST_PERSON_NAME);
    const source = this.#text(cells, columns.source, LONGEST_SOURCE) ?? IMPORT_SOURCE;
    return { first_name, last_name, source, ...this.#values(cells) };
  }

  #refuse({ header }: Column, value: string, reason: string): void {
    this.#faults.push({ column: header, value, reason });
  }

  #withoutBroken(cells: readonly string[]): string[] {
    const { columns, isBroken } = this.#rules;
    return cells.map((cell, place) => {
      if (!isBroken(cell)) return cell;
      this.#refuse({ place, header: columns.headers[place] ?? `column ${place + 1}` }, cell, BROKEN);
      return "";
    });
  }

  #email(cells: readonly string[], given: readonly string[]): string | undefined {
    const { columns } = this.#rules;
    const address = addressInCell(cells[columns.email.place] ?? "");
    if (address === "") {
      // A cell with invalid bytes already has a fault.
      if ((given[columns.email.place] ?? "").trim() === "") this.#refuse(columns.email, "", "is empty");
      return undefined;
    }
    const read = readAddress(address);
    if (read.ok) return read.email;
    this.#refuse(columns.email, address, read.message);
    return undefined;
  }

  /** How many cells the row has too many: a comma without quotes shifts all following cells under the wrong headers. */
  #surplus(cells: readonly string[]): number {
    const { columns } = this.#rules;
    if (cells.length <= columns.width) return 0;
    const stray = cells.slice(columns.width).find((text) => text.trim() !== "");
    if (stray === undefined) return 0;
    this.#refuse(columns.email, stray, MORE_CELLS);
    return cells.length - columns.width;
  }

  /**
   * @param surplus number of extra cells: a value that does not fit its column is also looked for that many cells
   * further
   */
  #status(cells: readonly string[], surplus: number) {
    const { optOuts, wholeStatus } = this.#rules;
    let status = wholeStatus;
    let decidedBy: OptOutColumn | undefined;
    for (const column of optOuts) {
      const word = cellOf(cells, column);
      let said = word === "" ? "nothing" : readOptOut(column.meaning, word);
      if (said === "unknown" && surplus > 0) {
        const further = column.place + surplus;
        const place = further < this.#reasonsPlace ? further : further + 1;
        said = readOptOut(column.meaning, cellOf(cells, { place, header: column.header }));
        if (said === "unknown") continue;
      }
      if (said === "unknown") {
        this.#refuse(column, word, column.meaning === "status" ? wantedStatus : wantedOptOut);
        continue;
      }
      if (said === "nothing" || rank(said) <= rank(status)) continue;
      status = said;
      if (said !== "active") decidedBy = column;
    }
    return { status, decidedBy };
  }

  /** The text of a name column; null means "not given". */
  #text(cells: readonly string[], column: Column | undefined, longest: number): string | null {
    if (column === undefined) return null;
    const given = cellOf(cells, column);
    const isHarmless = isPlain.test(given);
    const text = isHarmless ? given : oneLine(given);
    const fault =
      text.length > longest
        ? `is longer than ${longest} characters`
        : isHarmless
          ? null
          : headerTextFault(text);
    if (fault !== null) {
      this.#refuse(column, text, fault);
      return null;
    }
    return text === "" ? null : text;
  }

  #values(cells: readonly string[]): Pick<ImportedPerson, "custom_fields" | "lacking"> {
    let json = "";
    let lacking = this.#absent;
    for (const { column, key, name, read } of this.#custom) {
      const text = unguardFormula(cells[column.place] ?? "");
      const value = text.trim() === "" ? null : this.#value(column, text, read);
      if (value === undefined) continue;
      if (value !== null) json += `${json === "" ? "" : ","}${key}:${jsonOf(value)}`;
      else if (this.#needed.has(name)) lacking = [...lacking, name];
    }
    if (json.length > MOST_OCTETS / 4 && Buffer.byteLength(json) > MOST_OCTETS) {
      const { email } = this.#rules.columns;
      this.#refuse(email, cellOf(cells, email), `has custom fields of more than ${MOST_OCTETS / 1024} KB`);
      json = "";
    }
    return { custom_fields: `{${json}}`, lacking };
  }

  /** Null means "not given"; undefined for a value with a fault. */
  #value(column: Column, text: string, read: (value: unknown) => ParsedValue): FieldValue | null | undefined {
    if (text.includes("\0")) {
      this.#refuse(column, text, "must not contain NUL characters");
      return undefined;
    }
    const reading = read(text);
    if (reading.ok) return reading.value;
    if (reading.message === dateFaults.ambiguous) this.ambiguousDates.add(column.header);
    this.#refuse(column, text, reading.message);
    return undefined;
  }
}

const MORE_CELLS =
  "is one value more than there are columns: quote values that contain the separator, or add a header";

/** As JSON.stringify, but faster for most values. */
function jsonOf(value: FieldValue): string {
  if (typeof value === "string") return isVerbatim.test(value) ? `"${value}"` : JSON.stringify(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Characters that JSON does not escape. */
const isVerbatim = /^[\x20!#-[\]-\x7e]*$/;

/** Characters that are valid in a mail header. */
const isPlain = /^[\x20-\x7e]*$/;

/** The cell without blanks around it, and without the apostrophe of an export. */
function cellOf(cells: readonly string[], { place }: Column): string {
  return unguardFormula((cells[place] ?? "").trim()).trim();
}

/** Line breaks and tabs in a name come from Alt+Enter in a spreadsheet. */
function oneLine(text: string): string {
  return text.replaceAll(/[\t\r\n]+/g, " ");
}
