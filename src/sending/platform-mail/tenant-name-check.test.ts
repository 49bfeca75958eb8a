import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { domainsIn, readsLikeName } from "./tenant-name-check.ts";

describe("a name is taken for one", () => {
  test.each([
    "Weekly",
    "Weekly <1>",
    "Café 2026 News",
    "№1 Клуб",
    "50+ Club",
    "Season 2025/2026",
    "Node.js Weekly",
    "St.Gallen Läufer",
    "Sportverein Köln e.V.",
    "Marks & Spencer",
    "AC/DC Fans",
    "D'Artagnan's Ladder",
    "IEEE NEWS",
    "10,000 Steps",
    "Dr. Müller & Söhne GmbH",
    "Yoga @ Home",
    "The Wine Letter",
    "World Cup 2026",
    "One 4 All",
    "col·lecció d'art",
    "Hello! Magazine",
    "🎉 Party People",
    "👩‍👩‍👧 Families",
    "❤️ Letters",
    "東京ニュース",
    "ＮＨＫ友の会",
    "한국 소식",
    "Новости Москвы",
    "Εφημερίδα Αθηνών",
    "أخبار القاهرة",
    "חדשות תל אביב",
    "हिन्दी समाचार",
    "क्‍ष पत्रिका",
    "می‌خواهم",
    "ข่าวเชียงใหม่",
    "Bản tin Hà Nội",
    "தமிழ் செய்திகள்",
    "Şehir Haberleri",
    "Հայկական լուրեր",
  ])("%s", (name) => {
    expect(readsLikeName(name)).toBe(true);
  });
});

describe("a name is not taken for one when it", () => {
  const hostile: readonly (readonly [string, readonly string[]])[] = [
    [
      "is a link, or looks like one",
      [
        "http://evil.example",
        "hxxps evil",
        "see www.evil",
        "evil.example/claim",
        "evil.com",
        "Visit EVIL.COM today",
        "evil．com",
        "evil。com",
        "evil․com",
        "evil·com",
        "evil [.] com",
        "evil(.)com",
        "evil . com",
        "evil .com",
        "evil. com",
        "evil,com",
        "evil dot com",
        "evil (dot) com",
        "evil DOT co",
        "evil punkt de",
        "evil точка ru",
        "evildotcom",
        "see.evil.com.thanks",
        "xn--80ak6aa92e.com",
        "президент.рф",
        "bit.ly/3xyz",
        "t.me⁄scam",
        "192.0.2.1",
        "//evil",
        "evil.onion",
        "e v i l . c o m",
      ],
    ],
    [
      "is an address or a handle",
      ["bob@evil.example", "bob ＠evil", "bob (at) evil", "@evil", "bob[at]evil"],
    ],
    [
      "has a telephone number",
      ["Call +49 30 1234", "0800 123 456", "555-0199-7", "٠١٢٣٤٥٦٧٨", "Call 1234567"],
    ],
    [
      "names money",
      [
        "1,000 USD for you",
        "USD1000",
        "1000€",
        "$$$ Club",
        "5 BTC",
        "1.000 Euro",
        "1000 рублей",
        "100万円",
        "100元",
        "1000 dollars",
        "50% off",
        "1k usd",
        "₿ News",
        "１０００ ＵＳＤ",
      ],
    ],
    [
      "advertises",
      [
        "You have won",
        "YoU WoN",
        "W0N",
        "W1NNER",
        "w.o.n",
        "W I N",
        "You've been chosen",
        "Congratulations",
        "Sie haben gewonnen",
        "Glückwunsch",
        "Vous avez gagné",
        "Félicitations",
        "Has ganado",
        "Você ganhou",
        "Hai vinto",
        "Wygrałeś",
        "Kazandınız",
        "Вы выиграли",
        "您中奖了",
        "おめでとうございます",
        "당첨",
        "لقد ربحت",
        "Claim now",
        "Click here",
        "Confirm your password",
        "Ｗｏｎ",
      ],
    ],
    ["shouts", ["READ THIS MAIL TODAY PLEASE", "Hello!!", "¡Hola! ¡Hola!", "🎉🎉🎉🎉"]],
    [
      "hides what it says",
      [
        "w\u200bon",
        "\u202emoc.live",
        "soft\u00adhyphen",
        "a\u2060b",
        "a\u3164b",
        "a\u2800b",
        "pаypal",
        "Αcme",
        "𝐖𝐨𝐧",
        "ⓦⓞⓝ",
        "ᴡᴏɴ",
        "🅆🄸🄽",
        "🆆🅸🅽",
        "1️⃣2️⃣3️⃣",
        "two\nlines",
        "two\u2028lines",
        "tab\tbed",
        "Z\u0300\u0301\u0302\u0303\u0304algo",
        "\ud800",
        "tag\u{e0041}",
      ],
    ],
    ["is empty or long", ["", "   ", "\u00a0", "a ".repeat(31), "x".repeat(61), "x".repeat(10_000)]],
  ];
  for (const [what, names] of hostile) {
    test.each(names.map((name) => [JSON.stringify(name), name]))(`${what}: %s`, (_shown, name) => {
      expect(readsLikeName(name)).toBe(false);
    });
  }
});

test("a brand that is a domain is a name only where the domain is the workspace's own", () => {
  expect(readsLikeName("Acme.io News")).toBe(false);
  expect(readsLikeName("Acme.io News", ["acme.io"])).toBe(true);
  expect(readsLikeName("Shop.Acme.io News", ["acme.io"])).toBe(true);
  expect(readsLikeName("Acme.io/claim", ["acme.io"])).toBe(false);
  expect(readsLikeName("NotAcme.io News", ["acme.io"])).toBe(false);
  expect(readsLikeName("Acme.io evil.example", ["acme.io"])).toBe(false);
  expect(readsLikeName("Büro.de Brief", ["xn--bro-hoa.de"])).toBe(true);
  expect(domainsIn("Shop.Acme.io and Büro.de")).toEqual(["shop.acme.io", "acme.io", "xn--bro-hoa.de"]);
  expect(domainsIn("Node.js Weekly")).toEqual([]);
});

test("a name of any length is checked in linear time", () => {
  const ofParts = (part: string) => (count: number) => part.repeat(count);
  for (const part of ["a.", "w ", "1,", "@", "( ", "🎉", "a\u0301", "won-"])
    expectLinearCost(200, ofParts(part), (name) => readsLikeName(name));
  for (const part of ["a.", "w ", "1,", "( "]) expectLinearCost(25_000, ofParts(part), domainsIn);
});
