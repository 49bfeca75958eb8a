/** How the dates of a file are written, where its sender says so: the form field `date_format`. */
import { invalid } from "#platform/errors.ts";

/** The order of day, month and year. */
const dateOrders = ["DMY", "MDY", "YMD", "YDM"] as const;
export type DateOrder = (typeof dateOrders)[number];

/** What a bare number is: days of a spreadsheet, counted from 1900 or 1904, or seconds or milliseconds since 1970. */
const dateNumbers = ["excel", "excel1904", "unix"] as const;
type DateNumbers = (typeof dateNumbers)[number];

export type DateFormat = DateOrder | DateNumbers;

export const dateFormatDescription =
  "How dates of the file are written: DMY, MDY, YMD or YDM (also as a pattern such as DD/MM/YYYY), excel or excel1904 for the serial numbers of a spreadsheet, unix for seconds or milliseconds since 1970. Without it a date such as 03/04/2019 is refused, unless other dates of the file show which is the day.";

/** The format of this name or pattern; undefined where none is given. @throws ApiError VALIDATION_ERROR */
export function readDateFormat(text: string | undefined): DateFormat | undefined {
  const word = text?.trim().toLowerCase() ?? "";
  if (word === "") return undefined;
  const numbers = dateNumbers.find((one) => one === word.replaceAll(/[^a-z0-9]/g, ""));
  if (numbers !== undefined) return numbers;
  // Of a pattern with a time the date comes first; "DD/MM/YYYY" and "%d.%m.%Y" are DMY, and ISO 8601 is YMD.
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
