/** Words in dates: names of months and weekdays in many languages, AM and PM, names of offsets. */

/** Languages whose month names are read. A name for different months in two of them is not. */
const languages =
  "en de de-AT fr es it nl pt pl sv da nb fi cs sk sl hr hu ro tr ru uk bg el et lv lt ca eu gl id".split(
    " ",
  );

/** Normalises a text: lower case, no accents, no full-width forms, single spaces. */
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

/** Words without meaning for the date. */
export const dateFillers = new Set(
  "of the de del d den di da le el am at um uhr om kl alle a las o г года р рік".split(" ").map(foldedDate),
);

/** East Asian words for AM and PM, which stand before the hour. */
const leadingHalves = new Map([
  ["午前", "am"],
  ["上午", "am"],
  ["오전", "am"],
  ["午後", "pm"],
  ["下午", "pm"],
  ["오후", "pm"],
]);

/** Named offsets in hours (RFC 5322 section 4.3, and European ones), without names of several zones. */
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

/** Replaces East Asian signs between numbers, and removes the name of a zone in brackets after an offset. */
export function plainNumerals(text: string): string {
  let plain = text
    .replace(/(?<=z|utc|gmt|[+-]\d{2}:?\d{2}) ?(?:\([^)]*\)|\[[^\]]*\])$/, "")
    // Brackets around a weekday or UTC are ignored; web server logs have a colon before the time.
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

/** By name and abbreviation, without dots; null for the name of two different months. */
interface Names {
  readonly months: ReadonlyMap<string, number | null>;
  readonly weekdays: ReadonlySet<string>;
}

let known: Names | undefined;

/** Built at the first use, which takes some milliseconds. */
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
      // Some languages inflect the name next to a day.
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

/** Undefined for names with digits, as in East Asian languages. */
function monthName(format: Intl.DateTimeFormat, moment: number): string | undefined {
  const part = format.formatToParts(moment).find(({ type }) => type === "month")?.value ?? "";
  const name = foldedDate(part).replaceAll(".", "");
  return /^\p{L}+$/u.test(name) ? name : undefined;
}

/** The words of a weekday's name: "quinta-feira" has two. */
function weekdayParts(format: Intl.DateTimeFormat, moment: number): string[] {
  return foldedDate(format.format(moment)).match(/\p{L}+/gu) ?? [];
}
