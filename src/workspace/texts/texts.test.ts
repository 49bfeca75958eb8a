import { describe, expect, test } from "vitest";
import { languages } from "#platform/languages/language.ts";
import { waitText } from "#platform/languages/relative-time.ts";
import { defaultTexts } from "./default-texts.ts";
import { placeholdersOf, readText, textKeys } from "./text-catalogue.ts";
import { Texts } from "./texts.ts";

describe.each(languages)("the texts in %s", (language) => {
  const texts = defaultTexts[language];

  test("are complete, and each could be a replacement", () => {
    expect(Object.keys(texts)).toEqual(textKeys);
    for (const key of textKeys) expect(readText(key, texts[key])).toBe(texts[key]);
  });

  test("use every placeholder that they may have", () => {
    for (const key of textKeys) {
      const used = new Set(Array.from(texts[key].matchAll(/\{(\w+)\}/g), ([, name]) => name));
      expect(used, key).toEqual(new Set(placeholdersOf(key).may));
    }
  });

  test("are no copies of the English ones", () => {
    if (language === "en") return;
    expect(textKeys.filter((key) => texts[key] === defaultTexts.en[key])).toEqual([]);
  });

  test("say how long to wait", () => {
    const waits = [1, 59, 60, 7_200].map((seconds) => waitText(seconds, language));
    expect(new Set(waits).size).toBe(4);
    expect(waits.join()).not.toMatch(/[{}]/);
  });
});

test("values are isolated: in markup always, in plain text where the directions may differ", () => {
  const list = '<b>"News"</b>';
  expect(new Texts("en").html("joined", { list }).toString()).toContain(
    "<strong><bdi>&lt;b&gt;&quot;News&quot;&lt;/b&gt;</bdi></strong>",
  );
  expect(new Texts("en").say("confirm_mail_subject", { list: "News" })).toBe("Please confirm: News");
  expect(new Texts("en").say("confirm_mail_subject", { list: "أخبار" })).toBe(
    "Please confirm: \u2068أخبار\u2069",
  );
  expect(new Texts("ar").say("confirm_mail_subject", { list: "News" })).toBe(
    "يُرجى التأكيد: \u2068News\u2069",
  );
});

test("a replaced text is used, and a value that has the form of a placeholder stays a value", () => {
  const texts = new Texts("en", { joined: "Welcome to {list}, {list}!" });
  expect(texts.say("joined", { list: "{address}" })).toBe("Welcome to {address}, {address}!");
  expect(texts.say("joined_title")).toBe("You are subscribed");
});
