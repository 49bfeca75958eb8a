/**
 * The one reader of dates as people and programs write them: ISO 8601 and what is near it, day, month and year with
 * slashes, dots or hyphens, names of months, AM and PM, offsets, seconds since 1970. It serves files, the API, schedules and
 * rules. A time without an offset is one of the time zone that the reader is made for.
 */

import { isNoValue } from "#platform/no-value.ts";
import { type DateFormat, type DateOrder, isDateOrder } from "./date-format.ts";
import { dateNames, fillers, foldedDate, leadingHalves, namedOffsets } from "./date-words.ts";
import { ZoneClock } from "./zone-clock.ts";

export type DateReading =
  | { readonly kind: "day" /** YYYY-MM-DD */; readonly day: string }
  | { readonly kind: "moment"; readonly at: Date }
  /** A zero date, or a word for none. `at` is the moment of a zero date that is a day of the calendar. */
  | { readonly kind: "nothing"; readonly at?: Date }
  | { readonly kind: "fault"; readonly fault: DateFault };

export type DateFault =
  | "unreadable"
  /** Day and month can be exchanged. */
  | "ambiguous"
  /** The year has two digits, and the order of the parts is not given. */
  | "short_year";

/** What is wrong, to complete "<field> …". */
export const dateFaults: Readonly<Record<DateFault, string>> = {
  unreadable: "must be a date such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z",
  ambiguous:
    "must tell the day from the month: write 2019-04-03 for 3 April 2019, or name the order in date_format (DMY or MDY) where a file is imported",
  short_year:
    "must have a year of four digits: write 2019-04-03, or name the order in date_format (DMY, MDY or YMD) where a file is imported",
};

export interface DateRules {
  /** IANA name. */
  readonly timeZone: string;
  /** What the sender says about the dates. */
  readonly format?: DateFormat | null | undefined;
  /** What other dates of the same column show, where the sender says nothing. */
  readonly foundOrder?: DateOrder | undefined;
  /** What other columns of the same file show, where the column itself shows nothing. A date with dots does not follow them. */
  readonly orderElsewhere?: DateOrder | undefined;
}

/** Year, month, day; the year may be shortened to two digits. */
type Parts = readonly [year: number, month: number, day: number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
/** Texts are written into sentences and read by regular expressions: no date is as long. */
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
/** Only behind a whole date: "11.10.2018 9.55". */
const dottedClock = /(?<=\d{4}\.?,? (?:\p{L}+\.? )?)(\d{1,2})\.(\d{2})(?:\.(\d{2}))?$/u;
const zone = new RegExp(
  `^ *(?:(${Object.keys(namedOffsets).join("|")})(?![a-z]))? ?(?:([+-])(\\d{1,2})(?::?(\\d{2}))?(?!\\d)(?: (?:utc|gmt)(?![a-z]))?)?`,
);
const numbersAlone = /^(\d{1,4})([-/. ] ?)(\d{1,2})\2(\d{1,4})\.?$/;
const ordinal = /^(\d{1,4})(?:st|nd|rd|th|er|ste|de|e|o|a)$/;

const fault = (name: DateFault): DateReading => ({ kind: "fault", fault: name });
const unreadable = fault("unreadable");
const nothing: DateReading = { kind: "nothing" };
/** Of dates alone; other words for no value are those of all types. */
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

  /** The moment at which a time is, or a day begins; undefined for anything else. */
  readMoment(value: unknown): Date | undefined {
    return this.momentOf(this.read(value));
  }

  /** The same of what was read. */
  momentOf(reading: DateReading): Date | undefined {
    if (reading.kind === "fault") return undefined;
    if (reading.kind === "day") return this.#toMoment(Date.parse(`${reading.day}T00:00:00Z`));
    // A bound of a rule is always meant: there 0001-01-01 is a day like any other.
    return reading.at;
  }

  #readFolded(text: string): DateReading {
    // What PHP makes of MySQL's zero date.
    if (noDate.has(text) || isNoValue(text) || /^-0001-11-30(?:[t ].*)?$/.test(text)) return nothing;
    const number = this.#readNumber(text);
    if (number !== undefined) return number;
    const short = compact.exec(text);
    if (short !== null) {
      const parts = partsOf(short);
      if (short[4] === undefined) return this.#dayOf(parts);
      return this.#at(parts, timeOf(short[4], short[5], short[6], short[7]), offsetOf(short[8] ?? ""));
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

  /** A day of a spreadsheet. Excel takes 1900 for a leap year, so that days before March 1900 count one less. */
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

  /** The time and its offset are taken out; what is left is the date. */
  #readWords(text: string): DateReading {
    const found = clock.exec(text) ?? hourAlone.exec(text) ?? dottedClock.exec(text);
    if (found === null) return this.#readDate(text, (parts) => this.#dayOf(parts));
    const behind = text.slice(found.index + found[0].length);
    const offset = zone.exec(behind);
    const before = text.slice(0, found.index).replace(/(?<=\d)t$/, "");
    const rest = `${before} ${behind.slice(offset?.[0].length ?? 0)}`;
    const time = timeOf(found[1], found[2], found[3], found[4], found[5]);
    return this.#readDate(rest, (parts) => this.#at(parts, time, offsetOf(offset?.[0].trim() ?? "")));
  }

  #readDate(text: string, take: (parts: Parts) => DateReading): DateReading {
    const plain = text
      .replaceAll(/(?<![\p{L}\d])\p{L}+\.?/gu, (word) => (saysNothing(word) ? " " : word))
      .replaceAll(/ +/g, " ")
      .replaceAll(/^[ ,]+|[ ,]+$/g, "");
    const days = compact.exec(plain);
    if (days !== null && days[4] === undefined) return take(partsOf(days));
    const numbers = numbersAlone.exec(plain);
    const parts = numbers === null ? this.#byName(text) : this.#inOrder(numbers);
    return typeof parts === "string" ? fault(parts) : take(parts);
  }

  /** Three numbers: which of them is what. */
  #inOrder([, first = "", separator = "", second = "", third = ""]: readonly string[]): Parts | DateFault {
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

  #withShortYear(numbers: readonly number[]): Parts | DateFault {
    if (numbers.filter((number) => number === 0).length > 1) return [0, 0, 0];
    if (!isDateOrder(this.#format)) return "short_year";
    const part = (name: string) => numbers[(this.#format ?? "").indexOf(name)] ?? 0;
    return [wholeYear(part("Y")), part("M"), part("D")];
  }

  /** A month by its name, a day and a year, in any order that can be told. */
  #byName(text: string): Parts | DateFault {
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
      else if (!weekdays.has(word) && !fillers.has(word)) return "unreadable";
    }
    // "mar" is Tuesday in French and March in English: beside another month it is the weekday.
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

  #dayOf(parts: Parts): DateReading {
    if (isZero(parts)) return this.#at(parts, 0, undefined);
    const [year, month, day] = parts;
    if (localOf(parts) === undefined) return unreadable;
    return { kind: "day", day: `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}` };
  }

  #momentOf(iso: readonly (string | undefined)[]): DateReading {
    const offset = iso[8] === undefined ? offsetParts(iso[9], iso[10], iso[11]) : 0;
    return this.#at(partsOf(iso), timeOf(iso[4], iso[5], iso[6], iso[7]), offset);
  }

  /** @param offset milliseconds; undefined for a time of the zone */
  #at(parts: Parts, time: number | undefined, offset: number | undefined): DateReading {
    if (isZero(parts)) return this.#atZero(parts, time, offset);
    return this.#atDay(localOf(parts), time, offset);
  }

  /** East of Greenwich the first day begins in the year 0, which is not stored: its moment is the first of the year 1. */
  #atZero(parts: Parts, time: number | undefined, offset: number | undefined): DateReading {
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

/** Years that have four digits, so that what is stored can be read again. */
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

/** Dates by which programs say that there is none. Microsoft's counting of days begins with 30 December 1899. */
function isZero([year, month, day]: Parts): boolean {
  if (month === 0 && day === 0) return true;
  if (year <= 1) return month === 1 && day === 1;
  if (day === 0) return year === 1900 && month === 1;
  return year === 1899 && month === 12 && day === 30;
}

/** Midnight as if it were in UTC; undefined for 31 February. */
function localOf([year, month, day]: Parts): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1;
  return isDay ? date.getTime() : undefined;
}

function partsOf(found: readonly (string | undefined)[]): Parts {
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** Milliseconds since midnight; undefined for a quarter past 25. 24:00 is the midnight at the end of the day. */
function timeOf(hour = "0", minute = "0", second = "0", fraction = "0", half?: string): number | undefined {
  const [h, m, s] = [Number(hour), Number(minute || 0), Math.min(59, Number(second || 0))];
  if (m > 59 || Number(second) > 60) return undefined;
  const millis = Number(fraction.padEnd(3, "0").slice(0, 3));
  const rest = m * MINUTE_MS + s * 1_000 + millis;
  if (half === undefined) return h < 24 || (h === 24 && rest === 0) ? h * HOUR_MS + rest : undefined;
  // "14:30 PM" says more than it has to.
  if (h > 12 && half === "p" && h < 24) return h * HOUR_MS + rest;
  return h <= 12 ? ((h % 12) + (half === "p" ? 12 : 0)) * HOUR_MS + rest : undefined;
}

/** Milliseconds; undefined where none is written, NaN for one that no place on Earth has. */
function offsetOf(text: string): number | undefined {
  const [, name, sign, hours, minutes] = zone.exec(text) ?? [];
  if (sign !== undefined) return offsetParts(sign, hours, minutes);
  return name === undefined ? undefined : (namedOffsets[name] ?? 0) * HOUR_MS;
}

function offsetParts(sign?: string, hours = "0", minutes = "0"): number | undefined {
  if (sign === undefined) return undefined;
  const [h, m] = [Number(hours), Number(minutes)];
  if (h > 23 || m > 59) return Number.NaN;
  return (sign === "-" ? -1 : 1) * (h * HOUR_MS + m * MINUTE_MS);
}

/** As PostgreSQL and POSIX have it: 70 to 99 are of the last century. */
function wholeYear(year: number): number {
  return year + (year >= 70 ? 1_900 : 2_000);
}

/** Without the signs of East Asia between the numbers, and without the name of a zone in brackets behind an offset. */
function plainNumerals(text: string): string {
  let plain = text
    .replace(/(?<=z|utc|gmt|[+-]\d{2}:?\d{2}) ?(?:\([^)]*\)|\[[^\]]*\])$/, "")
    // A weekday or UTC in brackets is one without; the log of a web server has a colon before the time.
    .replaceAll(/[()]/g, " ")
    .replace(/(?<=\d{4}):(?=\d{2}:\d{2})/, " ")
    .replace(/(\d+) ?[年년] ?(\d+) ?[月월] ?(\d+) ?[日일]/, "$1-$2-$3 ");
  for (const [word, half] of leadingHalves) {
    if (plain.includes(word)) plain = `${plain.replace(word, " ")} ${half}`;
  }
  return plain
    .replace(/(\d+) ?[時时點点시] ?(\d+) ?[分분](?: ?(\d+) ?[秒초])?/, (_, hour, minute, second) =>
      [hour, String(minute).padStart(2, "0"), String(second ?? 0).padStart(2, "0")].join(":"),
    )
    .replaceAll(/ +/g, " ")
    .trim();
}

/** Whether a word is the name of a weekday and of no month, or only stands between the parts. */
function saysNothing(word: string): boolean {
  const name = word.replaceAll(".", "");
  const { months, weekdays } = dateNames();
  return fillers.has(name) || (weekdays.has(name) && !months.has(name));
}

const padded = (number: number, digits: number) => String(number).padStart(digits, "0");
