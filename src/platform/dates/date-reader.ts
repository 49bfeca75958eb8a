/**
 * Reads dates as people and programs write them: ISO 8601 and its variants; day, month and year with slashes, dots or
 * hyphens; names of months; AM and PM; offsets; seconds since 1970. Used for files, the API, schedules and segment rules. A
 * time without an offset is in the time zone of the reader.
 */

import { isNoValue } from "#platform/missing-value-words.ts";
import { DAY_MS } from "#platform/time-units.ts";
import {
  type DateParts,
  isZero,
  localOf,
  offsetParts,
  partsOf,
  timeOf,
  wholeYear,
  zoneOffset,
  zoneOffsetOf,
} from "./date-part-arithmetic.ts";
import { dateFillers, dateNames, foldedDate, plainNumerals } from "./date-words.ts";
import { type DateFormat, type DateOrder, isDateOrder } from "./input-date-format.ts";
import { ZoneClock } from "./local-time-to-utc.ts";

export type DateReading =
  | { readonly kind: "day" /** YYYY-MM-DD */; readonly day: string }
  | { readonly kind: "moment"; readonly at: Date }
  /** A zero date such as 0000-00-00, or a word for "none". `at` is its moment if the zero date exists in the calendar. */
  | { readonly kind: "nothing"; readonly at?: Date }
  | { readonly kind: "fault"; readonly fault: DateFault };

export type DateFault =
  | "unreadable"
  /** The order of day and month is unknown. */
  | "ambiguous"
  /** The year has two digits, and the order of the parts is unknown. */
  | "short_year";

/** Error messages, to follow the name of the field. */
export const dateFaults: Readonly<Record<DateFault, string>> = {
  unreadable: "must be a date such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z",
  ambiguous:
    "must be unambiguous: write 2019-04-03 for 3 April 2019, or for a file import set date_format to DMY or MDY",
  short_year:
    "must have a year of four digits: write 2019-04-03, or for a file import set date_format to DMY, MDY or YMD",
};

export interface DateRules {
  /** IANA name. */
  readonly timeZone: string;
  /** The format that the sender names. */
  readonly format?: DateFormat | null | undefined;
  /** The order that other dates of the same column show; used without a format. */
  readonly foundOrder?: DateOrder | undefined;
  /** The order that other columns of the file show; used if the column shows none, but not for dates with dots. */
  readonly orderElsewhere?: DateOrder | undefined;
}

const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
/** Characters; no date is longer. It bounds the time of the regular expressions. */
const LONGEST = 100;

const isoDay = /^(\d{4})-(\d{2})-(\d{2})$/;
const isoMoment =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?:(Z)|([+-])(\d{2}):(\d{2}))?$/;
const compact =
  /^(\d{4})(\d{2})(\d{2})(?:[t ]?(\d{2})(\d{2})(?:(\d{2})(?:[.,](\d{1,9}))?)?(z|[+-]\d{2}(?::?\d{2})?)?)?$/;
const seconds = /^-?(\d{10}|\d{13})(?:\.\d{1,9})?$/;
const anySeconds = /^-?\d{1,13}(?:\.\d{1,9})?$/;
const serial = /^(\d{1,7})(?:[.,](\d{1,15}))?$/;
const clock =
  /(?<![\d:.])(\d{1,2})[:h](\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s?([ap])\.?\s?m\b\.?)?(?![\d:])/;
const hourAlone = /(?<![\d:.])(\d{1,2})()()()\s?([ap])\.?\s?m\b\.?/;
/** A time with dots, only after a complete date: "11.10.2018 9.55". */
const dottedClock = /(?<=\d{4}\.?,? (?:\p{L}+\.? )?)(\d{1,2})\.(\d{2})(?:\.(\d{2}))?$/u;
const numbersAlone = /^(\d{1,4})([-/. ] ?)(\d{1,2})\2(\d{1,4})\.?$/;
const ordinal = /^(\d{1,4})(?:st|nd|rd|th|er|ste|de|e|o|a)$/;

const fault = (name: DateFault): DateReading => ({ kind: "fault", fault: name });
const unreadable = fault("unreadable");
const nothing: DateReading = { kind: "nothing" };
/** Words for "no date"; those for "no value" of any type are in missing-value-words.ts. */
const noDate = new Set(["0", "never", "invalid date"]);

export class DateReader {
  readonly #zone: ZoneClock;
  readonly #format: DateFormat | undefined;
  readonly #order: DateOrder | undefined;
  readonly #orderElsewhere: DateOrder | undefined;

  constructor({ timeZone, format, foundOrder, orderElsewhere }: DateRules) {
    this.#zone = new ZoneClock(timeZone);
    this.#format = format ?? undefined;
    this.#order = isDateOrder(format) ? format : foundOrder;
    this.#orderElsewhere = orderElsewhere;
  }

  /** Reads a text, or a number of seconds or milliseconds since 1970. */
  read(value: unknown): DateReading {
    if (typeof value === "number")
      return seconds.test(String(value)) ? sinceEpoch(String(value)) : unreadable;
    if (typeof value !== "string") return unreadable;
    const text = value.trim();
    if (text.length > LONGEST) return unreadable;
    const day = isoDay.exec(text);
    if (day !== null) return this.#dayOf(partsOf(day));
    const iso = isoMoment.exec(text.toUpperCase());
    if (iso !== null) return this.#momentOf(iso);
    return this.#readFolded(foldedDate(text));
  }

  /** The moment of a time, or of the start of a day; undefined for anything else. */
  readMoment(value: unknown): Date | undefined {
    return this.momentOf(this.read(value));
  }

  /** Like `readMoment`, for a reading. */
  momentOf(reading: DateReading): Date | undefined {
    if (reading.kind === "fault") return undefined;
    if (reading.kind === "day") return this.#toMoment(Date.parse(`${reading.day}T00:00:00Z`));
    // As the bound of a rule, 0001-01-01 is a normal day.
    return reading.at;
  }

  #readFolded(text: string): DateReading {
    // -0001-11-30 is what PHP makes of MySQL's zero date.
    if (noDate.has(text) || isNoValue(text) || /^-0001-11-30(?:[t ].*)?$/.test(text)) return nothing;
    const number = this.#readNumber(text);
    if (number !== undefined) return number;
    const short = compact.exec(text);
    if (short !== null) {
      const parts = partsOf(short);
      if (short[4] === undefined) return this.#dayOf(parts);
      return this.#at(parts, timeOf(short[4], short[5], short[6], short[7]), zoneOffsetOf(short[8] ?? ""));
    }
    return this.#readWords(plainNumerals(text));
  }

  #readNumber(text: string): DateReading | undefined {
    const isSerial = this.#format === "excel" || this.#format === "excel1904";
    const [, days, fraction = "0"] = isSerial ? (serial.exec(text) ?? []) : [];
    if (days !== undefined) return this.#fromSerial(Number(days), Number(`0.${fraction}`));
    if (this.#format === "unix" && anySeconds.test(text)) return sinceEpoch(text);
    return seconds.test(text) ? sinceEpoch(text) : undefined;
  }

  /** A serial number of a spreadsheet. Excel treats 1900 as a leap year, so days before March 1900 count one less. */
  #fromSerial(days: number, fraction: number): DateReading {
    if (days === 0 && this.#format === "excel") return nothing;
    if (days === 60 && this.#format === "excel") return unreadable;
    const start =
      this.#format === "excel1904" ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
    const local = start + days * DAY_MS;
    if (new Date(local).getUTCFullYear() > 9_999) return unreadable;
    if (fraction === 0) return { kind: "day", day: new Date(local).toISOString().slice(0, 10) };
    return this.#moment(local + Math.round(fraction * 86_400) * 1_000);
  }

  /** Removes the time and its offset, and reads the rest as the date. */
  #readWords(text: string): DateReading {
    const found = clock.exec(text) ?? hourAlone.exec(text) ?? dottedClock.exec(text);
    if (found === null) return this.#readDate(text, (parts) => this.#dayOf(parts));
    const behind = text.slice(found.index + found[0].length);
    const offset = zoneOffset.exec(behind);
    const before = text.slice(0, found.index).replace(/(?<=\d)t$/, "");
    const rest = `${before} ${behind.slice(offset?.[0].length ?? 0)}`;
    const time = timeOf(found[1], found[2], found[3], found[4], found[5]);
    return this.#readDate(rest, (parts) => this.#at(parts, time, zoneOffsetOf(offset?.[0].trim() ?? "")));
  }

  #readDate(text: string, take: (parts: DateParts) => DateReading): DateReading {
    const plain = text
      .replaceAll(/(?<![\p{L}\d])\p{L}+\.?/gu, (word) => (isIgnorable(word) ? " " : word))
      .replaceAll(/ +/g, " ")
      .replaceAll(/^[ ,]+|[ ,]+$/g, "");
    const days = compact.exec(plain);
    if (days !== null && days[4] === undefined) return take(partsOf(days));
    const numbers = numbersAlone.exec(plain);
    const parts = numbers === null ? this.#byName(text) : this.#inOrder(numbers);
    return typeof parts === "string" ? fault(parts) : take(parts);
  }

  /** Assigns three numbers to year, month and day. */
  #inOrder([, first = "", separator = "", second = "", third = ""]: readonly string[]):
    | DateParts
    | DateFault {
    const [a, b, c] = [Number(first), Number(second), Number(third)];
    if (first.length > 2) {
      if (first.length !== 4 || third.length > 2) return "unreadable";
      return this.#format === "YDM" ? [a, c, b] : [a, b, c];
    }
    if (third.length === 3 || third.length === 1) return "unreadable";
    if (third.length === 2) return this.#withShortYear([a, b, c]);
    if (a + b + c === 0) return [0, 0, 0];
    const order = this.#order ?? (separator.startsWith(".") ? "DMY" : this.#orderElsewhere);
    if (order === "DMY") return [c, b, a];
    if (order === "MDY") return [c, a, b];
    if (a === b || b > 12 || b === 0) return [c, a, b];
    return a > 12 || a === 0 ? [c, b, a] : "ambiguous";
  }

  #withShortYear(numbers: readonly number[]): DateParts | DateFault {
    if (numbers.filter((number) => number === 0).length > 1) return [0, 0, 0];
    if (!isDateOrder(this.#format)) return "short_year";
    const part = (name: string) => numbers[(this.#format ?? "").indexOf(name)] ?? 0;
    return [wholeYear(part("Y")), part("M"), part("D")];
  }

  /** A date with the name of its month, and day and year in any unambiguous order. */
  #byName(text: string): DateParts | DateFault {
    const apart = text.replaceAll(/(?<=\d)(?=\p{L}{3})|(?<=\p{L}{3})(?=\d)/gu, " ");
    const words = apart.match(/\d+[\p{L}]+|\d+|[\p{L}]+/gu) ?? [];
    if (/[^\p{L}\d\s,./\-'’]/u.test(text)) return "unreadable";
    const { months, weekdays } = dateNames();
    const numbers: string[] = [];
    const named: { month: number; isWeekday: boolean }[] = [];
    for (const word of words) {
      const month = months.get(word);
      const number = /^\d+$/.test(word) ? word : ordinal.exec(word)?.[1];
      if (number !== undefined) numbers.push(number);
      else if (month !== undefined && month !== null) named.push({ month, isWeekday: weekdays.has(word) });
      else if (!weekdays.has(word) && !dateFillers.has(word)) return "unreadable";
    }
    // "mar" is Tuesday in French and March in English: next to another month it is the weekday.
    const sure = named.length > 1 ? named.filter(({ isWeekday }) => !isWeekday) : named;
    const [month] = sure;
    const [first = "", second = "", ...more] = numbers;
    if (month === undefined || sure.length > 1 || second === "" || more.length > 0) return "unreadable";
    const long = [first, second].filter((number) => number.length === 4);
    if (long.length === 1) {
      const day = first.length === 4 ? second : first;
      return day.length > 2 ? "unreadable" : [Number(long[0]), month.month, Number(day)];
    }
    if (long.length > 0 || first.length > 2 || second.length > 2) return "unreadable";
    if (!isDateOrder(this.#format)) return "short_year";
    const [day, year] = this.#format.startsWith("Y") ? [second, first] : [first, second];
    return [wholeYear(Number(year)), month.month, Number(day)];
  }

  #dayOf(parts: DateParts): DateReading {
    if (isZero(parts)) return this.#at(parts, 0, undefined);
    const [year, month, day] = parts;
    if (localOf(parts) === undefined) return unreadable;
    return { kind: "day", day: `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}` };
  }

  #momentOf(iso: readonly (string | undefined)[]): DateReading {
    const offset = iso[8] === undefined ? offsetParts(iso[9], iso[10], iso[11]) : 0;
    return this.#at(partsOf(iso), timeOf(iso[4], iso[5], iso[6], iso[7]), offset);
  }

  /** @param offset milliseconds; undefined for a time in the reader's zone */
  #at(parts: DateParts, time: number | undefined, offset: number | undefined): DateReading {
    if (isZero(parts)) return this.#atZero(parts, time, offset);
    return this.#atDay(localOf(parts), time, offset);
  }

  /**
   * East of Greenwich, 0001-01-01 starts in the year 0, which cannot be stored; its moment is then the start of the
   * year 1.
   */
  #atZero(parts: DateParts, time: number | undefined, offset: number | undefined): DateReading {
    const day = localOf(parts);
    if (day === undefined || time === undefined || Number.isNaN(offset)) return nothing;
    const milliseconds = offset === undefined ? this.#zone.momentOf(day + time) : day + time - offset;
    return { kind: "nothing", at: new Date(Math.max(FIRST_MS, milliseconds)) };
  }

  #atDay(day: number | undefined, time: number | undefined, offset: number | undefined): DateReading {
    if (day === undefined || time === undefined || Number.isNaN(offset)) return unreadable;
    return offset === undefined ? this.#moment(day + time) : inYears(day + time - offset);
  }

  #moment(local: number): DateReading {
    const moment = this.#toMoment(local);
    return moment === undefined ? unreadable : inYears(moment.getTime());
  }

  #toMoment(local: number): Date | undefined {
    const moment = new Date(this.#zone.momentOf(local));
    return hasYear(moment) ? moment : undefined;
  }
}

/** Whether the year has at most four digits, so that the stored value can be read again. */
function hasYear(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9_999;
}

function inYears(milliseconds: number): DateReading {
  const at = new Date(milliseconds);
  return hasYear(at) ? { kind: "moment", at } : unreadable;
}

function sinceEpoch(text: string): DateReading {
  const number = Number(text);
  if (number === 0) return nothing;
  return inYears(Math.floor(Math.abs(number) >= 1e11 ? number : number * 1_000));
}

/** Whether a word can be ignored: the name of a weekday that is not also a month, or a filler. */
function isIgnorable(word: string): boolean {
  const name = word.replaceAll(".", "");
  const { months, weekdays } = dateNames();
  return dateFillers.has(name) || (weekdays.has(name) && !months.has(name));
}

const padded = (number: number, digits: number) => String(number).padStart(digits, "0");
