/** The date format of a file: given by its sender (form field `date_format`), or derived from its dates. */
import { invalid } from "#platform/errors.ts";

/** The order of day, month and year. */
export const dateOrders = ["DMY", "MDY", "YMD", "YDM"] as const;
export type DateOrder = (typeof dateOrders)[number];

/** The meaning of a plain number: days since 1900 or 1904 (spreadsheets), or seconds or milliseconds since 1970. */
const dateNumbers = ["excel", "excel1904", "unix"] as const;
type DateNumbers = (typeof dateNumbers)[number];

export type DateFormat = DateOrder | DateNumbers;

export const dateFormatDescription =
  "Format of the dates in the file: DMY, MDY, YMD or YDM (also as a pattern such as DD/MM/YYYY), excel or excel1904 for the serial numbers of a spreadsheet, unix for seconds or milliseconds since 1970. If omitted, a date such as 03/04/2019 is refused, unless other dates of the file show which part is the day.";

/** The format with this name or pattern; undefined for no text. @throws ApiError VALIDATION_ERROR */
export function readDateFormat(text: string | undefined): DateFormat | undefined {
  const word = text?.trim().toLowerCase() ?? "";
  if (word === "") return undefined;
  const numbers = dateNumbers.find((one) => one === word.replaceAll(/[^a-z0-9]/g, ""));
  if (numbers !== undefined) return numbers;
  // Only the date part of a pattern with a time. "DD/MM/YYYY" and "%d.%m.%Y" are DMY, ISO 8601 is YMD.
  const letters = (word.split(/[\st]/)[0] ?? "")
    .replaceAll(/[^a-z]/g, "")
    .replace(/^iso$/, "ymd")
    .replaceAll(/(.)\1+/g, "$1")
    .toUpperCase();
  const order = dateOrders.find((one) => one === letters);
  if (order !== undefined) return order;
  throw invalid({
    field: "date_format",
    message: `date_format must be one of ${[...dateOrders, ...dateNumbers].join(", ")}, or a pattern such as DD/MM/YYYY`,
  });
}

export function isDateOrder(format: DateFormat | null | undefined): format is DateOrder {
  return dateOrders.some((order) => order === format);
}

const dayMonthYear = /^\s*(\d{1,2})([-/.] ?| )(\d{1,2})\2\d{4}(?!\d)/;

/** Collects what the dates of one column show about the order of day and month. */
export class DateOrderEvidence {
  /** Whether a date with two numbers before a year was noted. */
  hasNumbers = false;
  #hasDayFirst = false;
  #hasMonthFirst = false;

  /** Notes a date. Only a number above 12 shows the order, because it must be the day. */
  note(text: string): void {
    const [, first, , second] = dayMonthYear.exec(text) ?? [];
    if (first === undefined) return;
    this.hasNumbers = true;
    if (Number(first) > 12) this.#hasDayFirst = true;
    if (Number(second) > 12) this.#hasMonthFirst = true;
  }

  /** Undefined if no date shows the order, or if dates contradict each other. */
  get order(): DateOrder | undefined {
    if (this.#hasDayFirst === this.#hasMonthFirst) return undefined;
    return this.#hasDayFirst ? "DMY" : "MDY";
  }

  get isContradictory(): boolean {
    return this.#hasDayFirst && this.#hasMonthFirst;
  }
}
