/** One row of an import file: a person as the staging table takes them, or what is wrong. */
import { headerTextFault } from "../../mail/address.ts";
import { unguardFormula } from "../../platform/csv/formulas.ts";
import type { CustomField } from "../custom-fields/field.ts";
import { fieldReader } from "../custom-fields/reader.ts";
import type { FieldValue } from "../custom-fields/value.ts";
import { MOST_OCTETS } from "../subscribers/custom-values.ts";
import { LONGEST_NAME, LONGEST_SOURCE } from "../subscribers/input.ts";
import type { SubscriberStatus } from "../subscribers/status.ts";
import { readAddress } from "./address.ts";
import type { Column, Columns } from "./columns.ts";
import { type OptOutColumn, rank, readOptOut } from "./opt-out-columns.ts";

export interface Person {
  readonly email: string;
  /** Null is "not said", here and below. */
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly source: string;
  readonly status: SubscriberStatus | null;
  /** JSON text of an object. */
  readonly custom_fields: string;
  /** Required fields that have no default and are not given; only somebody who has them already may lack them. */
  readonly lacking: readonly string[];
}

/** Why a row was refused: the column by its header, and what stands there. */
export interface Refusal {
  readonly column: string;
  readonly value: string;
  readonly reason: string;
}

type RefusedRow = { readonly ok: false } & Refusal;

export type ReadRow =
  | {
      readonly ok: true;
      readonly person: Person;
      /** The column that says that this person gets no mail. */
      readonly decidedBy: OptOutColumn | undefined;
    }
  | RefusedRow;

const wantedStatus = "must be one of active, subscribed, unsubscribed, bounced, cleaned, complained";
const wantedOptOut = "must say yes or no, or when";

/**
 * Compiles columns and fields, once for all rows.
 * @param optOuts the columns that say who gets no mail
 * @param whole the status of all in the file, where their rows say nothing worse
 */
export function rowReader(
  columns: Columns,
  fields: readonly CustomField[],
  optOuts: readonly OptOutColumn[],
  whole: SubscriberStatus | null = null,
): (cells: readonly string[]) => ReadRow {
  const custom = columns.custom.map(({ field, ...column }) => ({
    column,
    key: JSON.stringify(field.field_name),
    name: field.field_name,
    read: fieldReader(field),
  }));
  const given = new Set(custom.map(({ name }) => name));
  const isNeeded = ({ is_required, default_value }: CustomField) => is_required && default_value === null;
  const needed = new Set(fields.filter(isNeeded).map(({ field_name }) => field_name));
  const absent = [...needed].filter((name) => !given.has(name));

  return (cells) => {
    // Somebody's comma without quotation marks: the cells behind it stand under the wrong headers.
    const surplus =
      cells.length > columns.width && cells.slice(columns.width).find((text) => text.trim() !== "");
    if (surplus) return refused(columns.email, surplus, MORE_CELLS);
    const address = cellOf(cells, columns.email);
    if (address === "") return refused(columns.email, "", "is empty");
    const read = readAddress(address);
    if (!read.ok) return refused(columns.email, address, read.message);

    const first_name = textIn(cells, columns.first_name, LONGEST_NAME);
    if (isRefusal(first_name)) return first_name;
    const last_name = textIn(cells, columns.last_name, LONGEST_NAME);
    if (isRefusal(last_name)) return last_name;
    const source = textIn(cells, columns.source, LONGEST_SOURCE);
    if (isRefusal(source)) return source;

    let status = whole;
    let decidedBy: OptOutColumn | undefined;
    for (const column of optOuts) {
      const word = cellOf(cells, column);
      const said = word === "" ? "nothing" : readOptOut(column.meaning, word);
      if (said === "unknown") {
        return refused(column, word, column.meaning === "status" ? wantedStatus : wantedOptOut);
      }
      if (said === "nothing" || rank(said) <= rank(status)) continue;
      status = said;
      if (said !== "active") decidedBy = column;
    }

    let json = "";
    let lacking = absent;
    for (const { column, key, name, read } of custom) {
      const text = unguardFormula(cells[column.place] ?? "");
      if (text.trim() === "") {
        if (needed.has(name)) lacking = [...lacking, name];
        continue;
      }
      if (text.includes("\0")) return refused(column, text, "must not contain NUL characters");
      const reading = read(text);
      if (!reading.ok) return refused(column, text, reading.message);
      json += `${json === "" ? "" : ","}${key}:${jsonOf(reading.value)}`;
    }
    if (json.length > MOST_OCTETS / 4 && Buffer.byteLength(json) > MOST_OCTETS) {
      return refused(columns.email, address, `has custom fields of more than ${MOST_OCTETS / 1024} KB`);
    }
    const person = {
      email: read.email,
      first_name,
      last_name,
      source: source ?? "import",
      status,
      custom_fields: `{${json}}`,
      lacking,
    };
    return { ok: true, person, decidedBy };
  };
}

const MORE_CELLS =
  "stands behind the last column: put texts that hold the separator in quotation marks, or name the column";

/** What stands in a column of names; null is "not said". */
function textIn(
  cells: readonly string[],
  column: Column | undefined,
  longest: number,
): string | null | RefusedRow {
  if (column === undefined) return null;
  const given = cellOf(cells, column);
  const isHarmless = isPlain.test(given);
  const text = isHarmless ? given : oneLine(given);
  if (text.length > longest) return refused(column, text, `is longer than ${longest} characters`);
  const fault = isHarmless ? null : headerTextFault(text);
  if (fault !== null) return refused(column, text, fault);
  return text === "" ? null : text;
}

function isRefusal(text: string | null | RefusedRow): text is RefusedRow {
  return typeof text === "object" && text !== null;
}

/** As JSON.stringify has it, which takes longer for what most values are. */
function jsonOf(value: FieldValue): string {
  if (typeof value === "string") return isVerbatim.test(value) ? `"${value}"` : JSON.stringify(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Nothing that JSON escapes. */
const isVerbatim = /^[\x20!#-[\]-\x7e]*$/;

/** Nothing that could break a header line. */
const isPlain = /^[\x20-\x7e]*$/;

/** Without the blanks of any script round it, and the apostrophe of an export. */
function cellOf(cells: readonly string[], { place }: Column): string {
  return unguardFormula((cells[place] ?? "").trim()).trim();
}

/** Line breaks and tabs in a name are somebody's Alt+Enter. */
function oneLine(text: string): string {
  return text.replaceAll(/[\t\r\n]+/g, " ");
}

function refused({ header }: Column, value: string, reason: string): RefusedRow {
  return { ok: false, column: header, value, reason };
}
