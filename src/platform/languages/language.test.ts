import { expect, test } from "vitest";
import { preferredLanguage, readLanguage } from "./language.ts";

test.each([
  ["de", "de"],
  ["de-AT", "de"],
  ["pt_BR", "pt"],
  ["ZH-hant-TW", "zh"],
  [" fr ", "fr"],
])("%j names a language", (tag, language) => expect(readLanguage(tag)).toBe(language));

test.each([
  "",
  "German",
  "den",
  "x-de",
  "d",
  7,
  null,
  ["de"],
  { de: "de" },
  "__proto__",
  `de-${"a".repeat(40)}`,
])("%j names none", (tag) => expect(readLanguage(tag)).toBeUndefined());

test.each([
  ["de-CH, fr;q=0.9", "de"],
  ["sv, fi;q=0.9, it;q=0.3, es;q=0.8", "es"],
  ["sv", undefined],
  ["*", undefined],
  ["de;q=0, ja;q=0.1", "ja"],
  ["\u0000;;,,q=", undefined],
  [undefined, undefined],
])("of Accept-Language %j, the most wanted language that we have counts", (header, language) =>
  expect(preferredLanguage(header)).toBe(language),
);
