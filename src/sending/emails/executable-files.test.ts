import { expect, test } from "vitest";
import { isExecutableName, isExecutableType } from "./executable-files.ts";

test.each([
  "a.exe",
  "invoice.pdf.EXE",
  "a.exe. .",
  "a.exe\u200b",
  "a.exe\u00ad",
  "a.exe\u202e",
  "a.e\u200bxe",
  "a.e\ufe0fxe",
  'a.exe"',
  "a.exe;x",
  "a.exe:zone",
  "offer:a.exe",
  "a\uff0eexe",
  "a.\uff45\uff58\uff45",
  "a.exe\uff1azone",
  "a.scf",
  "a.appx",
])("%j is a program, however it is dressed up", (name) => {
  expect(isExecutableName(name)).toBe(true);
});

test.each([
  "report.pdf",
  "exe",
  "a.exe.pdf",
  "executable.html",
  "minutes: May 3.pdf",
  "\u202eפירוט.pdf",
  "Ｒｅｐｏｒｔ．ｐｄｆ",
])("%j is none", (name) => {
  expect(isExecutableName(name)).toBe(false);
});

test.each([
  "application/x-msdownload",
  "Application/X-MSDOS-Program; charset=binary",
  "application/vnd.microsoft.portable-executable",
  "application/x-dosexec",
  'application/pdf; name="a.exe"',
  "application/pdf; name=a.exe",
])("%s is the type of a program", (type) => {
  expect(isExecutableType(type)).toBe(true);
});

test.each([
  "application/pdf",
  'application/pdf; name="a.pdf"',
  "application/octet-stream",
  "application/vnd.shop.com",
])("%s is that of a file", (type) => {
  expect(isExecutableType(type)).toBe(false);
});
