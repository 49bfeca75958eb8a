import { describe, expect, test } from "vitest";
import { DateReader, type DateRules } from "./date-reader.ts";
import { readDateFormat } from "./input-date-format.ts";

const read = (text: unknown, rules: Partial<DateRules> = {}) => {
  const reading = new DateReader({ timeZone: "UTC", ...rules }).read(text);
  if (reading.kind === "day") return reading.day;
  if (reading.kind === "moment") return reading.at.toISOString();
  return reading.kind === "fault" ? reading.fault : reading.kind;
};

const DAY = "2018-10-11";
const AT = "2018-10-11T09:55:14.000Z";
const MINUTE = "2018-10-11T09:55:00.000Z";

test.each([
  ["2018-10-11", DAY],
  ["2018/10/11", DAY],
  ["2018.10.11", DAY],
  ["2018/1/2", "2018-01-02"],
  ["20181011", DAY],
  ["11.10.2018", DAY],
  ["11. 10. 2018", DAY],
  ["2018. 10. 11.", DAY],
  ["25/12/2018", "2018-12-25"],
  ["12/25/2018", "2018-12-25"],
  ["12-25-2018", "2018-12-25"],
  ["10/10/2018", "2018-10-10"],
  ["11 Oct 2018", DAY],
  ["11-Oct-2018", DAY],
  ["11-OKT-2018", DAY],
  ["Oct 11, 2018", DAY],
  ["October 11th, 2018", DAY],
  ["the 11th of October 2018", DAY],
  ["2018 Oct 11", DAY],
  ["2018-Oct-11", DAY],
  ["Sept. 1, 2018", "2018-09-01"],
  ["Thursday, 11 October 2018", DAY],
  ["11. Oktober 2018", DAY],
  ["Donnerstag, 11. Oktober 2018", DAY],
  ["1. März 2019", "2019-03-01"],
  ["11 octobre 2018", DAY],
  ["1er août 2018", "2018-08-01"],
  ["mar. 11 déc. 2018", "2018-12-11"],
  ["mar 11, 2018", "2018-03-11"],
  ["11 de octubre de 2018", DAY],
  ["11 ottobre 2018", DAY],
  ["11 oktober 2018", DAY],
  ["11 października 2018", DAY],
  ["11 октября 2018 г.", DAY],
  ["11 Ekim 2018", DAY],
  ["11oct2018", DAY],
  ["quinta-feira, 11 de outubro de 2018", DAY],
  ["2018年10月11日(木)", DAY],
  ["2018년 10월 11일 목요일", DAY],
  ["2018年10月11日", DAY],
  ["2018년 10월 11일", DAY],
  ["２０１８／１０／１１", DAY],
])("%s is a day", (text, day) => {
  expect(read(text)).toBe(day);
});

test.each([
  ["2018-10-11 09:55", MINUTE],
  ["2018-10-11T09:55", MINUTE],
  ["2018-10-11 9:55", MINUTE],
  ["2018-10-11 09:55:14", AT],
  ["2018-10-11 09:55:14.123456", "2018-10-11T09:55:14.123Z"],
  ["2018-10-11 09:55:14,123", "2018-10-11T09:55:14.123Z"],
  ["2018-10-11T09:55:14.123456789Z", "2018-10-11T09:55:14.123Z"],
  ["2018-10-11t09:55:14z", AT],
  ["2018-10-11T11:55:14+02", AT],
  ["2018-10-11T11:55:14+0200", AT],
  ["2018-10-11T11:55:14+02:00", AT],
  ["2018-10-11 11:55:14 +0200", AT],
  ["2018-10-11 11:55:14 +02:00", AT],
  ["2018-10-11 02:55:14 -0700", AT],
  ["2018-10-11 09:55:14 UTC", AT],
  ["2018-10-11 09:55:14 +0000 UTC", AT],
  ["2018-10-11T11:55:14+02:00[Europe/Paris]", AT],
  ["20181011T095514Z", AT],
  ["20181011T115514+0200", AT],
  ["20181011095514", AT],
  ["2018/10/11 09:55:14", AT],
  ["11.10.2018 09:55:14", AT],
  ["11.10.2018, 09:55 Uhr", MINUTE],
  ["11.10.2018 9.55", MINUTE],
  ["11 octobre 2018 à 9h55", MINUTE],
  ["12/25/2018 3:04 PM", "2018-12-25T15:04:00.000Z"],
  ["12/25/2018 3:04:05\u202fPM", "2018-12-25T15:04:05.000Z"],
  ["25/12/2018 12:00 a.m.", "2018-12-25T00:00:00.000Z"],
  ["25/12/2018 12:30 p. m.", "2018-12-25T12:30:00.000Z"],
  ["Oct 11, 2018 9:55 AM", MINUTE],
  ["October 11, 2018 at 9:55am", MINUTE],
  ["Oct 11, 2018 9am", "2018-10-11T09:00:00.000Z"],
  ["Thu, 11 Oct 2018 09:55:14 GMT", AT],
  ["Thu, 11 Oct 2018 11:55:14 +0200", AT],
  ["Thu Oct 11 09:55:14 UTC 2018", AT],
  ["Thu Oct 11 2018 11:55:14 GMT+0200 (Central European Summer Time)", AT],
  ["Thu Oct 11 2018 05:55:14 EDT", AT],
  ["09:55 11.10.2018", MINUTE],
  ["20181011 09:55", MINUTE],
  ["2018-10-11T09Z", "2018-10-11T09:00:00.000Z"],
  ["2018-10-11T09:55:14.123+0000", "2018-10-11T09:55:14.123Z"],
  ["11/Oct/2018:09:55:14 +0000", AT],
  ["11. okt. 2018 kl. 9.55", MINUTE],
  ["October 11, 2018 at 9:55 AM (UTC)", MINUTE],
  ["2018-10-11 09:55:14 (UTC)", AT],
  ["12/25/2018 0:15 AM", "2018-12-25T00:15:00.000Z"],
  ["2018年10月11日 星期四 上午9:55", MINUTE],
  ["2018年10月11日 9時55分", MINUTE],
  ["2018年10月11日 下午3:04", "2018-10-11T15:04:00.000Z"],
  ["2018-10-11T24:00:00Z", "2018-10-12T00:00:00.000Z"],
  ["1539251714", AT],
  ["1539251714000", AT],
  ["1539251714.5", "2018-10-11T09:55:14.500Z"],
  [1_539_251_714, AT],
  [1_539_251_714_000, AT],
])("%s is a moment", (text, moment) => {
  expect(read(text)).toBe(moment);
});

test.each([
  ["2018-10-11 09:55", "America/New_York", "2018-10-11T13:55:00.000Z"],
  ["11 Jan 2018 09:55", "America/New_York", "2018-01-11T14:55:00.000Z"],
  ["2027-03-14T02:30", "America/New_York", "2027-03-14T07:30:00.000Z"],
  ["2027-11-07T01:30", "America/New_York", "2027-11-07T05:30:00.000Z"],
  ["2027-11-08T01:30", "America/New_York", "2027-11-08T06:30:00.000Z"],
  ["2027-10-03T02:15", "Australia/Lord_Howe", "2027-10-02T15:45:00.000Z"],
  ["2011-12-30T12:00", "Pacific/Apia", "2011-12-30T22:00:00.000Z"],
  ["2018-10-11T09:55Z", "America/New_York", MINUTE],
])("%s without an offset is a time of %s", (text, timeZone, moment) => {
  expect(read(text, { timeZone })).toBe(moment);
});

test.each([
  "0000-00-00",
  "0000-00-00 00:00:00",
  "0000-00-00T00:00:00Z",
  "00/00/0000",
  "00.00.0000",
  "00-00-0000 00:00",
  "0/0/0000",
  "00000000",
  "0001-01-01",
  "0001-01-01T00:00:00",
  "0001-01-01T00:00:00+10:00",
  "01/01/0001",
  "1/1/0001 12:00:00 AM",
  "1900-01-00",
  "1900-01-00 00:00:00",
  "1/0/1900",
  "1/0/00",
  "00.01.1900",
  "1899-12-30",
  "-0001-11-30T00:00:00+00:00",
  "0",
  "NULL",
  "\\N",
  "n/a",
  "-",
  "never",
])("%s means that there is no date", (text) => {
  expect(read(text)).toBe("nothing");
});

describe("a date whose day and month can be exchanged", () => {
  const text = "03/04/2019";
  test.each([text, "3-4-2019", "03/04/2019 10:00", "3 4 2019"])("%s is refused", (one) => {
    expect(read(one)).toBe("ambiguous");
  });

  test("is read if the sender or the file shows the order", () => {
    expect(read(text, { format: "DMY" })).toBe("2019-04-03");
    expect(read(text, { format: "MDY" })).toBe("2019-03-04");
    expect(read("03.04.2019", { format: "MDY" })).toBe("2019-03-04");
    expect(read(text, { foundOrder: "MDY" })).toBe("2019-03-04");
    expect(read(text, { orderElsewhere: "MDY" })).toBe("2019-03-04");
    expect(read(text, { foundOrder: "DMY", orderElsewhere: "MDY" })).toBe("2019-04-03");
    expect(read("2019-04-03", { format: "MDY" })).toBe("2019-04-03");
    expect(read("2019-04-03", { format: "YDM" })).toBe("2019-04-03");
  });

  test.each([
    [{}, "2019-04-03"],
    [{ orderElsewhere: "MDY" }, "2019-04-03"],
    [{ foundOrder: "MDY" }, "2019-03-04"],
    [{ foundOrder: "MDY", orderElsewhere: "DMY" }, "2019-03-04"],
    [{ format: "MDY", orderElsewhere: "DMY" }, "2019-03-04"],
    [{ format: "excel", orderElsewhere: "MDY" }, "2019-04-03"],
  ] as const)(
    "has the day first with dots, unless the sender or its own column says otherwise: %j",
    (rules, day) => {
      for (const text of ["03.04.2019", "3. 4. 2019"]) expect(read(text, rules)).toBe(day);
    },
  );

  test("is refused if it does not match the format of the sender", () => {
    expect(read("25/12/2018", { format: "MDY" })).toBe("unreadable");
  });
});

test("a year of two digits is read only if the sender names the order", () => {
  for (const text of ["11/10/18", "11.10.18", "11-Oct-18"]) expect(read(text)).toBe("short_year");
  expect(read("11/10/18", { format: "DMY" })).toBe(DAY);
  expect(read("10/11/18 09:55", { format: "MDY" })).toBe(MINUTE);
  expect(read("18/10/11", { format: "YMD" })).toBe(DAY);
  expect(read("11-Oct-18", { format: "DMY" })).toBe(DAY);
  expect(read("01/02/75", { format: "DMY" })).toBe("1975-02-01");
});

test.each([
  ["43384", "excel", DAY],
  ["43384.0", "excel", DAY],
  ["43384.41336805555", "excel", "2018-10-11T09:55:15.000Z"],
  ["43384,5", "excel", "2018-10-11T12:00:00.000Z"],
  ["1", "excel", "1900-01-01"],
  ["61", "excel", "1900-03-01"],
  ["60", "excel", "unreadable"],
  ["0", "excel", "nothing"],
  ["41922", "excel1904", DAY],
  ["2018-10-11", "excel", DAY],
  ["915148800", "unix", "1999-01-01T00:00:00.000Z"],
] as const)("%s under date_format=%s is %s", (text, format, day) => {
  expect(read(text, { format })).toBe(day);
});

test.each([
  "",
  "yesterday",
  "tomorrow",
  "2018-02-31",
  "2018-13-01",
  "2018-10",
  "2018",
  "Oct 11",
  "October 2018",
  "31/31/2018",
  "32.01.2018",
  "43384",
  "12:00",
  "2018-10-11T25:00",
  "2018-10-11T09:61",
  "2018-10-11 13:00 AM",
  "2018-10-11T09:55:14+99:00",
  "2018-10-11T09:55:14Z and more",
  "2018-10-11T09:55[Mars/Base] x",
  "2018-10-11T09:55[Europe/Paris]",
  "11 Foo 2018",
  "Oct Nov 11 2018",
  "+012030-01-31T00:00:00Z",
  "0000-12-31",
  "9999-12-31T23:59:59-10:00",
  "2018-10-11-12",
  "1.2.3.4",
  "+49 170 1234567",
  20_181_011,
  true,
  null,
  {},
])("%j is not a date", (value) => {
  expect(read(value)).toBe("unreadable");
});

test("a text of ten thousand characters is not a date", () => {
  expect(read(`2030-01-31T12:00:00.${"0".repeat(10_000)}Z`)).toBe("unreadable");
});

test("the moment of a day is its start in the zone", () => {
  const reader = new DateReader({ timeZone: "Asia/Kathmandu" });
  expect(reader.readMoment("2027-01-31")?.toISOString()).toBe("2027-01-30T18:15:00.000Z");
  expect(new DateReader({ timeZone: "UTC" }).readMoment("0001-01-01")).toBeDefined();
  expect(reader.readMoment("0000-00-00")).toBeUndefined();
  expect(reader.readMoment("03/04/2019")).toBeUndefined();
});

test.each([
  ["0001-01-01", "Europe/Berlin", "0001-01-01T00:00:00.000Z"],
  ["0001-01-01", "Pacific/Auckland", "0001-01-01T00:00:00.000Z"],
  ["0001-01-01 00:30", "Asia/Tokyo", "0001-01-01T00:00:00.000Z"],
  ["0001-01-01T00:00:00+10:00", "UTC", "0001-01-01T00:00:00.000Z"],
  ["01/01/0001", "Asia/Kathmandu", "0001-01-01T00:00:00.000Z"],
  ["0001-01-01", "UTC", "0001-01-01T00:00:00.000Z"],
  ["0001-01-01T05:00:00Z", "Europe/Berlin", "0001-01-01T05:00:00.000Z"],
])("the bound %s is a moment in %s, no earlier than the year 1", (text, timeZone, moment) => {
  expect(new DateReader({ timeZone }).readMoment(text)?.toISOString()).toBe(moment);
});

test.each(["0001-01-01T25:00", "0001-01-01T00:00:00+99:00"])("%s is no bound", (text) => {
  expect(new DateReader({ timeZone: "Europe/Berlin" }).readMoment(text)).toBeUndefined();
});

test.each([
  ["DMY", "DMY"],
  ["dd/mm/yyyy", "DMY"],
  ["DD.MM.YY", "DMY"],
  ["%d.%m.%Y", "DMY"],
  ["M/D/YYYY", "MDY"],
  ["MM/DD/YYYY HH:mm", "MDY"],
  ["yyyy-mm-dd", "YMD"],
  ["ISO", "YMD"],
  ["Excel", "excel"],
  ["unix", "unix"],
  [" ", undefined],
  [undefined, undefined],
])("date_format=%s is %s", (text, format) => {
  expect(readDateFormat(text)).toBe(format);
});

test("an unknown date_format is refused with a list of known ones", () => {
  expect(() => readDateFormat("klingon")).toThrow(/must be one of DMY, MDY/);
});
