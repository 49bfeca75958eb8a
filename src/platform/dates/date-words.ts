/** The words of dates: names of months and weekdays in many languages, halves of the day, names of offsets. */

/** Languages whose names of months are understood. A name that means two months in two of them means none. */
const languages =
  "en de de-AT fr es it nl pt pl sv da nb fi cs sk sl hr hu ro tr ru uk bg el et lv lt ca eu gl id".split(
    " ",
  );

/** A text without what people and programs vary: case, accents, full-width forms, blanks of every kind. */
export function foldedDate(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("\u2212", "-")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Words that say nothing about the date. */
export const fillers = new Set(
  "of the de del d den di da le el am at um uhr om kl alle a las o г года р рік".split(" ").map(foldedDate),
);

/** What the halves of the day are called where they stand before the hour. */
export const leadingHalves = new Map([
  ["午前", "am"],
  ["上午", "am"],
  ["오전", "am"],
  ["午後", "pm"],
  ["下午", "pm"],
  ["오후", "pm"],
]);

/** Hours of offsets by their names (RFC 5322 section 4.3, and Europe's). Names of several zones are left out. */
export const namedOffsets: Readonly<Record<string, number>> = {
  z: 0,
  utc: 0,
  gmt: 0,
  ut: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  wet: 0,
  west: 1,
  cet: 1,
  cest: 2,
  mez: 1,
  mesz: 2,
  eet: 2,
  eest: 3,
  msk: 3,
  jst: 9,
};

/** By name and abbreviation, without dots; null for a name of two months. */
interface Names {
  readonly months: ReadonlyMap<string, number | null>;
  readonly weekdays: ReadonlySet<string>;
}

let known: Names | undefined;

/** Made when a text first has a word in it: it takes some milliseconds. */
export function dateNames(): Names {
  known ??= makeNames();
  return known;
}

function makeNames(): Names {
  const months = new Map<string, number | null>();
  const weekdays = new Set<string>();
  for (const language of ["ja", "zh", "ko"]) {
    for (const weekday of ["long", "short"] as const) {
      const format = new Intl.DateTimeFormat(language, { weekday, timeZone: "UTC" });
      for (let day = 1; day <= 7; day++) weekdays.add(foldedDate(format.format(Date.UTC(2023, 0, day))));
    }
  }
  for (const language of languages) {
    for (const style of ["long", "short"] as const) {
      // Some languages have another form of the name beside a day.
      for (const day of [{}, { day: "numeric" }] as const) {
        const format = new Intl.DateTimeFormat(language, { month: style, timeZone: "UTC", ...day });
        for (let month = 1; month <= 12; month++) {
          const name = monthName(format, Date.UTC(2023, month - 1, 11));
          if (name === undefined) continue;
          const other = months.get(name);
          months.set(name, other === undefined || other === month ? month : null);
        }
      }
      const format = new Intl.DateTimeFormat(language, { weekday: style, timeZone: "UTC" });
      for (let day = 1; day <= 7; day++) {
        for (const name of weekdayParts(format, Date.UTC(2023, 0, day))) weekdays.add(name);
      }
    }
  }
  months.set("sept", 9);
  weekdays.add("tues").add("thur").add("thurs");
  return { months, weekdays };
}

/** Undefined for one with digits, as languages of East Asia have it. */
function monthName(format: Intl.DateTimeFormat, moment: number): string | undefined {
  const part = format.formatToParts(moment).find(({ type }) => type === "month")?.value ?? "";
  const name = foldedDate(part).replaceAll(".", "");
  return /^\p{L}+$/u.test(name) ? name : undefined;
}

/** "quinta-feira" is two words. */
function weekdayParts(format: Intl.DateTimeFormat, moment: number): string[] {
  return foldedDate(format.format(moment)).match(/\p{L}+/gu) ?? [];
}
